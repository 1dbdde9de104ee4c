/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reno's congestion avoidance and reduction (RFC 5681, 3.1 and 3.2): cwnd grows by one segment for each window
 * of acknowledged segments, and is halved by a loss. The single-path part of every algorithm here.
 */
#ifndef MPCC_RENO_H
#define MPCC_RENO_H

#include "../stages.h"

#define MPCC_SSTHRESH_MIN 2 /* segments: RFC 5681, equation 4 */

struct mpcc_reno_avoidance {
};

MPCC_INLINE void mpcc_reno_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	mpcc_grow(s, tcp, mpcc_one_per(mpcc_max(tcp->cwnd, 1)), acked);
}

MPCC_INLINE void mpcc_reno_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				 struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	(void)c, (void)note;
	mpcc_reno_grow(s, tcp, acked);
}

MPCC_INLINE u32 mpcc_reno_ssthresh(const struct mpcc_tcp *tcp)
{
	return mpcc_max(tcp->cwnd / 2, MPCC_SSTHRESH_MIN);
}

static const struct mpcc_avoidance_ops mpcc_reno_avoidance_ops = {
	.name = "reno",
	.avoid = mpcc_reno_avoid,
};

#endif
