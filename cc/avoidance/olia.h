/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OLIA, opportunistic linked increases: for each acknowledged segment on path r
 *
 *     w_r += (w_r/rtt_r²) / (Σ w_p/rtt_p)² + α_r/w_r
 *
 * The first term shares the growth of a single TCP among the paths, most of it to the fast ones. The second moves
 * windows from the largest ones to paths that look best but have small windows: with l_r the segments that path r
 * delivers between losses, M the paths with the largest w, B those with the largest l_r/rtt_r², C = B \ M,
 *
 *     α_r = 1 / (N·|C|) in C, −1 / (N·|M|) in M where C is not empty, else 0;   N paths in all.
 *
 * l_r is the larger of the segments acknowledged between the last two losses, and since the last one. The reduction is
 * Reno's, but with more than one path the threshold is at least 1 segment, not 2: a path that is only probed takes one
 * segment an RTT.
 *
 * Source: Khalili, Gast, Popović, Le Boudec, draft-khalili-mptcp-congestion-control-05; "MPTCP is not Pareto-optimal:
 * performance issues and a possible solution", IEEE/ACM Transactions on Networking 21 (5), 2013.
 *
 * Departures, and why:
 *  - The threshold of 1 segment is not in the authors' later code for Linux, which has Reno's 2. Their measured rates need
 *    it: in scenario A of draft-khalili-mptcp-performance-issues-04 with N1 = 30, type 2 has 7.5 of 10 Mbit/s, and 30 users
 *    with two segments each in an RTT of 150 ms would take 4.8.
 *  - Windows and l_r count segments, as Linux's windows do: the paths of a connection have nearly the same MSS.
 *  - Segments acknowledged during a recovery do not count for l_r, because Linux does not call cong_avoid then: about a window for
 *    each interval, which by Reno's formula has ⅜·w² segments. An RTO that ends a recovery starts no new interval.
 *  - M, B and the sums are computed when a window of the group changes and at least once a window of
 *    acknowledged segments (mpcc_expired): l_r and the RTTs are up to an RTT old.
 *
 * Fixed point. With S_r = Σ w_p · rtt_r/rtt_p, the first term is (w_r/S_r)²/w_r: S_r in Q14, the quotient in Q29, the
 * result in Q40, rounded up. All comparisons are exact. The error is below 0.2 % of the two terms' sizes and 2^-39 of a
 * segment, which is more where a path is a hundred thousand times slower than another.
 *
 * The window shrinks while α_r is the larger term. cwnd is the whole part of the window and `growth` the fraction,
 * never negative: a decrease borrows a segment, so that neither direction loses a fraction.
 */
#ifndef MPCC_OLIA_H
#define MPCC_OLIA_H

#include "reno.h"

#define MPCC_OLIA_SSTHRESH_MIN 1 /* segments, with more than one path */
#define MPCC_OLIA_RATIO_SHIFT  29

struct mpcc_olia_avoidance {
	s64 change; /* of the window for each acknowledged segment, Q40 */
	struct mpcc_cache cache; /* of `change` */
};

#define mpcc_olia(s) mpcc_avoidance_state(s, struct mpcc_olia_avoidance)

/* Words of mpcc_slot.avoidance: segments, counted to 2^32 - 1. */
#define MPCC_OLIA_ACKED_SINCE 0 /* acknowledged since the last reduction */
#define MPCC_OLIA_BETWEEN_LOSSES                                                                   \
	1 /* l: the larger of that and of those between the last two reductions */

/* Sets of paths: bit i for slot i. */
struct mpcc_olia_sets {
	u32 all; /* the paths of a group */
	u32 largest; /* M */
	u32 best; /* B */
};

MPCC_SEPARATE u32 mpcc_olia_sets(const struct mpcc_connection *c, u8 group,
				 struct mpcc_olia_sets *sets)
{
	u32 w_max = 0, l_best = 0, t_best = 1, w, t, used;
	u64 all = 0, largest = 0, best = 0;

	if (!c || !sets)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	{
		u32 l = MPCC_READ(c->slot[i].avoidance[MPCC_OLIA_BETWEEN_LOSSES]);

		if (!mpcc_measured(c, i, group, &w, &t))
			continue;
		all |= 1U << i;
		if (w > w_max) {
			w_max = w;
			largest = 0;
		}
		if (w == w_max)
			largest |= 1U << i;
		if (mpcc_rate_per_rtt_above(l, t, l_best, t_best)) {
			l_best = l;
			t_best = t;
			best = 0;
		}
		if (!mpcc_rate_per_rtt_above(l_best, t_best, l, t))
			best |= 1U << i;
		MPCC_UNKNOWN(w_max);
		MPCC_UNKNOWN(l_best);
		MPCC_UNKNOWN(t_best);
		MPCC_UNKNOWN(all);
		MPCC_UNKNOWN(largest);
		MPCC_UNKNOWN(best);
	}
	*sets = (struct mpcc_olia_sets){ .all = all, .largest = largest, .best = best };
	return 0;
}

/* Change of the window for each acknowledged segment, Q40. The subflow has a slot. */
MPCC_INLINE s64 mpcc_olia_change(const struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	u32 me = MPCC_SLOT(s->slot), w, t, in_c;
	struct mpcc_olia_sets sets = {};
	u64 ratio, linked, alpha;

	if (!mpcc_measured(c, me, s->group, &w, &t))
		return mpcc_one_per(mpcc_max(w, 1)); /* no RTT sample yet */
	ratio = ((u64)w << (MPCC_OLIA_RATIO_SHIFT + MPCC_RATE_SHIFT)) /
		mpcc_group_rate(c, s->group, t, w);
	linked = ratio * ratio / ((u64)w << (2 * MPCC_OLIA_RATIO_SHIFT - MPCC_ONE_SHIFT)) + 1;

	mpcc_olia_sets(c, s->group, &sets);
	in_c = sets.best & ~sets.largest;
	if (!in_c)
		return linked;
	alpha = MPCC_ONE / w / __builtin_popcount(sets.all | 1U << me);
	if (in_c >> me & 1)
		return linked + alpha / __builtin_popcount(in_c);
	if (sets.largest >> me & 1)
		return (s64)linked - (s64)(alpha / __builtin_popcount(sets.largest));
	return linked;
}

/* Changes the window by `acked` times `change` (Q40). Keeps the fraction of a segment for the next call. */
MPCC_INLINE void mpcc_olia_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, s64 change, u32 acked)
{
	s64 growth = (s64)s->growth + change * mpcc_min(acked, MPCC_CWND_MAX);
	s64 window = (s64)tcp->cwnd + (growth >> MPCC_ONE_SHIFT); /* rounded down */

	s->growth = growth & (MPCC_ONE - 1);
	if (window < 1) {
		window = 1;
		s->growth = 0;
	}
	if (window < tcp->cwnd || tcp->cwnd < tcp->cwnd_clamp)
		tcp->cwnd = mpcc_min(window, mpcc_max(tcp->cwnd_clamp, 1));
}

/* Every ACK, whether or not the window limits the sender: counts for l_r. */
MPCC_INLINE void mpcc_olia_sample(struct mpcc_connection *c, struct mpcc_subflow *s,
				  const struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u32 since;

	(void)tcp;
	if (!slot)
		return;
	since = slot->avoidance[MPCC_OLIA_ACKED_SINCE];
	since += mpcc_min(acked, ~since);
	slot->avoidance[MPCC_OLIA_ACKED_SINCE] = since;
	if (slot->avoidance[MPCC_OLIA_BETWEEN_LOSSES] < since)
		MPCC_WRITE(slot->avoidance[MPCC_OLIA_BETWEEN_LOSSES], since);
}

/* A loss ends the interval, unless nothing was acknowledged in it. */
MPCC_INLINE u32 mpcc_olia_ssthresh(struct mpcc_connection *c, struct mpcc_subflow *s,
				   const struct mpcc_tcp *tcp)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	struct mpcc_olia_sets sets = {};
	u32 since;

	if (!slot)
		return mpcc_reno_ssthresh(tcp);
	since = slot->avoidance[MPCC_OLIA_ACKED_SINCE];
	if (since) {
		MPCC_WRITE(slot->avoidance[MPCC_OLIA_BETWEEN_LOSSES], since);
		slot->avoidance[MPCC_OLIA_ACKED_SINCE] = 0;
	}
	mpcc_olia_sets(c, s->group, &sets);
	if (__builtin_popcount(sets.all) < 2)
		return mpcc_reno_ssthresh(tcp);
	return mpcc_max(tcp->cwnd / 2, MPCC_OLIA_SSTHRESH_MIN);
}

MPCC_INLINE void mpcc_olia_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				 struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	struct mpcc_olia_avoidance *olia = mpcc_olia(s);

	(void)note;
	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_grow(s, tcp, acked);
		return;
	}
	if (mpcc_expired(c, s, &olia->cache, tcp->cwnd, acked))
		olia->change = mpcc_olia_change(c, s);
	mpcc_olia_grow(s, tcp, olia->change, acked);
}

static const struct mpcc_avoidance_ops mpcc_olia_avoidance_ops = {
	.name = "olia",
	.sample = mpcc_olia_sample,
	.avoid = mpcc_olia_avoid,
	.ssthresh = mpcc_olia_ssthresh,
};

#endif
