/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Slow start of a single TCP, each subflow by itself (RFC 5681, 3.1; initial window: RFC 6928).
 *
 * cwnd += acknowledged segments, while cwnd < ssthresh. Segments acknowledged beyond ssthresh count in congestion avoidance
 * (Linux: tcp_slow_start).
 */
#ifndef MPCC_UNCOUPLED_H
#define MPCC_UNCOUPLED_H

#include "hystart.h"

struct mpcc_uncoupled_slow_start {
	struct mpcc_hystart hystart;
};

/* Returns the acknowledged segments left for congestion avoidance. */
MPCC_INLINE u32 mpcc_double(struct mpcc_tcp *tcp, u32 acked)
{
	u32 room = tcp->ssthresh - tcp->cwnd;
	u32 used = mpcc_min(acked, room);

	tcp->cwnd = mpcc_min(tcp->cwnd + used, mpcc_max(tcp->cwnd_clamp, tcp->cwnd));
	return acked - used;
}

MPCC_INLINE u32 mpcc_uncoupled_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	(void)s;
	return mpcc_double(tcp, acked);
}

static const struct mpcc_slow_start_ops mpcc_uncoupled_slow_start_ops = {
	.name = "uncoupled",
	.grow = mpcc_uncoupled_grow,
};

#endif
