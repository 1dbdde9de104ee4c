/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An example to start from: EWTCP, equally weighted TCP. For each acknowledged segment
 *
 *     w_i += 1 / (n² · w_i),   n subflows in the group
 *
 * and a loss halves the window, as in Reno. A window that grows by a/w for each segment and is halved at the loss rate p is √(2a/p)
 * segments in equilibrium. With a = 1/n² it is one n-th of Reno's: all subflows together take as much of a shared bottleneck as one
 * TCP. On separate paths each subflow takes one n-th, too, which is the weakness of EWTCP.
 *
 * Source: after Honda, Nishida, Eggert, Sarolahti, Tokuda, "Multipath Congestion Control for Shared Bottleneck", PFLDNeT 2009.
 *
 * Departure: the weights are constant, where the paper's are not.
 *
 * Fixed point: the increase is rounded up in Q40, so that n² · w acknowledged segments add one whole segment. With 16 subflows and
 * windows up to 2^20 segments it is at least 2^12: the error is below 2^-12 of it.
 *
 * This file is not in the table. CONTRIBUTING.md has the steps from a copy of it to an algorithm in the simulator and the kernel, and
 * notebooks/6-new-algorithm.ipynb takes them.
 */
#ifndef MPCC_EWTCP_H
#define MPCC_EWTCP_H

#include "../avoidance/reno.h"

/* --- Constants: each with its unit and its source --------------------------------------------------------------------- */

#define MPCC_EWTCP_SUBFLOWS_MIN 1 /* subflows: one that was not published yet counts itself */

/*
 * --- State of a subflow ------------------------------------------------------------------------------------------------
 *
 * Zero before init. At most 48 bytes for a congestion avoidance and 32 for a slow start; the compiler checks that. Values that other
 * subflows read do not belong here but in the slot (mpcc_slot.avoidance).
 */
struct mpcc_ewtcp_avoidance {
	u32 subflows; /* n, as counted on the last ACK */
};

#define mpcc_ewtcp(s) mpcc_avoidance_state(s, struct mpcc_ewtcp_avoidance)

/* --- Stages: those of struct mpcc_avoidance_ops that the algorithm needs (stages.h) ----------------------------------------- */

/*
 * An ACK of `acked` segments outside of slow start and of a reduction, where the window limits the sender. `c` has no slot of this
 * subflow if it runs alone: plain TCP, or a connection without room.
 */
MPCC_INLINE void mpcc_ewtcp_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	struct mpcc_ewtcp_avoidance *v = mpcc_ewtcp(s);
	u32 cwnd = mpcc_min(mpcc_max(tcp->cwnd, 1), MPCC_CWND_MAX);

	(void)note; /* for reports to user space */
	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_grow(s, tcp, acked);
		return;
	}
	v->subflows = mpcc_max(mpcc_group_size(c, s->group), MPCC_EWTCP_SUBFLOWS_MIN);
	/* Q40; mpcc_grow keeps the fraction of a segment for the next ACK. */
	mpcc_grow(s, tcp, mpcc_one_per(v->subflows * v->subflows * cwnd), acked);
}

/* A loss, a congestion signal or an RTO: the threshold to reduce to, segments. */
MPCC_INLINE u32 mpcc_ewtcp_ssthresh(struct mpcc_connection *c, struct mpcc_subflow *s,
				    const struct mpcc_tcp *tcp)
{
	(void)c, (void)s;
	return mpcc_reno_ssthresh(tcp);
}

static const struct mpcc_avoidance_ops mpcc_ewtcp_avoidance_ops = {
	.name = "ewtcp",
	.avoid = mpcc_ewtcp_avoid,
	.ssthresh = mpcc_ewtcp_ssthresh,
};

#endif
