/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * HyStart: slow start that ends before it overflows the queue. Part of Linux's CUBIC (avoidance/cubic.h). In each round, the time
 * in which a window is acknowledged, either of two signs ends slow start at the current window:
 *  - ACK train: closely spaced ACKs have arrived for half of the smallest RTT, or all of it if the sender paces. The window then fills
 *    the path.
 *  - Delay: the smallest RTT of the round's first samples is clearly above the smallest RTT of all.
 *
 * Sources: Ha, Rhee, "Taming the Elephants: New TCP Slow Start", 2008 (also in Computer Networks 55, 2011); settings
 * and details as in Linux's CUBIC (tcp_cubic.c, 6.14 and the stable kernels since February 2025: before, the
 * first round began at 16 segments); terms as in RFC 9406 (HyStart++, hystartpp.h), which is another algorithm: no train, and a
 * phase of slower growth in place of the exit.
 *
 * Departures from Linux: rounds end after the segments that were in flight when they started, not at a sequence
 * number, which differs by retransmissions only; MSS 1 448 bytes, GSO of 64 KB and Linux's pacing rate
 * are assumed in the allowance for the train; samples during recovery are not used.
 */
#ifndef MPCC_HYSTART_H
#define MPCC_HYSTART_H

#include "../stages.h"

#define MPCC_HYSTART_WINDOW    16 /* segments: smaller windows keep doubling */
#define MPCC_HYSTART_SPACING   2000 /* µs: largest gap within an ACK train */
#define MPCC_HYSTART_DELAY_MIN 4000 /* µs: lower bound of the delay that ends slow start */
#define MPCC_HYSTART_DELAY_MAX 16000 /* µs: upper bound of this delay */
#define MPCC_HYSTART_SAMPLES   8 /* RTT samples in a round before its delay counts */
#define MPCC_HYSTART_BURST_MAX 1000 /* µs: largest allowance for segmentation offload */
#define MPCC_HYSTART_BURST     181 /* segments: 4 · 65 536 bytes, of 1 448 */

/* The first member of the state of each slow start with `replaces_hystart` false that CUBIC follows (MPCC_HYSTART_…). */
struct mpcc_hystart {
	u32 round_start; /* µs, wraps */
	u32 last_ack; /* latest ACK of the train, µs, wraps */
	u32 round_min; /* smallest RTT sample of this round, µs */
	u32 remaining : 24; /* segments to be acknowledged before the next round */
	u32 samples : 7; /* in this round, counted to MPCC_HYSTART_SAMPLES */
	u32 ended : 1; /* not 0: HyStart ended slow start; it resumes after an RTO only */
};

#define mpcc_hystart(s) mpcc_slow_start_state(s, struct mpcc_hystart)

/* µs. Only differences below 2^31 µs (35 minutes) are used, so it may wrap. */
MPCC_INLINE u32 mpcc_hystart_clock(const struct mpcc_tcp *tcp)
{
	return tcp->now / 1000;
}

/* A round starts. It ends when the segments in flight, and one more, have been acknowledged. */
MPCC_INLINE void mpcc_hystart_round(struct mpcc_hystart *h, const struct mpcc_tcp *tcp)
{
	h->round_start = mpcc_hystart_clock(tcp);
	h->last_ack = h->round_start;
	h->remaining = mpcc_min(tcp->flight, MPCC_CWND_MAX) + 1;
	h->round_min = ~0U;
	h->samples = 0;
}

/*
 * Allowance for segmentation offload in an ACK train, µs: the time of four bursts at twice cwnd/srtt, Linux's pacing rate in slow
 * start.
 */
MPCC_INLINE u32 mpcc_hystart_burst(const struct mpcc_tcp *tcp)
{
	u64 us = (u64)MPCC_HYSTART_BURST * tcp->srtt8 / (16ULL * mpcc_max(tcp->cwnd, 1));

	return us < MPCC_HYSTART_BURST_MAX ? us : MPCC_HYSTART_BURST_MAX;
}

/*
 * Whether ACKs have arrived without a gap since the round started, for half of the smallest RTT; for all of it if the sender paces,
 * because pacing alone delays segments by up to half an RTT (hystart_update).
 */
MPCC_WRAPS MPCC_INLINE bool mpcc_hystart_train(struct mpcc_hystart *h, const struct mpcc_tcp *tcp,
					       u32 rtt_min)
{
	u32 now = mpcc_hystart_clock(tcp), threshold;

	if (now - h->last_ack > MPCC_HYSTART_SPACING)
		return false;
	h->last_ack = now;
	threshold = rtt_min + mpcc_hystart_burst(tcp);
	return now - h->round_start > (tcp->paced ? threshold : threshold / 2);
}

/* Whether the smallest of enough samples of this round is above the smallest RTT by an eighth of it, within the two bounds. */
MPCC_INLINE bool mpcc_hystart_delay(struct mpcc_hystart *h, const struct mpcc_tcp *tcp, u32 rtt_min)
{
	u32 margin =
		mpcc_min(mpcc_max(rtt_min / 8, MPCC_HYSTART_DELAY_MIN), MPCC_HYSTART_DELAY_MAX);

	h->round_min = mpcc_min(h->round_min, tcp->rtt_us);
	if (h->samples < MPCC_HYSTART_SAMPLES) {
		h->samples++;
		return false;
	}
	return h->round_min > rtt_min + margin;
}

/* Each ACK in slow start, before it grows the window: ends slow start by the threshold. `rtt_min` in µs. */
MPCC_INLINE void mpcc_hystart_ack(struct mpcc_hystart *h, struct mpcc_tcp *tcp, u32 rtt_min,
				  u32 acked)
{
	bool train, delay;

	h->remaining = mpcc_minus(h->remaining, acked);
	if (h->ended || !tcp->rtt_us)
		return;
	if (!h->remaining)
		mpcc_hystart_round(h, tcp);
	if (tcp->cwnd < MPCC_HYSTART_WINDOW)
		return;
	train = mpcc_hystart_train(h, tcp, rtt_min);
	delay = mpcc_hystart_delay(h, tcp, rtt_min);
	if (train || delay) {
		h->ended = true;
		tcp->ssthresh = tcp->cwnd;
	}
}

/* A subflow starts, or restarts after an RTO. */
MPCC_INLINE void mpcc_hystart_begin(struct mpcc_hystart *h, const struct mpcc_tcp *tcp)
{
	h->ended = false;
	mpcc_hystart_round(h, tcp);
}

#endif
