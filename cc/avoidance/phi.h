/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The family of couplings between uncoupled and fully coupled windows, indexed by φ: for each acknowledged segment on path r
 *
 *     w_r += min(a · w_r^(1−φ) / w_total^(2−φ), 1 / w_r)
 *
 * Against Reno's reduction this settles at w_r proportional to (1/p_r)^(1/φ) for loss rates p_r. φ = 2 is Reno on each path,
 * φ = 1 is LIA, and φ near 0 is the fully coupled algorithm, which uses only the paths of the smallest loss rate.
 *
 * Source: Khalili, Gast, Popović, Le Boudec, draft-khalili-mptcp-performance-issues-04, 2, which gives the equilibria; the
 * increases follow from them, since p_r · w_r/2 = increase. The setting `phi` is φ in hundredths.
 *
 * The aggressiveness a is the same for all paths, so the equilibrium's shape does not depend on it. RFC 6356's goal, that all paths
 * together take as much as a single TCP on the best one, gives for each φ
 *
 *     A = w_total^(2−φ) · max(w^φ/rtt²) / (Σ w/rtt)²,
 *
 * which is LIA's α at φ = 1. Uncoupled windows do not meet this goal: a is A up to φ = 1, and A^(2−φ) above it, which becomes 1 at
 * φ = 2. The paper leaves a open.
 *
 * With a small φ a path keeps at least RFC 5681's 2 segments after losses, so that it continues to measure its loss rate.
 *
 * Fixed point: logarithms to base 2 in Q32 (logarithm.h), and windows scaled by RTT ratios in Q14 as in LIA. The error is below
 * 0.1 % and 2^-40 of a segment over windows of 1 to 2^20 segments, RTTs of 10 µs to 60 s and 8 subflows
 * (docs/algorithms/exactness.md).
 */
#ifndef MPCC_PHI_H
#define MPCC_PHI_H

#include "../logarithm.h"
#include "reno.h"

#define MPCC_PHI         0 /* the setting */
#define MPCC_PHI_PERCENT 100 /* φ = 1 */

struct mpcc_phi_avoidance {
	u64 increase; /* for each acknowledged segment, Q40 */
	struct mpcc_cache cache; /* of `increase` */
};

#define mpcc_phi(s) mpcc_avoidance_state(s, struct mpcc_phi_avoidance)

/* A group, seen from the path of max(w^φ/rtt²). */
struct mpcc_phi_group {
	u32 total; /* w_total, segments */
	u32 best_w; /* w of that path, segments; 0: no RTT sample */
	u32 best_t; /* rtt of that path, eighths of a microsecond */
};

/* φ · log2 w − 2 · log2 t, Q32 · 100. */
MPCC_INLINE s64 mpcc_phi_score(u32 phi, u32 w, u32 t)
{
	return (s64)phi * mpcc_log2(w) - 2 * MPCC_PHI_PERCENT * mpcc_log2(t);
}

MPCC_SEPARATE u32 mpcc_phi_read(const struct mpcc_connection *c, u8 group, u32 phi,
				struct mpcc_phi_group *result)
{
	struct mpcc_phi_group seen = { .best_t = 1 };
	s64 best = 0;
	u32 w, t, used;

	if (!c || !result)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	{
		s64 score;

		if (!mpcc_measured(c, i, group, &w, &t))
			continue;
		seen.total += w;
		score = mpcc_phi_score(phi, w, t);
		if (!seen.best_w || score > best) {
			best = score;
			seen.best_w = w;
			seen.best_t = t;
		}
		MPCC_UNKNOWN(seen.total);
		MPCC_UNKNOWN(best);
		MPCC_UNKNOWN(seen.best_w);
		MPCC_UNKNOWN(seen.best_t);
	}
	*result = seen;
	return seen.total;
}

/* The increase for each acknowledged segment of a subflow with window `w`, Q40, without the bound of 1/w. */
MPCC_SEPARATE u64 mpcc_phi_linked(const struct mpcc_connection *c, u8 group, u32 phi, u32 w)
{
	struct mpcc_phi_group seen = {};
	s64 total, aggressiveness, result;
	u64 sum;

	if (!c)
		return 0;
	if (!mpcc_phi_read(c, group, phi, &seen) || !seen.best_w)
		return MPCC_ONE;
	/* S = Σ w_j · rtt_m/rtt_j: then A = w_total^(2−φ) · w_m^φ / S². All logarithms from here on are times 100. */
	sum = mpcc_group_rate(c, group, seen.best_t, seen.best_w);
	total = mpcc_log2(seen.total);
	aggressiveness =
		(2 * MPCC_PHI_PERCENT - (s64)phi) * total + (s64)phi * mpcc_log2(seen.best_w) -
		2 * MPCC_PHI_PERCENT * (mpcc_log2(sum) - ((s64)MPCC_RATE_SHIFT << MPCC_EXP_SHIFT));
	if (phi > MPCC_PHI_PERCENT)
		aggressiveness = mpcc_divide(aggressiveness, MPCC_PHI_PERCENT) *
				 (2 * MPCC_PHI_PERCENT - (s64)phi);
	result = aggressiveness + (MPCC_PHI_PERCENT - (s64)phi) * mpcc_log2(w) -
		 (2 * MPCC_PHI_PERCENT - (s64)phi) * total;
	return mpcc_exp2_q40(mpcc_divide(result, MPCC_PHI_PERCENT));
}

MPCC_INLINE void mpcc_phi_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	struct mpcc_phi_avoidance *state = mpcc_phi(s);

	(void)note;
	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_grow(s, tcp, acked);
		return;
	}
	if (mpcc_expired(c, s, &state->cache, tcp->cwnd, acked)) {
		u32 phi = mpcc_min(mpcc_avoidance_setting(c, MPCC_PHI), 2 * MPCC_PHI_PERCENT);
		u32 cwnd = mpcc_min(mpcc_max(tcp->cwnd, 1), MPCC_CWND_MAX);
		u64 linked = mpcc_phi_linked(c, s->group, phi, cwnd), alone = mpcc_one_per(cwnd);

		state->increase = linked < alone ? linked : alone;
	}
	mpcc_grow(s, tcp, state->increase, acked);
}

static const struct mpcc_avoidance_ops mpcc_phi_avoidance_ops = {
	.name = "phi",
	.setting = { { "phi", "hundredths", 1, 2 * MPCC_PHI_PERCENT, MPCC_PHI_PERCENT,
		       "exponent of the coupling: 200 is uncoupled, 100 is LIA, 1 is almost fully "
		       "coupled" } },
	.avoid = mpcc_phi_avoid,
};

#endif
