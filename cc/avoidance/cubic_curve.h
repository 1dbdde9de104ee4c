/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The curve of CUBIC (RFC 9438, 4.2), whichever windows follow it: one subflow's (cubic.h) or the sum of several (coupled_cubic.h).
 *
 *     W(t) = C · (t − K)³ + W(K),   K = ∛((W(K) − W(0)) / C),   C = 0.4 segments/s³
 *
 * Fixed point. t and K in 1/1024 s, C = 410/1024 as in Linux: then 410 · t³ is C · t³ in Q40 without a shift, and
 * up to 256 s fits 63 bits; 173 s already exceed the largest window. Rounding is below 1/1024 s in t and K.
 */
#ifndef MPCC_CUBIC_CURVE_H
#define MPCC_CUBIC_CURVE_H

#include "../logarithm.h"
#include "reno.h"

#define MPCC_NS_PER_US 1000U
#define MPCC_NS_PER_MS 1000000U
#define MPCC_NS_PER_S  1000000000U

#define MPCC_CUBIC_SCALE      1024 /* of the next two */
#define MPCC_CUBIC_BETA       717 /* β = 0.7; RFC 9438, 4.6 */
#define MPCC_CUBIC_C          410 /* C = 0.4 segments/s³; RFC 9438, 5 */
#define MPCC_CUBIC_TIME_SHIFT 10 /* a second is 2^10 */
#define MPCC_CUBIC_TIME_MAX   (1U << 18) /* 1/1024 s: 256 s away from K, W is beyond all windows */

/* Smallest growth of an RTT, Q40: Linux's 100 windows for a segment. */
#define MPCC_CUBIC_LEAST (MPCC_ONE / 100)
/* Largest growth for each acknowledged segment: a half (W(t) up to 1.5 · cwnd; RFC 9438, 4.2). */
#define MPCC_CUBIC_MOST (MPCC_ONE / 2)
/* Smallest growth for each acknowledged segment without a W_max: 5 % of the window in an RTT (Linux). */
#define MPCC_CUBIC_SEARCH (MPCC_ONE / 20)

/* α = 3(1 − β)/(1 + β) in Q40: with β, the same rate as Reno with 1 and 1/2 (RFC 9438, 4.3). */
#define MPCC_CUBIC_ALPHA                                                                           \
	(3 * (MPCC_CUBIC_SCALE - MPCC_CUBIC_BETA) * MPCC_ONE / (MPCC_CUBIC_SCALE + MPCC_CUBIC_BETA))

/*
 * ∛a, rounded down, for a < 2^60. Newton's steps come down from a power of two above the root, at most double of
 * it, and each step squares the remaining error: 6 steps are enough. A step that does not decrease has passed the root, and so would
 * all after it.
 */
MPCC_SEPARATE u32 mpcc_cube_root(u64 a)
{
	u64 root;

	if (!a)
		return 0;
	root = 1ULL << ((mpcc_highest_bit(a) + 3) / 3);
	for (u32 i = 0; i < 7; i++) {
		u64 next = (2 * root + a / (root * root)) / 3;

		root = next < root ? next : root;
		MPCC_UNKNOWN(root);
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

/* The growth for each acknowledged segment, Q40, of `cwnd` segments that approach `target` (Q40) within an RTT. */
MPCC_INLINE u64 mpcc_cubic_increase(u64 target, u32 cwnd, bool searching)
{
	u64 window = (u64)cwnd << MPCC_ONE_SHIFT, increase;

	if (target < window + MPCC_CUBIC_LEAST)
		target = window + MPCC_CUBIC_LEAST;
	increase = (target - window) / cwnd;
	if (searching && increase < MPCC_CUBIC_SEARCH)
		increase = MPCC_CUBIC_SEARCH;
	return increase > MPCC_CUBIC_MOST ? MPCC_CUBIC_MOST : increase;
}

/* The window after a reduction from `cwnd`, segments. */
MPCC_INLINE u32 mpcc_cubic_reduced(u32 cwnd)
{
	return mpcc_max(cwnd * MPCC_CUBIC_BETA / MPCC_CUBIC_SCALE, MPCC_SSTHRESH_MIN);
}

/*
 * W(K) of the epoch after a loss at `cwnd`. A loss below the last one means that other flows need a share: fast convergence releases
 * it sooner (RFC 9438, 4.7).
 */
MPCC_INLINE u32 mpcc_cubic_converge(u32 cwnd, u32 last)
{
	return cwnd < last ? cwnd * (MPCC_CUBIC_SCALE + MPCC_CUBIC_BETA) / (2 * MPCC_CUBIC_SCALE) :
			     cwnd;
}

#endif
