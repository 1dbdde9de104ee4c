/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subflow that joins a connection which has no room for it: all slots are taken, or the backend has no memory left for the
 * connection. It can be coupled with no other subflow. On a shared bottleneck, uncoupled subflows would take several shares, and a
 * user could open connections until there is no room. Such a subflow therefore starts with the smallest initial window of LISA
 * (papers: LISA, Algorithm 1), and grows an eighth as fast as Reno (RFC 5681, 3.1).
 */
#ifndef MPCC_NO_ROOM_H
#define MPCC_NO_ROOM_H

#include "subflow.h"

#define MPCC_NO_ROOM_IW   3 /* initial window, segments */
#define MPCC_NO_ROOM_PART 8 /* of Reno's growth */

MPCC_INLINE bool mpcc_has_no_room(const struct mpcc_subflow *s)
{
	return s->slot == MPCC_NO_ROOM;
}

MPCC_INLINE void mpcc_no_room_on_ack(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	u64 increase = MPCC_ONE / MPCC_NO_ROOM_PART; /* for each acknowledged segment */

	if (!tcp->cwnd_limited)
		return;
	if (!mpcc_below_ssthresh(tcp))
		increase /= mpcc_max(tcp->cwnd, 1);
	mpcc_grow(s, tcp, increase, acked);
}

#endif
