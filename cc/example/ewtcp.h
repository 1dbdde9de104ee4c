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

/*
 * --- State of a subflow ------------------------------------------------------------------------------------------------
 *
 * Zero before init. At most 48 bytes for a congestion avoidance and 32 for a slow start; the compiler checks that. Values that other
 * subflows read do not belong here but in the slot (mpcc_slot.avoidance).
 */
struct mpcc_ewtcp_avoidance {
	u64 increase; /* for each acknowledged segment, Q40 */
	struct mpcc_cache cache; /* of `increase` */
};

#define mpcc_ewtcp(s) mpcc_avoidance_state(s, struct mpcc_ewtcp_avoidance)

/* --- Stages: those of struct mpcc_avoidance_ops that the algorithm needs (stages.h) ----------------------------------------- */

/* 1/(n² · cwnd), Q40, for a window in segments. */
MPCC_INLINE u64 mpcc_ewtcp_increase(const struct mpcc_connection *c, u8 group, u32 cwnd)
{
	u32 n = mpcc_max(mpcc_group_size(c, group),
			 1); /* this subflow, if it is not published yet */

	return mpcc_one_per(n * n * mpcc_min(mpcc_max(cwnd, 1), MPCC_CWND_MAX));
}

/*
 * An ACK of `acked` segments outside of slow start and of a reduction, where the window limits the sender. The subflow has no slot if
 * it runs alone: plain TCP, or a connection without room.
 */
MPCC_INLINE void mpcc_ewtcp_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	struct mpcc_ewtcp_avoidance *v = mpcc_ewtcp(s);

	(void)note; /* for reports to user space */
	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_grow(s, tcp, acked);
		return;
	}
	/* After a change of a window of the group, and at least once a window. */
	if (mpcc_expired(c, s, &v->cache, tcp->cwnd, acked))
		v->increase = mpcc_ewtcp_increase(c, s->group, tcp->cwnd);
	/* Keeps the fraction of a segment for the next ACK. */
	mpcc_grow(s, tcp, v->increase, acked);
}

/* The stages that are left out have defaults: a loss reduces as Reno does. */
static const struct mpcc_avoidance_ops mpcc_ewtcp_avoidance_ops = {
	.name = "ewtcp",
	.avoid = mpcc_ewtcp_avoid,
};

#endif
