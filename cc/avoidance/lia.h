/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LIA, linked increases (RFC 6356): for each acknowledged segment
 *
 *     cwnd_i += min(α / cwnd_total, 1 / cwnd_i),   α = cwnd_total · max(w/rtt²) / (Σ w/rtt)²
 *
 * so that all subflows together take no more than one TCP would on the best of their paths. The reduction is
 * Reno's.
 *
 * Fixed point. cwnd_total cancels. With m the path of the largest w/rtt², chosen exactly,
 *
 *     α / cwnd_total = w_m / S²,   S = Σ w_j · rtt_m / rtt_j
 *
 * in which every term of S is at most 2^20 (w_j ≤ w_m · (rtt_j/rtt_m)²), S at least w_m. S is kept in Q14, the
 * quotient w_m/S in Q29 and the result in Q40. Each rounding is downwards, with the last one up: 0.1 % at the
 * most over windows of 1 to 2^20 segments, RTTs of 10 µs to 60 s and 8 subflows. (α itself, scaled by 2^12 as
 * in an earlier kernel implementation, is 0 above 4 096 segments.)
 */
#ifndef MPCC_LIA_H
#define MPCC_LIA_H

#include "reno.h"

#define MPCC_LIA_S_SHIFT     14
#define MPCC_LIA_RATIO_SHIFT 29

/* A subflow's window and RTT where it counts for the sums: of this group, with an RTT sample. */
MPCC_INLINE bool mpcc_lia_counts(const struct mpcc_connection *c, u32 i, u8 group, u32 *w, u32 *t)
{
	*w = MPCC_READ(c->slot[i].account.cwnd);
	*t = MPCC_READ(c->slot[i].srtt8);
	return mpcc_coupled(c, i, group) && *w && *t;
}

/* Σ w_j · t/t_j in Q14: all of a group at the RTT t, at least the `least` segments that are known to be in it. */
MPCC_SEPARATE u64 mpcc_lia_sum(const struct mpcc_connection *c, u8 group, u32 t, u32 least)
{
	u64 sum = 0, known = (u64)least << MPCC_LIA_S_SHIFT;
	u32 w, t_j, used;

	if (!c)
		return 0;
	used = MPCC_READ(c->used) & MPCC_EVERY_SLOT;
	for (u32 i = 0; i < MPCC_SUBFLOWS && used >> i; i++)
		if (mpcc_lia_counts(c, i, group, &w, &t_j))
			sum += t_j == t ? (u64)w << MPCC_LIA_S_SHIFT :
					  ((u64)w << MPCC_LIA_S_SHIFT) * t / t_j;
	/* A subflow that changed since it was looked at can leave less, or nothing. */
	return sum < known ? known : sum;
}

/* α / cwnd_total for each acknowledged segment, Q40; one segment where nobody has an RTT sample. */
MPCC_SEPARATE u64 mpcc_lia_increase(const struct mpcc_connection *c, u8 group)
{
	u32 w_m = 0, t_m = 1, w, t, used;
	u64 sum, ratio;

	if (!c)
		return 0;
	used = MPCC_READ(c->used) & MPCC_EVERY_SLOT;
	for (u32 i = 0; i < MPCC_SUBFLOWS && used >> i; i++)
		if (mpcc_lia_counts(c, i, group, &w, &t) &&
		    mpcc_rate_per_rtt_above(w, t, w_m, t_m)) {
			w_m = w;
			t_m = t;
		}
	if (!w_m)
		return MPCC_ONE;
	sum = mpcc_lia_sum(c, group, t_m, w_m);
	ratio = ((u64)w_m << (MPCC_LIA_RATIO_SHIFT + MPCC_LIA_S_SHIFT)) / sum;
	return (ratio << (MPCC_ONE_SHIFT + MPCC_LIA_S_SHIFT - MPCC_LIA_RATIO_SHIFT)) / sum + 1;
}

/*
 * The increase is worked out anew when a window of the connection has changed, and at least once a window of
 * acknowledged segments for the RTTs (RFC 6356, 4 allows once an RTT).
 */
MPCC_INLINE void mpcc_lia_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				struct mpcc_tcp *tcp, u32 acked)
{
	u32 cwnd = mpcc_max(tcp->cwnd, 1);

	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_avoid(s, tcp, acked);
		return;
	}
	if (!s->increase || s->increase_epoch != mpcc_epoch(c, s->group) ||
	    s->increase_left < acked) {
		u32 alone = mpcc_min(cwnd, MPCC_CWND_MAX);
		u64 linked;

		/* First: what another CPU changes meanwhile is then of a later epoch. So wherever windows are looked at. */
		s->increase_epoch = mpcc_epoch(c, s->group);
		s->increase_left = cwnd;
		linked = mpcc_lia_increase(c, s->group);
		/* Less than what one by itself adds, which is divided only where it is taken. */
		s->increase = linked * alone < MPCC_ONE ? linked : mpcc_one_per(alone);
	}
	s->increase_left = mpcc_minus(s->increase_left, acked);
	mpcc_grow(s, tcp, s->increase, acked);
}

#endif
