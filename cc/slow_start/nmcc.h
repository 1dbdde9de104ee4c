/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NMCC's slow start: all subflows together gain rate as fast as the fastest one would alone. While cwnd_i <
 * ssthresh_i / m², for each acknowledged segment
 *
 *     cwnd_i += reference_i / (m² · cwnd_i)
 *
 * In a round trip cwnd_i then grows by 1/m² of the growth of a single TCP on the path. The reference is the window of that TCP, which
 * doubles from the same initial window. (With cwnd_i in its place the window would grow (1 + 1/m²)-fold in each round trip, and the error
 * would compound: the growing leak that the paper describes.) avoidance/nmcc.h defines m².
 *
 * Source: Thomas, Xylomenos, Polyzos, "Multipath Congestion Control with Network Assistance", IV-B.2, Algorithm 1, and
 * IV-B.3 on RTTs: after a retransmission timeout a subflow is inactive until it receives an ACK. Its RTT then restarts from
 * the first sample.
 *
 * Departures, and why:
 *  - An acknowledged segment adds at most one segment, and the reference stays between cwnd_i and m² · cwnd_i. When m² falls,
 *    because another subflow has lost or closed, a reference far above the window would multiply it in one round trip.
 *  - A round trip is a window of acknowledged segments. reference_i / cwnd_i is computed at its start: a window of 10 with
 *    m² = 2 reaches 15, 25, 45, round by round as in IV-B.2. (Computed on each ACK, the reference would grow 2.2-fold in the
 *    first round trip.)
 *  - A loss, an RTO and a restart after idling restart the reference: they would also restart a single TCP.
 *  - The first sample after an RTO is derived from the change of the smoothed RTT, which is an eighth of the difference (RFC 6298);
 *    until it changes, the smoothed RTT is used. From that sample on the RTT is smoothed anew. (`rtt_us` is not used: in Linux it is
 *    RACK's, which keeps an old value while retransmissions are acknowledged.)
 *
 * Fixed point: the reference in Q8 at the start of a round, its ratio to the window in Q20, growth in Q40: 0.4 % at most, for
 * a reference of one segment (docs/algorithms/nmcc.md has the worst cases).
 */
#ifndef MPCC_NMCC_SLOW_START_H
#define MPCC_NMCC_SLOW_START_H

#include "../avoidance/nmcc.h"
#include "uncoupled.h"

#define MPCC_REFERENCE_SHIFT 8

struct mpcc_nmcc_slow_start {
	u32 reference; /* window of a single TCP when the round started, Q8; 0: none yet */
	u32 ratio; /* of `reference` to the window, Q20 */
	u32 acked; /* segments in this round */
	u32 srtt8; /* RTT since the last RTO, eighths of a microsecond, or one of the two below; 0: no RTO yet */
	u32 seen; /* the endpoint's smoothed RTT at its last change since the RTO, eighths of a microsecond */
};

#define MPCC_NMCC_INACTIVE ~0U /* nothing was received since the RTO */
#define MPCC_NMCC_UNSAMPLED                                                                        \
	(~0U - 1) /* something was received, but the smoothed RTT has not changed yet */

#define mpcc_nmcc_start(s) mpcc_slow_start_state(s, struct mpcc_nmcc_slow_start)

/* cwnd < ssthresh / m², with the last m². */
MPCC_INLINE bool mpcc_nmcc_active(const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	return (u64)tcp->cwnd * mpcc_nmcc(s)->m2 < (u64)tcp->ssthresh << MPCC_M2_SHIFT;
}

MPCC_INLINE u32 mpcc_nmcc_srtt8(const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	u32 srtt8 = mpcc_nmcc_start(s)->srtt8;

	if (srtt8 == MPCC_NMCC_INACTIVE)
		return 0;
	return srtt8 && srtt8 != MPCC_NMCC_UNSAMPLED ? srtt8 : tcp->srtt8;
}

/* The window restarts, and the reference with it. */
MPCC_INLINE void mpcc_nmcc_loss(struct mpcc_subflow *s)
{
	mpcc_nmcc_start(s)->reference = 0;
	mpcc_nmcc_start(s)->acked = 0;
}

MPCC_INLINE void mpcc_nmcc_idle_restart(struct mpcc_connection *c, struct mpcc_subflow *s,
					struct mpcc_note *note)
{
	(void)c, (void)note;
	mpcc_nmcc_loss(s);
}

/* A retransmission timeout makes the subflow inactive. */
MPCC_INLINE void mpcc_nmcc_set_state(struct mpcc_connection *c, struct mpcc_subflow *s,
				     const struct mpcc_tcp *tcp, u8 state, struct mpcc_note *note)
{
	(void)c, (void)note;
	if (state != MPCC_STATE_LOSS)
		return;
	mpcc_nmcc_loss(s);
	mpcc_nmcc_start(s)->srtt8 = MPCC_NMCC_INACTIVE;
	mpcc_nmcc_start(s)->seen = mpcc_min(tcp->srtt8, MPCC_SRTT8_MAX);
}

/*
 * The sample that changed a smoothed RTT from `before` to `now`, eighths of a microsecond: now = 7/8 · before + 1/8 ·
 * sample. The endpoint's first sample is its smoothed RTT.
 */
MPCC_INLINE u32 mpcc_nmcc_rtt_sample(u32 before, u32 now)
{
	u64 eight = 8ULL * now, seven = 7ULL * before;

	if (!before)
		return now;
	if (eight < seven + 8)
		return 8; /* 1 µs: several samples came at once */
	return eight - seven < MPCC_SRTT8_MAX ? eight - seven : MPCC_SRTT8_MAX;
}

/* After an RTO: the subflow is active again, and its RTT is smoothed anew. True if it was inactive. */
MPCC_INLINE bool mpcc_nmcc_receive(struct mpcc_connection *c, struct mpcc_subflow *s,
				   struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_nmcc_slow_start *n = mpcc_nmcc_start(s);
	u32 now = mpcc_min(tcp->srtt8, MPCC_SRTT8_MAX), sample;
	bool inactive = n->srtt8 == MPCC_NMCC_INACTIVE;

	(void)c, (void)acked;
	if (!n->srtt8)
		return false; /* there was no RTO */
	if (inactive)
		n->srtt8 = MPCC_NMCC_UNSAMPLED;
	if (!now || now == n->seen)
		return inactive;
	sample = mpcc_nmcc_rtt_sample(n->seen, now);
	n->seen = now;
	n->srtt8 = n->srtt8 == MPCC_NMCC_UNSAMPLED ? sample : n->srtt8 - n->srtt8 / 8 + sample / 8;
	return inactive;
}

/* A round trip starts: the reference of its start, within its bounds, and its ratio to the window. */
MPCC_INLINE void mpcc_nmcc_round(struct mpcc_subflow *s, const struct mpcc_tcp *tcp, u32 m2)
{
	struct mpcc_nmcc_slow_start *n = mpcc_nmcc_start(s);
	u64 w = (u64)mpcc_max(mpcc_published_cwnd(tcp), 1) << MPCC_REFERENCE_SHIFT |
		s->growth >> (MPCC_ONE_SHIFT - MPCC_REFERENCE_SHIFT);
	u64 most = w * m2 >> MPCC_M2_SHIFT;
	u64 reference =
		n->reference + ((u64)n->ratio * n->acked >> (MPCC_M2_SHIFT - MPCC_REFERENCE_SHIFT));

	if (!n->reference || reference < w)
		reference = w;
	if (reference > most)
		reference = most;
	n->reference = reference < ~0U ? reference : ~0U;
	/* Rounded up, so that a window of acknowledged segments completes the round. */
	n->ratio = (((u64)n->reference << MPCC_M2_SHIFT) + w - 1) / w;
	n->acked = 0;
}

MPCC_INLINE u32 mpcc_nmcc_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_nmcc_slow_start *n = mpcc_nmcc_start(s);
	u64 end = (u64)tcp->ssthresh << MPCC_M2_SHIFT; /* of cwnd · m² */
	u64 increase = MPCC_ONE, reached;
	u32 used = mpcc_min(acked, MPCC_CWND_MAX), m2 = mpcc_nmcc(s)->m2;

	if (!n->reference ||
	    (u64)n->ratio * n->acked >= (u64)n->reference << (MPCC_M2_SHIFT - MPCC_REFERENCE_SHIFT))
		mpcc_nmcc_round(s, tcp, m2);
	if (n->ratio < m2)
		increase = ((u64)n->ratio << (MPCC_ONE_SHIFT - 1)) / m2 << 1;
	reached = tcp->cwnd + ((s->growth + increase * used) >> MPCC_ONE_SHIFT);
	if (reached * m2 >= end) {
		/* The first window outside of slow start is at most `used` away, and so below 2^21 segments. */
		u64 room = (end + m2 - 1) / m2 - tcp->cwnd;

		room = (room << MPCC_ONE_SHIFT) - s->growth;
		used = (room + increase - 1) / increase;
	}
	mpcc_grow(s, tcp, increase, used);
	n->acked = mpcc_min(n->acked + used, MPCC_CWND_MAX);
	return mpcc_minus(acked, used);
}

static const struct mpcc_slow_start_ops mpcc_nmcc_slow_start_ops = {
	.name = "nmcc",
	.active = mpcc_nmcc_active,
	.srtt8 = mpcc_nmcc_srtt8,
	.sample = mpcc_nmcc_receive,
	.grow = mpcc_nmcc_grow,
	.loss = mpcc_nmcc_loss,
	.set_state = mpcc_nmcc_set_state,
	.restart = mpcc_nmcc_idle_restart,
};

#endif
