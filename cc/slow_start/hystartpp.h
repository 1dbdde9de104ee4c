/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HyStart++ (RFC 9406): slow start that watches the RTT. When a round's least RTT is clearly above that of the round
 * before, the window goes on growing, but at a quarter of the pace: conservative slow start. If the RTT falls below
 * what it was then, the sign was false, and slow start goes on as before. After five rounds it was right, and
 * congestion avoidance begins. In the initial slow start only; a loss ends it.
 *
 * A round is the time in which what was in flight at its start is acknowledged: RFC 9406 has it end at a sequence
 * number, which is the same but for retransmissions.
 *
 * Departures: samples that come in recovery are not seen, and there is nothing to see them for, since a loss ends it all.
 * Segments are counted, not bytes. What an ACK grows a window beyond its ssthresh is dropped, two segments at most.
 */
#ifndef MPCC_HYSTARTPP_H
#define MPCC_HYSTARTPP_H

#include "uncoupled.h"

/* RFC 9406, 4.3 */
#define MPCC_HYSTARTPP_THRESH_MIN 4000 /* µs: MIN_RTT_THRESH */
#define MPCC_HYSTARTPP_THRESH_MAX 16000 /* µs: MAX_RTT_THRESH */
#define MPCC_HYSTARTPP_DIVISOR    8 /* MIN_RTT_DIVISOR */
#define MPCC_HYSTARTPP_SAMPLES    8 /* N_RTT_SAMPLE */
#define MPCC_HYSTARTPP_SLOWER     4 /* CSS_GROWTH_DIVISOR */
#define MPCC_HYSTARTPP_ROUNDS     5 /* CSS_ROUNDS */
#define MPCC_HYSTARTPP_ACK_MAX                                                                     \
	8 /* segments that an ACK counts for: L, of a sender that does not pace */

/* How much above the last round's least RTT is a sign, µs. */
MPCC_INLINE u32 mpcc_hystartpp_thresh(u32 last_min)
{
	return mpcc_max(MPCC_HYSTARTPP_THRESH_MIN,
			mpcc_min(last_min / MPCC_HYSTARTPP_DIVISOR, MPCC_HYSTARTPP_THRESH_MAX));
}

/* An RTT sample: whether to grow more slowly from here on, or as before again. */
MPCC_INLINE void mpcc_hystartpp_sample(struct mpcc_hystartpp *h, u32 rtt_us)
{
	if (!h->round_min || rtt_us < h->round_min)
		h->round_min = rtt_us;
	if (h->samples < MPCC_HYSTARTPP_SAMPLES)
		h->samples++;
	if (h->samples < MPCC_HYSTARTPP_SAMPLES)
		return;
	if (h->baseline) {
		if (h->round_min < h->baseline)
			h->baseline = 0;
	} else if (h->last_min &&
		   h->round_min >= (u64)h->last_min + mpcc_hystartpp_thresh(h->last_min)) {
		h->baseline = h->round_min;
		h->rounds = 0;
	}
}

/* On each ACK in slow start, before it grows the window: ends slow start by the threshold. */
MPCC_INLINE void mpcc_hystartpp_ack(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_hystartpp *h = &s->hystartpp;

	if (h->over)
		return;
	if (tcp->rtt_us)
		mpcc_hystartpp_sample(h, tcp->rtt_us);
	h->left = mpcc_minus(h->left, acked);
	if (h->left)
		return;

	/* The round is over. One that slow growth began in counts, too. */
	h->left = mpcc_min(tcp->flight, MPCC_CWND_MAX);
	h->last_min = h->round_min;
	h->round_min = 0;
	h->samples = 0;
	if (h->baseline && ++h->rounds >= MPCC_HYSTARTPP_ROUNDS)
		tcp->ssthresh = tcp->cwnd;
}

/* Returns the acknowledged segments that slow start did not use. */
MPCC_INLINE u32 mpcc_hystartpp_slow_start(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_hystartpp *h = &s->hystartpp;

	if (h->over)
		return mpcc_slow_start(tcp, acked);
	acked = mpcc_min(acked, MPCC_HYSTARTPP_ACK_MAX);
	if (!h->baseline)
		return mpcc_slow_start(tcp, acked);
	mpcc_grow(s, tcp, MPCC_ONE / MPCC_HYSTARTPP_SLOWER, acked);
	tcp->cwnd = mpcc_min(tcp->cwnd, tcp->ssthresh);
	return 0;
}

#endif
