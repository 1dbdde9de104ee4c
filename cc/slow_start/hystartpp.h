/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HyStart++ (RFC 9406): slow start that ends before it overflows the queue. When the smallest RTT of a round is clearly above that
 * of the round before, the window keeps growing at a quarter of the pace (conservative slow start). If the RTT then falls below
 * its value at that moment, the increase was spurious, and slow start continues at full pace. After five rounds congestion avoidance
 * begins. Initial slow start only; a loss ends it, unless the endpoint undoes the reduction.
 *
 * A round is the time in which the segments in flight at its start are acknowledged. RFC 9406 ends it at a sequence number,
 * which differs by retransmissions only. The first round is that of the initial window.
 *
 * Departures: RTT samples during recovery are not used. They have no effect, because a loss ends initial slow start. Segments are
 * counted, not bytes. Growth of an ACK beyond ssthresh is dropped, two segments at most.
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
	8 /* segments that an ACK counts for: L, of a sender that does not pace; infinite for one that does */

struct mpcc_hystartpp_slow_start {
	u32 last_min; /* smallest RTT sample of the previous round, µs; 0: none */
	u32 round_min; /* smallest RTT sample of this round, µs; 0: none */
	u32 baseline; /* round_min when conservative slow start began, µs; 0: growth is at full pace */
	u32 remaining : 24; /* segments to be acknowledged before the next round */
	u32 samples : 4; /* in this round, counted to MPCC_HYSTARTPP_SAMPLES */
	u32 rounds : 3; /* completed in conservative slow start */
	u32 begun : 1; /* not 0: the first round has begun */
};

#define mpcc_hystartpp(s) mpcc_slow_start_state(s, struct mpcc_hystartpp_slow_start)

/* RTT increase over the previous round that begins conservative slow start, µs. */
MPCC_INLINE u32 mpcc_hystartpp_thresh(u32 last_min)
{
	return mpcc_max(MPCC_HYSTARTPP_THRESH_MIN,
			mpcc_min(last_min / MPCC_HYSTARTPP_DIVISOR, MPCC_HYSTARTPP_THRESH_MAX));
}

/* An RTT sample: begins conservative slow start, or ends it as spurious. */
MPCC_INLINE void mpcc_hystartpp_sample(struct mpcc_hystartpp_slow_start *h, u32 rtt_us)
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

MPCC_INLINE void mpcc_hystartpp_exit(struct mpcc_connection *c, struct mpcc_subflow *s,
				     struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_hystartpp_slow_start *h = mpcc_hystartpp(s);

	(void)c;
	if (!s->initial)
		return;
	if (!h->begun) {
		h->begun = true;
		h->remaining =
			mpcc_min(tcp->flight, MPCC_CWND_MAX) + mpcc_min(acked, MPCC_CWND_MAX);
	}
	if (tcp->rtt_us)
		mpcc_hystartpp_sample(h, tcp->rtt_us);
	h->remaining = mpcc_minus(h->remaining, acked);
	if (h->remaining)
		return;

	/* The round is over. The round in which conservative slow start began counts, too. */
	h->remaining = mpcc_min(tcp->flight, MPCC_CWND_MAX);
	h->last_min = h->round_min;
	h->round_min = 0;
	h->samples = 0;
	if (h->baseline && ++h->rounds >= MPCC_HYSTARTPP_ROUNDS)
		tcp->ssthresh = tcp->cwnd;
}

MPCC_INLINE u32 mpcc_hystartpp_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_hystartpp_slow_start *h = mpcc_hystartpp(s);

	if (!s->initial)
		return mpcc_double(tcp, acked);
	if (!tcp->paced)
		acked = mpcc_min(acked, MPCC_HYSTARTPP_ACK_MAX);
	if (!h->baseline)
		return mpcc_double(tcp, acked);
	mpcc_grow(s, tcp, MPCC_ONE / MPCC_HYSTARTPP_SLOWER, acked);
	tcp->cwnd = mpcc_min(tcp->cwnd, tcp->ssthresh);
	return 0;
}

/* A new round starts in place of the one that the reduction interrupted, which does not count. */
MPCC_INLINE void mpcc_hystartpp_resume(struct mpcc_connection *c, struct mpcc_subflow *s,
				       const struct mpcc_tcp *tcp)
{
	struct mpcc_hystartpp_slow_start *h = mpcc_hystartpp(s);

	(void)c;
	h->remaining = mpcc_min(mpcc_max(tcp->flight, 1), MPCC_CWND_MAX);
	h->round_min = 0;
	h->samples = 0;
}

static const struct mpcc_slow_start_ops mpcc_hystartpp_slow_start_ops = {
	.name = "hystartpp",
	.replaces_hystart = true,
	.exit = mpcc_hystartpp_exit,
	.grow = mpcc_hystartpp_grow,
	.resume = mpcc_hystartpp_resume,
};

#endif
