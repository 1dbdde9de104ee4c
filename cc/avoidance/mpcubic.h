/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MPCUBIC: CUBIC (cubic.h) on each subflow, with slower growth, so that all subflows of a group together take as much as one CUBIC.
 *
 *     W(t) = δ · C · (t − K)³ + W_max,   K = ∛((W_max − cwnd_epoch) / (δ · C))
 *     W_est grows by α · φ each RTT where CUBIC's grows by α
 *     φ = w_i · max(w/rtt²) / (Σ w/rtt)², at most 1;   δ = φ²
 *
 * φ is the increase of LIA (lia.h) relative to that of one TCP. A window of CUBIC is proportional to C^(1/4) in the cubic region and to
 * α^(1/2) in the Reno-friendly one, so that N equal windows, φ = 1/N², are 1/N of one CUBIC's in both. A subflow alone has φ = 1.
 * A reduction is CUBIC's: β = 0.7 of the subflow's own window.
 *
 * Sources: Le, Hong, Lee, "MPCubic: An extended Cubic TCP for multiple paths over high bandwidth-delay networks", ICTC 2011: the idea.
 * The text of the paper was not available; the formulas are those that the public module "mpcubic" for the MPTCP kernel computes
 * (github.com/Chirfen/mptcp, net/mptcp/mptcp_mpcubic.c).
 *
 * Departures from that module:
 *  - φ and δ are computed from the windows and RTTs of each subflow. The module keeps one pair for the connection, that of the subflow
 *    with the latest ACK.
 *  - The larger one of W(t) and W_est decides, as in RFC 9438. The module decides by the windows that one CUBIC would have.
 *  - HyStart, as in Linux's CUBIC. In the module it is off unless requested.
 *
 * Fixed point. φ in Q30. δ · C · (t − K)³ = C · (σ · t − σ · K)³ with σ = ∛δ, and σ · K is CUBIC's K: the curve is CUBIC's in a time
 * that runs at the speed σ. σ in Q20.
 */
#ifndef MPCC_MPCUBIC_H
#define MPCC_MPCUBIC_H

#include "cubic.h"
#include "lia.h"

#define MPCC_MPCUBIC_SHIFT       30 /* of φ */
#define MPCC_MPCUBIC_SPEED_SHIFT 20 /* of σ */

struct mpcc_mpcubic_avoidance {
	struct mpcc_cubic_avoidance cubic; /* first: where mpcc_cubic() finds it */
	u32 factor; /* φ, Q30 */
	u32 speed; /* σ = φ^(2/3), Q20 */
	struct mpcc_cache cache; /* of both */
};

#define mpcc_mpcubic(s) mpcc_avoidance_state(s, struct mpcc_mpcubic_avoidance)

/* Computes φ and σ from the group's `linked`, LIA's increase for each acknowledged segment, Q40. */
MPCC_INLINE void mpcc_mpcubic_weigh(struct mpcc_mpcubic_avoidance *v, u64 linked, u32 cwnd)
{
	u64 factor = linked * cwnd;

	if (factor >= MPCC_ONE) {
		v->factor = 1U << MPCC_MPCUBIC_SHIFT;
		v->speed = 1U << MPCC_MPCUBIC_SPEED_SHIFT;
		return;
	}
	v->factor = factor >> (MPCC_ONE_SHIFT - MPCC_MPCUBIC_SHIFT);
	/* ∛ of φ² in Q60. */
	v->speed = mpcc_cube_root((u64)v->factor * v->factor);
}

MPCC_INLINE void mpcc_mpcubic_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				    struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	struct mpcc_mpcubic_avoidance *v = mpcc_mpcubic(s);
	struct mpcc_cubic_avoidance *cubic = &v->cubic;
	u32 cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1);
	u64 target, alpha;

	(void)note;
	if (!mpcc_own_slot(c, s))
		mpcc_mpcubic_weigh(v, MPCC_ONE, cwnd);
	else if (mpcc_expired(c, s, &v->cache, tcp->cwnd, acked))
		mpcc_mpcubic_weigh(v, mpcc_lia_increase(c, s->group), cwnd);
	if (!cubic->running)
		mpcc_cubic_begin(cubic, tcp, cwnd);

	alpha = (MPCC_CUBIC_ALPHA >> 10) * v->factor >> (MPCC_MPCUBIC_SHIFT - 10);
	cubic->reno += alpha / cwnd * mpcc_min(acked, MPCC_CWND_MAX);
	if (cubic->reno > (u64)MPCC_CWND_MAX << MPCC_ONE_SHIFT)
		cubic->reno = (u64)MPCC_CWND_MAX << MPCC_ONE_SHIFT;

	target = mpcc_cubic_window(cubic->k, cubic->origin,
				   (u64)mpcc_cubic_time(cubic, tcp) * v->speed >>
					   MPCC_MPCUBIC_SPEED_SHIFT);
	if (target < cubic->reno)
		target = cubic->reno;
	mpcc_grow(s, tcp, mpcc_cubic_increase(target, cwnd, !cubic->w_max), acked);
}

static const struct mpcc_avoidance_ops mpcc_mpcubic_avoidance_ops = {
	.name = "mpcubic",
	.sample = mpcc_cubic_sample,
	.begin = mpcc_cubic_begin_hystart,
	.resume = mpcc_cubic_resume_hystart,
	.exit = mpcc_cubic_exit,
	.avoid = mpcc_mpcubic_avoid,
	.ssthresh = mpcc_cubic_ssthresh,
	.set_state = mpcc_cubic_set_state,
	.tx_start = mpcc_cubic_tx_start,
};

#endif
