/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Slow start as every TCP does it, each subflow for itself (RFC 5681, 3.1; initial window: RFC 6928).
 *
 * cwnd += acknowledged segments, while cwnd < ssthresh. What an ACK acknowledges beyond ssthresh counts in
 * congestion avoidance (Linux: tcp_slow_start).
 */
#ifndef MPCC_UNCOUPLED_H
#define MPCC_UNCOUPLED_H

#include "../subflow.h"

/* Returns the acknowledged segments that slow start did not use. */
MPCC_INLINE u32 mpcc_slow_start(struct mpcc_tcp *tcp, u32 acked)
{
	u32 room = tcp->ssthresh - tcp->cwnd;
	u32 used = mpcc_min(acked, room);

	tcp->cwnd = mpcc_min(tcp->cwnd + used, mpcc_max(tcp->cwnd_clamp, tcp->cwnd));
	return acked - used;
}

#endif
