/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NMCC's slow start: all subflows together gain rate as fast as the fastest one would alone. While cwnd_i <
 * ssthresh_i / m², for each acknowledged segment
 *
 *     cwnd_i += reference_i / (m² · cwnd_i)
 *
 * so that in a round trip cwnd_i gains 1/m² of what a TCP alone on the path would: its window, the reference, doubles
 * from the same start. (With cwnd_i in its place the window would grow (1 + 1/m²)-fold, each round trip on what the
 * last one left: the leak that grows.) m² is that of avoidance/nmcc.h.
 *
 * Source: Thomas, Xylomenos, Polyzos, "Multipath Congestion Control with Network Assistance", IV-B.2, Algorithm 1, and
 * IV-B.3 on RTTs: when a retransmission timer fires, its subflow does not count until it receives again; its RTT then
 * is that of the first sample.
 *
 * Departures, and why:
 *  - Growth is at most a segment for each that is acknowledged, and the reference between cwnd_i and m² · cwnd_i. Where
 *    m² falls, since another subflow has lost or closed, a reference far above the window would make it grow many times
 *    over in one round trip.
 *  - A round trip is a window of acknowledged segments. reference_i / cwnd_i is that of its start: a window of 10 with
 *    m² = 2 gets to 15, 25, 45, as IV-B.2 has it by the round. (Worked out on each ACK the reference would grow 2.2-fold in the
 *    first round trip.)
 *  - A loss, an RTO and a restart after idling start the reference afresh: a TCP alone would have had them.
 *  - Linux tells the smoothed RTT, and no samples. The first sample after an RTO is worked out from how it changes, by
 *    an eighth of the difference (RFC 6298); until it does change, it is the RTT. From that sample on it is smoothed anew.
 *
 * Fixed point: the reference in Q8 at the start of a round, its ratio to the window in Q20, growth in Q40: 0.4 % at
 * the most, of a reference of one segment (the worst cases are in docs/algorithms/nmcc.md).
 */
#ifndef MPCC_NMCC_SLOW_START_H
#define MPCC_NMCC_SLOW_START_H

#include "../avoidance/nmcc.h"
#include "uncoupled.h"

#define MPCC_REFERENCE_SHIFT 8

/* In mpcc_nmcc.srtt8. */
#define MPCC_NMCC_SILENT ~0U /* nothing was received since the RTO */
#define MPCC_NMCC_HEARD  (~0U - 1) /* something was, but no new RTT is known */

/* cwnd < ssthresh / m², by the last m². */
MPCC_INLINE bool mpcc_nmcc_in_slow_start(const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	return (u64)tcp->cwnd * s->m2 < (u64)tcp->ssthresh << MPCC_M2_SHIFT;
}

/* The RTT that others see; 0: none. */
MPCC_INLINE u32 mpcc_nmcc_srtt8(const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	u32 srtt8 = s->nmcc.srtt8;

	if (srtt8 == MPCC_NMCC_SILENT)
		return 0;
	return srtt8 && srtt8 != MPCC_NMCC_HEARD ? srtt8 : tcp->srtt8;
}

/* The window starts again, and the reference with it. */
MPCC_INLINE void mpcc_nmcc_restart(struct mpcc_subflow *s)
{
	s->nmcc.reference = 0;
	s->nmcc.acked = 0;
}

/* The retransmission timer has fired. */
MPCC_INLINE void mpcc_nmcc_timeout(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	mpcc_nmcc_restart(s);
	s->nmcc.srtt8 = MPCC_NMCC_SILENT;
	s->nmcc.seen = mpcc_min(tcp->srtt8, MPCC_SRTT8_MAX);
}

/*
 * The sample that took a smoothed RTT from `before` to `now`, eighths of a microsecond: now = 7/8 · before + 1/8 ·
 * sample, but that the endpoint's first sample is its RTT.
 */
MPCC_INLINE u32 mpcc_nmcc_sample(u32 before, u32 now)
{
	u64 eight = 8ULL * now, seven = 7ULL * before;

	if (!before)
		return now;
	if (eight < seven + 8)
		return 8; /* 1 µs: several samples came at once */
	return eight - seven < MPCC_SRTT8_MAX ? eight - seven : MPCC_SRTT8_MAX;
}

/*
 * Something was received: after an RTO the subflow counts again, and smoothes its RTT anew. True if it did not count
 * before.
 */
MPCC_INLINE bool mpcc_nmcc_hear(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	struct mpcc_nmcc *n = &s->nmcc;
	u32 now = mpcc_min(tcp->srtt8, MPCC_SRTT8_MAX), sample;
	bool silent = n->srtt8 == MPCC_NMCC_SILENT;

	if (!n->srtt8)
		return false; /* there was no RTO */
	if (silent)
		n->srtt8 = MPCC_NMCC_HEARD;
	if (!now || now == n->seen)
		return silent;
	sample = mpcc_nmcc_sample(n->seen, now);
	n->seen = now;
	n->srtt8 = n->srtt8 == MPCC_NMCC_HEARD ? sample : n->srtt8 - n->srtt8 / 8 + sample / 8;
	return silent;
}

/* A round trip starts: what the reference has come to, within its bounds, and its ratio to the window. */
MPCC_INLINE void mpcc_nmcc_round(struct mpcc_subflow *s, const struct mpcc_tcp *tcp, u32 m2)
{
	struct mpcc_nmcc *n = &s->nmcc;
	u64 w = (u64)mpcc_max(mpcc_shown_cwnd(tcp), 1) << MPCC_REFERENCE_SHIFT |
		s->growth >> (MPCC_ONE_SHIFT - MPCC_REFERENCE_SHIFT);
	u64 most = w * m2 >> MPCC_M2_SHIFT;
	u64 reference =
		n->reference + ((u64)n->ratio * n->acked >> (MPCC_M2_SHIFT - MPCC_REFERENCE_SHIFT));

	if (!n->reference || reference < w)
		reference = w;
	if (reference > most)
		reference = most;
	n->reference = reference < ~0U ? reference : ~0U;
	/* Up, so that a window of acknowledged segments makes a round. */
	n->ratio = (((u64)n->reference << MPCC_M2_SHIFT) + w - 1) / w;
	n->acked = 0;
}

/* Returns the acknowledged segments that slow start did not use. */
MPCC_INLINE u32 mpcc_nmcc_slow_start(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_nmcc *n = &s->nmcc;
	u64 end = (u64)tcp->ssthresh << MPCC_M2_SHIFT; /* of cwnd · m² */
	u64 increase = MPCC_ONE, reached;
	u32 used = mpcc_min(acked, MPCC_CWND_MAX), m2 = s->m2;

	if (!n->reference ||
	    (u64)n->ratio * n->acked >= (u64)n->reference << (MPCC_M2_SHIFT - MPCC_REFERENCE_SHIFT))
		mpcc_nmcc_round(s, tcp, m2);
	if (n->ratio < m2)
		increase = ((u64)n->ratio << (MPCC_ONE_SHIFT - 1)) / m2 << 1;
	reached = tcp->cwnd + ((s->growth + increase * used) >> MPCC_ONE_SHIFT);
	if (reached * m2 >= end) {
		/* The first window that is out of slow start is at most `used` away, and so below 2^21 segments. */
		u64 room = (end + m2 - 1) / m2 - tcp->cwnd;

		room = (room << MPCC_ONE_SHIFT) - s->growth;
		used = (room + increase - 1) / increase;
	}
	mpcc_grow(s, tcp, increase, used);
	n->acked = mpcc_min(n->acked + used, MPCC_CWND_MAX);
	return mpcc_minus(acked, used);
}

#endif
