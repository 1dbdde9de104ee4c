/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Balia, balanced linked adaptation: with x_r = w_r/rtt_r and a_r = max x/x_r, for each acknowledged segment on path r
 *
 *     w_r += (x_r/rtt_r) / (Σ x_k)² · (1 + a_r)/2 · (4 + a_r)/5
 *
 * and on a loss w_r −= w_r/2 · min(a_r, 3/2). For equal rates it is LIA with Reno's halving. A slow path
 * grows faster than with OLIA, so that an improvement of the path is detected early, and is reduced further by a loss.
 *
 * Source: Walid, Peng, Hwang, Low, draft-walid-mptcp-congestion-control-04; Peng, Walid, Hwang, Low, "Multipath TCP:
 * analysis, design, and implementation", IEEE/ACM Transactions on Networking 24 (1), 2016.
 *
 * Departures, and why:
 *  - The threshold after a loss is at least 2 segments, as in RFC 5681: a quarter of a window of 7 is less.
 *  - The increase is computed when a window of the group has changed, and at least once a window of acknowledged segments
 *    (mpcc_expired).
 *
 * Fixed point. With m the path of max x, S = Σ w_k · rtt_m/rtt_k, and u = w_r · rtt_m/rtt_r, which is at most w_m,
 *
 *     w_r += (u + w_m)/S · (4u + w_m)/S / (10·w_r)
 *
 * at most 1/w_r, at least 1/(10·N²·w_r). u and S are kept in Q14, the quotients in Q28 and Q26, the result in Q40,
 * rounded up: the error is below 0.3 % with 16 paths, below 0.1 % with up to 8. a_r is a ratio of products of
 * integers, and the window after a loss is exact, rounded down. (With an integer a_r, as in an earlier kernel
 * implementation, only decreases of 1/2 and 3/4 exist.)
 */
#ifndef MPCC_BALIA_H
#define MPCC_BALIA_H

#include "reno.h"

#define MPCC_BALIA_FIRST_SHIFT  28
#define MPCC_BALIA_SECOND_SHIFT 26

struct mpcc_balia_avoidance {
	u64 increase; /* for each acknowledged segment, Q40 */
	struct mpcc_cache cache; /* of `increase` */
};

#define mpcc_balia(s) mpcc_avoidance_state(s, struct mpcc_balia_avoidance)

/*
 * The path of max x: its window and, in the upper half, its RTT. `w` and `t` are window and RTT of the subflow in slot `me`, which
 * may not be published yet.
 */
MPCC_SEPARATE u64 mpcc_balia_fastest(const struct mpcc_connection *c, u32 me, u32 w, u32 t)
{
	u32 w_k, t_k, used;
	u8 group;

	if (!c)
		return 0;
	group = c->slot[MPCC_SLOT(me)].group;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	if (i != me && mpcc_measured(c, i, group, &w_k, &t_k) && mpcc_rate_above(w_k, t_k, w, t)) {
		w = w_k;
		t = t_k;
	}
	return (u64)t << 32 | w;
}

/* The increase for each acknowledged segment on the path in slot `me`, Q40. */
MPCC_INLINE u64 mpcc_balia_increase(const struct mpcc_connection *c, u32 me)
{
	u64 fastest, sum, u, m, first, second;
	u32 w, t, w_m, t_m;
	u8 group;

	me = MPCC_SLOT(me);
	group = c->slot[me].group;
	if (!mpcc_measured(c, me, group, &w, &t))
		return mpcc_one_per(mpcc_max(w, 1)); /* no RTT sample yet */
	fastest = mpcc_balia_fastest(c, me, w, t);
	w_m = fastest;
	t_m = fastest >> 32;
	sum = mpcc_group_rate(c, group, t_m, w_m);
	u = ((u64)w << MPCC_RATE_SHIFT) * t_m / t;
	m = (u64)w_m << MPCC_RATE_SHIFT;
	first = ((u + m) << MPCC_BALIA_FIRST_SHIFT) / sum;
	second = ((4 * u + m) << MPCC_BALIA_SECOND_SHIFT) / sum;
	return first * second /
		       (10ULL * w << (MPCC_BALIA_FIRST_SHIFT + MPCC_BALIA_SECOND_SHIFT -
				      MPCC_ONE_SHIFT)) +
	       1;
}

MPCC_INLINE void mpcc_balia_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	struct mpcc_balia_avoidance *balia = mpcc_balia(s);

	(void)note;
	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_grow(s, tcp, acked);
		return;
	}
	if (mpcc_expired(c, s, &balia->cache, tcp->cwnd, acked))
		balia->increase = mpcc_balia_increase(c, s->slot);
	mpcc_grow(s, tcp, balia->increase, acked);
}

/* w_r − w_r/2 · min(a_r, 3/2). The window is the endpoint's, which may not be published yet. */
MPCC_INLINE u32 mpcc_balia_ssthresh(struct mpcc_connection *c, struct mpcc_subflow *s,
				    const struct mpcc_tcp *tcp)
{
	u32 w = mpcc_min(tcp->cwnd, MPCC_CWND_MAX), t = mpcc_min(tcp->srtt8, MPCC_SRTT8_MAX);
	u64 fastest, mine, most;
	u32 w_m, t_m;

	if (!c || !mpcc_has_slot(s) || !t)
		return mpcc_reno_ssthresh(tcp);
	fastest = mpcc_balia_fastest(c, MPCC_SLOT(s->slot), w, t);
	w_m = fastest;
	t_m = fastest >> 32;
	mine = (u64)w * t_m;
	most = (u64)w_m * t; /* a_r = most/mine */
	if (2 * most >= 3 * mine)
		return mpcc_max(w / 4, MPCC_SSTHRESH_MIN);
	return mpcc_max((2 * mine - most) / (2ULL * t_m), MPCC_SSTHRESH_MIN);
}

static const struct mpcc_avoidance_ops mpcc_balia_avoidance_ops = {
	.name = "balia",
	.avoid = mpcc_balia_avoid,
	.ssthresh = mpcc_balia_ssthresh,
};

#endif
