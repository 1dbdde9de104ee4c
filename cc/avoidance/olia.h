/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OLIA, opportunistic linked increases: for each acknowledged segment on path r
 *
 *     w_r += (w_r/rtt_r²) / (Σ w_p/rtt_p)² + α_r/w_r
 *
 * The first term shares what one TCP would grow by, most of it to the paths that are fast already. The second moves
 * windows from the largest ones to the paths that look best but have small ones: with l_r the segments that path r
 * delivers between losses, M the paths with the largest w, B those with the largest l_r/rtt_r², C = B \ M,
 *
 *     α_r = 1 / (N·|C|) in C, −1 / (N·|M|) in M where C is not empty, else 0;   N paths in all.
 *
 * l_r is the larger of what was acknowledged between the last two losses, and since the last one. The reduction is
 * Reno's, but with more than one path the threshold is 1 segment at least, not 2: a path that is worth no more than to be
 * probed takes a segment an RTT.
 *
 * Source: Khalili, Gast, Popović, Le Boudec, draft-khalili-mptcp-congestion-control-05; "MPTCP is not Pareto-optimal:
 * performance issues and a possible solution", IEEE/ACM Transactions on Networking 21 (5), 2013.
 *
 * Departures, and why:
 *  - The threshold of 1 segment is not in the authors' later code for Linux, which has Reno's 2. Their measured rates need
 *    it: in scenario A of draft-khalili-mptcp-performance-issues-04 with N1 = 30, type 2 has 7.5 of 10 Mbit/s, and 30 users
 *    with two segments each in an RTT of 150 ms would take 4.8.
 *  - Windows and l_r count segments, as Linux's windows do: the paths of a connection have nearly the same MSS.
 *  - What is acknowledged during a recovery does not count for l_r, since Linux does not call then: about a window for
 *    each interval, which by Reno's formula has ⅜·w² segments. An RTO that ends a recovery starts no new interval.
 *  - M, B and the sums are looked at when a window of the connection changes and at least once a window of
 *    acknowledged segments, as LIA's α is: l_r and the RTTs are up to an RTT old.
 *
 * Fixed point. With S_r = Σ w_p · rtt_r/rtt_p, the first term is (w_r/S_r)²/w_r: S_r in Q14, the quotient in Q29, the
 * result in Q40, rounded up. All comparisons are exact. The error is below 0.2 % of the two terms' sizes and 2^-39 of a
 * segment, which is more where a path is a hundred thousand times slower than another.
 *
 * The window shrinks while α_r is the larger term. cwnd is the whole part of the window and `growth` the fraction,
 * never negative: a decrease borrows a segment, so that nothing is rounded away in either direction.
 */
#ifndef MPCC_OLIA_H
#define MPCC_OLIA_H

#include "lia.h"

#define MPCC_OLIA_SSTHRESH_MIN 1 /* segments, with more than one path */
#define MPCC_OLIA_RATIO_SHIFT  29

/* The paths of a group, M and B: a set each of slots, one above the other. */
#define MPCC_OLIA_SET(sets, i) ((sets) >> (i) * MPCC_SUBFLOWS & MPCC_EVERY_SLOT)

MPCC_SEPARATE u64 mpcc_olia_sets(const struct mpcc_connection *c, u8 group)
{
	u32 largest = 0, best = 0, best_t = 1, w, t, used;
	u64 paths = 0, in_m = 0, in_b = 0;

	if (!c)
		return 0;
	used = MPCC_READ(c->used) & MPCC_EVERY_SLOT;
	for (u32 i = 0; i < MPCC_SUBFLOWS && used >> i; i++) {
		u32 l = MPCC_READ(c->slot[i].between_losses);

		if (!mpcc_lia_counts(c, i, group, &w, &t))
			continue;
		paths |= 1U << i;
		if (w > largest) {
			largest = w;
			in_m = 0;
		}
		if (w == largest)
			in_m |= 1U << i;
		if (mpcc_rate_per_rtt_above(l, t, best, best_t)) {
			best = l;
			best_t = t;
			in_b = 0;
		}
		if (!mpcc_rate_per_rtt_above(best, best_t, l, t))
			in_b |= 1U << i;
		MPCC_UNKNOWN(largest);
		MPCC_UNKNOWN(best);
		MPCC_UNKNOWN(best_t);
	}
	return paths | in_m << MPCC_SUBFLOWS | in_b << 2 * MPCC_SUBFLOWS;
}

/* What each acknowledged segment changes the window by, Q40. The slot is the subflow's own. */
MPCC_INLINE s64 mpcc_olia_change(const struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	u32 me = MPCC_SLOT(s->slot), w, t, in_m, in_c;
	u64 ratio, linked, alpha, sets;

	if (!mpcc_lia_counts(c, me, s->group, &w, &t))
		return mpcc_one_per(mpcc_max(w, 1)); /* no RTT sample yet */
	ratio = ((u64)w << (MPCC_OLIA_RATIO_SHIFT + MPCC_LIA_S_SHIFT)) /
		mpcc_lia_sum(c, s->group, t, w);
	linked = ratio * ratio / ((u64)w << (2 * MPCC_OLIA_RATIO_SHIFT - MPCC_ONE_SHIFT)) + 1;

	sets = mpcc_olia_sets(c, s->group);
	in_m = MPCC_OLIA_SET(sets, 1);
	in_c = MPCC_OLIA_SET(sets, 2) & ~in_m;
	if (!in_c)
		return linked;
	alpha = MPCC_ONE / w / __builtin_popcount(MPCC_OLIA_SET(sets, 0) | 1U << me);
	if (in_c >> me & 1)
		return linked + alpha / __builtin_popcount(in_c);
	if (in_m >> me & 1)
		return (s64)linked - (s64)(alpha / __builtin_popcount(in_m));
	return linked;
}

/* Changes the window by `acked` times `change` (Q40), keeping what is less than a segment. */
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

/* On every ACK, also where the window may not grow. */
MPCC_INLINE void mpcc_olia_acked(struct mpcc_connection *c, const struct mpcc_subflow *s, u32 acked)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u32 since;

	if (!slot)
		return;
	since = slot->acked_since + mpcc_min(acked, ~slot->acked_since);
	slot->acked_since = since;
	if (slot->between_losses < since)
		MPCC_WRITE(slot->between_losses, since);
}

/* A loss ends the interval, unless nothing was acknowledged in it. */
MPCC_INLINE u32 mpcc_olia_ssthresh(struct mpcc_connection *c, const struct mpcc_subflow *s,
				   const struct mpcc_tcp *tcp)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	if (!slot)
		return mpcc_reno_ssthresh(tcp);
	if (slot->acked_since) {
		MPCC_WRITE(slot->between_losses, slot->acked_since);
		slot->acked_since = 0;
	}
	if (__builtin_popcount(MPCC_OLIA_SET(mpcc_olia_sets(c, s->group), 0)) < 2)
		return mpcc_reno_ssthresh(tcp);
	return mpcc_max(tcp->cwnd / 2, MPCC_OLIA_SSTHRESH_MIN);
}

MPCC_INLINE void mpcc_olia_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				 struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_olia *olia = &s->olia;

	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_avoid(s, tcp, acked);
		return;
	}
	if (!olia->known || olia->epoch != mpcc_epoch(c, s->group) || olia->left < acked) {
		olia->known = true;
		olia->epoch = mpcc_epoch(c, s->group);
		olia->left = mpcc_max(tcp->cwnd, 1);
		olia->change = mpcc_olia_change(c, s);
	}
	olia->left = mpcc_minus(olia->left, acked);
	mpcc_olia_grow(s, tcp, olia->change, acked);
}

#endif
