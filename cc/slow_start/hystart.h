/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HyStart: slow start that ends before it overflows the queue. In each round, the time in which a window is
 * acknowledged, two signs are looked for, and either ends slow start where the window stands:
 *  - ACK train: ACKs that follow each other closely have come for half of the least RTT: the window fills the path.
 *  - Delay: the least RTT of the round's first samples is clearly above the least RTT.
 *
 * Sources: Ha, Rhee, "Taming the Elephants: New TCP Slow Start", 2008 (also in Computer Networks 55, 2011); settings
 * and details as Linux's CUBIC has them (tcp_cubic.c, 6.14 and the stable kernels since February 2025: before, the
 * first round began at 16 segments); rounds, samples and MinRTT in the words of RFC 9406 (HyStart++, hystartpp.h), which
 * is another algorithm: no train, and a phase of slower growth in place of the end.
 *
 * Departures from Linux: rounds end after the segments that were in flight when they started, not at a sequence
 * number, which is the same but for retransmissions; a sender without pacing, MSS 1 448 bytes and GSO of 64 KB
 * are assumed in the allowance for the train; samples during recovery are not seen.
 */
#ifndef MPCC_HYSTART_H
#define MPCC_HYSTART_H

#include "../subflow.h"

#define MPCC_HYSTART_WINDOW    16 /* segments: smaller windows go on doubling */
#define MPCC_HYSTART_SPACING   2000 /* µs: ACKs of a train come at least so close */
#define MPCC_HYSTART_DELAY_MIN 4000 /* µs: a delay is a sign from an eighth of the least RTT on, */
#define MPCC_HYSTART_DELAY_MAX 16000 /* µs: but within these bounds */
#define MPCC_HYSTART_SAMPLES   8 /* of the RTT in a round, before its delay counts */
#define MPCC_HYSTART_BURST_MAX 1000 /* µs */
#define MPCC_HYSTART_BURST     181 /* segments: 4 · 65 536 bytes, of 1 448 */

/* µs; only differences are used, below 2^31 µs (35 minutes), so it may wrap. */
MPCC_INLINE u32 mpcc_hystart_clock(const struct mpcc_tcp *tcp)
{
	return tcp->now / 1000;
}

/* A round starts: it is over when what is in flight, and one segment more, has been acknowledged. */
MPCC_INLINE void mpcc_hystart_round(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	struct mpcc_hystart *h = &s->hystart;

	h->round_start = mpcc_hystart_clock(tcp);
	h->last_ack = h->round_start;
	h->left = mpcc_min(tcp->flight, MPCC_CWND_MAX) + 1;
	h->round_min = ~0U;
	h->samples = 0;
}

/*
 * What offloading may add to a train, µs: the time of four bursts at twice cwnd/srtt, Linux's pacing rate in slow
 * start.
 */
MPCC_INLINE u32 mpcc_hystart_burst(const struct mpcc_tcp *tcp)
{
	u64 us = (u64)MPCC_HYSTART_BURST * tcp->srtt8 / (16ULL * mpcc_max(tcp->cwnd, 1));

	return us < MPCC_HYSTART_BURST_MAX ? us : MPCC_HYSTART_BURST_MAX;
}

/* Whether ACKs have come without a gap since the round started, for half of the least RTT. */
MPCC_WRAPS MPCC_INLINE bool mpcc_hystart_train(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	struct mpcc_hystart *h = &s->hystart;
	u32 now = mpcc_hystart_clock(tcp);

	if (now - h->last_ack > MPCC_HYSTART_SPACING)
		return false;
	h->last_ack = now;
	return now - h->round_start > (s->rtt_min + mpcc_hystart_burst(tcp)) / 2;
}

/* Whether all samples of this round, and enough of them, are above the least RTT. */
MPCC_INLINE bool mpcc_hystart_delay(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	struct mpcc_hystart *h = &s->hystart;
	u32 margin =
		mpcc_min(mpcc_max(s->rtt_min / 8, MPCC_HYSTART_DELAY_MIN), MPCC_HYSTART_DELAY_MAX);

	h->round_min = mpcc_min(h->round_min, tcp->rtt_us);
	if (h->samples < MPCC_HYSTART_SAMPLES) {
		h->samples++;
		return false;
	}
	return h->round_min > s->rtt_min + margin;
}

/* On each ACK in slow start, before it grows the window: ends slow start by the threshold. */
MPCC_INLINE void mpcc_hystart_ack(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_hystart *h = &s->hystart;
	bool train, delay;

	h->left = mpcc_minus(h->left, acked);
	if (h->ended || !tcp->rtt_us)
		return;
	if (!h->left)
		mpcc_hystart_round(s, tcp);
	if (tcp->cwnd < MPCC_HYSTART_WINDOW)
		return;
	train = mpcc_hystart_train(s, tcp);
	delay = mpcc_hystart_delay(s, tcp);
	if (train || delay) {
		h->ended = true;
		tcp->ssthresh = tcp->cwnd;
	}
}

/* A subflow starts, or an RTO made it start again. */
MPCC_INLINE void mpcc_hystart_begin(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	s->hystart.ended = false;
	mpcc_hystart_round(s, tcp);
}

#endif
