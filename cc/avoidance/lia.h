/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LIA, linked increases (RFC 6356): for each acknowledged segment
 *
 *     cwnd_i += min(α / cwnd_total, 1 / cwnd_i),   α = cwnd_total · max(w/rtt²) / (Σ w/rtt)²
 *
 * so that all subflows together take no more than a single TCP would on the best of their paths. The reduction is
 * Reno's.
 *
 * Fixed point. cwnd_total cancels. With m the path of the largest w/rtt², chosen exactly,
 *
 *     α / cwnd_total = w_m / S²,   S = Σ w_j · rtt_m / rtt_j
 *
 * in which every term of S is at most 2^20 (w_j ≤ w_m · (rtt_j/rtt_m)²), S at least w_m. S is kept in Q14, the
 * quotient w_m/S in Q29 and the result in Q40. Each rounding is downwards, and the last one up: 0.1 % at
 * most over windows of 1 to 2^20 segments, RTTs of 10 µs to 60 s and 8 subflows. (α itself, scaled by 2^12 as
 * in an earlier kernel implementation, is 0 above 4 096 segments.)
 */
#ifndef MPCC_LIA_H
#define MPCC_LIA_H

#include "reno.h"

#define MPCC_LIA_RATIO_SHIFT 29

struct mpcc_lia_avoidance {
	u64 increase; /* for each acknowledged segment, Q40 */
	struct mpcc_cache cache; /* of `increase` */
};

#define mpcc_lia(s) mpcc_avoidance_state(s, struct mpcc_lia_avoidance)

/* α / cwnd_total for each acknowledged segment, Q40; one segment if no subflow has an RTT sample. */
MPCC_SEPARATE u64 mpcc_lia_increase(const struct mpcc_connection *c, u8 group)
{
	u32 w_m = 0, t_m = 1, w, t, used;
	u64 sum, ratio;

	if (!c)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	if (mpcc_measured(c, i, group, &w, &t) && mpcc_rate_per_rtt_above(w, t, w_m, t_m)) {
		w_m = w;
		t_m = t;
	}
	if (!w_m)
		return MPCC_ONE;
	sum = mpcc_group_rate(c, group, t_m, w_m);
	ratio = ((u64)w_m << (MPCC_LIA_RATIO_SHIFT + MPCC_RATE_SHIFT)) / sum;
	return (ratio << (MPCC_ONE_SHIFT + MPCC_RATE_SHIFT - MPCC_LIA_RATIO_SHIFT)) / sum + 1;
}

MPCC_INLINE void mpcc_lia_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	struct mpcc_lia_avoidance *lia = mpcc_lia(s);

	(void)note;
	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_grow(s, tcp, acked);
		return;
	}
	if (mpcc_expired(c, s, &lia->cache, tcp->cwnd, acked)) {
		u32 cwnd = mpcc_min(mpcc_max(tcp->cwnd, 1), MPCC_CWND_MAX);
		u64 linked = mpcc_lia_increase(c, s->group);

		/* The division 1 / cwnd is only made where it is the smaller one. */
		lia->increase = linked * cwnd < MPCC_ONE ? linked : mpcc_one_per(cwnd);
	}
	mpcc_grow(s, tcp, lia->increase, acked);
}

static const struct mpcc_avoidance_ops mpcc_lia_avoidance_ops = {
	.name = "lia",
	.avoid = mpcc_lia_avoid,
};

#endif
