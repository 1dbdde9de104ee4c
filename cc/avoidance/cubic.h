/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CUBIC (RFC 9438): after a reduction the window follows a cubic of the time since, first up to where the loss
 * was, flat there, and then beyond it:
 *
 *     W(t) = C · (t − K)³ + W_max,   K = ∛((W_max − cwnd_epoch) / C),   C = 0.4 segments/s³
 *
 * The window of a Reno flow that loses as much, W_est, is its lower bound: that rules at small windows and short
 * RTTs. A reduction is to β = 0.7. Each subflow by itself; nothing is coupled.
 *
 * Linux's tcp_cubic.c is the model where it and the RFC differ, so that a simulation shows what its users have:
 *  - The growth in an RTT is at least 1 % of a segment, also where the RFC has none (W(t) below the window), and 5 %
 *    of the window until a loss has shown a W_max.
 *  - W_est is approached within an RTT where the RFC jumps to it, and α stays 3(1 − β)/(1 + β) where the RFC
 *    has 1 from W_max on.
 *  - An undo gives back the window, not the epoch (RFC 9438, 4.9.1 would have both).
 *  - An RTO forgets W_max, the epoch and the least RTT; the next epoch starts from its window (4.8).
 *  - The RTT in the target W(t + RTT) is the least one seen. Time in which the application limits the window
 *    counts, unless nothing is in flight.
 *
 * Departures from Linux: W(t), W_est and the increase have fractions, where Linux has whole segments and a whole
 * number of ACKs for each segment of growth (the window that they are compared with is whole in both); they are
 * worked out anew on each ACK, not once a jiffy or 1/32 s, which Linux's W_est falls behind by at RTTs of a few
 * milliseconds; α is 0.529, not 8/15; RTT samples are used also in the first second of an epoch, and not in recovery.
 *
 * Fixed point. t and K in 1/1024 s, C = 410/1024 as in Linux: then 410 · t³ is C · t³ in Q40 without a shift, and
 * to 256 s fits 63 bits; 173 s already are more than the largest window. Rounding is below 1/1024 s in t and K.
 */
#ifndef MPCC_CUBIC_H
#define MPCC_CUBIC_H

#include "reno.h"

#define MPCC_CUBIC_SCALE      1024 /* of the next two */
#define MPCC_CUBIC_BETA       717 /* β = 0.7; RFC 9438, 4.6 */
#define MPCC_CUBIC_C          410 /* C = 0.4 segments/s³; RFC 9438, 5 */
#define MPCC_CUBIC_TIME_SHIFT 10 /* a second is 2^10 */
#define MPCC_CUBIC_TIME_MAX   (1U << 18) /* 1/1024 s: 256 s away from K, W is beyond all windows */
#define MPCC_CUBIC_EPOCH_MAX  (1ULL << 39) /* ns, 550 s: more than that and the largest K, 138 s */

#define MPCC_NS_PER_US 1000U
#define MPCC_NS_PER_MS 1000000U
#define MPCC_NS_PER_S  1000000000U

/* What an RTT of ACKs adds at least, Q40: Linux's 100 windows for a segment. */
#define MPCC_CUBIC_LEAST (MPCC_ONE / 100)
/* For each acknowledged segment: at most a half (W(t) to 1.5 · cwnd; RFC 9438, 4.2), */
#define MPCC_CUBIC_MOST (MPCC_ONE / 2)
/* and without a W_max at least this: 5 % of the window in an RTT (Linux). */
#define MPCC_CUBIC_SEARCH (MPCC_ONE / 20)

/* α = 3(1 − β)/(1 + β) in Q40: with β, as much as Reno with 1 and 1/2 (RFC 9438, 4.3). */
#define MPCC_CUBIC_ALPHA                                                                           \
	(3 * (MPCC_CUBIC_SCALE - MPCC_CUBIC_BETA) * MPCC_ONE / (MPCC_CUBIC_SCALE + MPCC_CUBIC_BETA))

/*
 * ∛a, rounded down, for a < 2^60. Newton's steps come down from a power of two above the root, at most double of
 * it, and the error that is left squares each time: 6 steps are enough, and the first that does not go down is
 * behind the end.
 */
MPCC_INLINE u32 mpcc_cube_root(u64 a)
{
	u64 root = 1;

	if (!a)
		return 0;
	for (u32 i = 0; i < 20 && root * root * root <= a; i++)
		root *= 2;
	for (u32 i = 0; i < 8; i++) {
		u64 next = (2 * root + a / (root * root)) / 3;

		if (next >= root)
			break;
		root = next;
	}
	return root;
}

/* K in 1/1024 s for a window that is `below` segments below W_max. */
MPCC_INLINE u32 mpcc_cubic_k(u32 below)
{
	/* K³ · C = below; in units of K: K³ · 410 / 2^10 = below · 2^30. 2^20 · 2^40 / 410 is below 2^52. */
	return mpcc_cube_root(((u64)mpcc_min(below, MPCC_CWND_MAX) << MPCC_ONE_SHIFT) /
			      MPCC_CUBIC_C);
}

/* W(t) in Q40, t in 1/1024 s. */
MPCC_INLINE u64 mpcc_cubic_window(u32 k, u32 origin, u32 t)
{
	u64 away = mpcc_min(t > k ? t - k : k - t, MPCC_CUBIC_TIME_MAX);
	u64 distance = MPCC_CUBIC_C * away * away * away, w = (u64)origin << MPCC_ONE_SHIFT;

	if (t > k)
		return w + distance;
	return w > distance ? w - distance : 0;
}

/* Time since the epoch began, and the RTT ahead, in 1/1024 s. */
MPCC_INLINE u32 mpcc_cubic_time(const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	u64 ns = tcp->now > s->cubic.epoch_start ? tcp->now - s->cubic.epoch_start : 0;

	if (ns > MPCC_CUBIC_EPOCH_MAX)
		ns = MPCC_CUBIC_EPOCH_MAX;
	ns += (u64)s->rtt_min * MPCC_NS_PER_US;
	return (ns << MPCC_CUBIC_TIME_SHIFT) / MPCC_NS_PER_S;
}

/* The first ACK in congestion avoidance after a reduction or slow start. */
MPCC_INLINE void mpcc_cubic_begin(struct mpcc_subflow *s, const struct mpcc_tcp *tcp, u32 cwnd)
{
	struct mpcc_cubic *cubic = &s->cubic;

	cubic->running = true;
	cubic->epoch_start = tcp->now;
	cubic->reno = (u64)cwnd << MPCC_ONE_SHIFT;
	if (cubic->w_max > cwnd) {
		cubic->k = mpcc_cubic_k(cubic->w_max - cwnd);
		cubic->origin = cubic->w_max;
	} else {
		cubic->k = 0;
		cubic->origin = cwnd;
	}
}

MPCC_INLINE void mpcc_cubic_avoid(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_cubic *cubic = &s->cubic;
	u32 cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1);
	u64 window = (u64)cwnd << MPCC_ONE_SHIFT, target, increase;

	if (!cubic->running)
		mpcc_cubic_begin(s, tcp, cwnd);

	cubic->reno += MPCC_CUBIC_ALPHA / cwnd * mpcc_min(acked, MPCC_CWND_MAX);
	if (cubic->reno > (u64)MPCC_CWND_MAX << MPCC_ONE_SHIFT)
		cubic->reno = (u64)MPCC_CWND_MAX << MPCC_ONE_SHIFT;

	target = mpcc_cubic_window(cubic->k, cubic->origin, mpcc_cubic_time(s, tcp));
	if (target < cubic->reno)
		target = cubic->reno;
	if (target < window + MPCC_CUBIC_LEAST)
		target = window + MPCC_CUBIC_LEAST;

	increase = (target - window) / cwnd;
	if (!cubic->w_max && increase < MPCC_CUBIC_SEARCH)
		increase = MPCC_CUBIC_SEARCH;
	if (increase > MPCC_CUBIC_MOST)
		increase = MPCC_CUBIC_MOST;
	mpcc_grow(s, tcp, increase, acked);
}

/*
 * The reduction. One that comes below the last W_max means that others want a share: fast convergence leaves
 * it to them sooner (RFC 9438, 4.7).
 */
MPCC_INLINE u32 mpcc_cubic_ssthresh(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	u32 cwnd = mpcc_min(tcp->cwnd, MPCC_CWND_MAX);

	if (cwnd < s->cubic.w_max)
		s->cubic.w_max =
			cwnd * (MPCC_CUBIC_SCALE + MPCC_CUBIC_BETA) / (2 * MPCC_CUBIC_SCALE);
	else
		s->cubic.w_max = cwnd;
	s->cubic.running = false;
	return mpcc_max(cwnd * MPCC_CUBIC_BETA / MPCC_CUBIC_SCALE, MPCC_SSTHRESH_MIN);
}

/* An RTO: the path may be another one (RFC 9438, 4.8; Linux). */
MPCC_INLINE void mpcc_cubic_forget(struct mpcc_subflow *s)
{
	s->cubic.w_max = 0;
	s->cubic.running = false;
}

/* Sending starts again from nothing in flight: time without anything to send is not time to grow in. */
MPCC_INLINE void mpcc_cubic_idle(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	u64 *start = &s->cubic.epoch_start;

	if (!s->cubic.running || *start > tcp->now)
		return;
	*start += (u64)tcp->idle_ms * MPCC_NS_PER_MS;
	if (*start > tcp->now)
		*start = tcp->now;
}

#endif
