/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One subflow: the endpoint's state that an algorithm may use (Linux: struct tcp_sock), the algorithm's own state (Linux:
 * icsk_ca_priv, 104 bytes), and the report of a callback.
 */
#ifndef MPCC_SUBFLOW_H
#define MPCC_SUBFLOW_H

#include "connection.h"

/* The endpoint's fields that an algorithm reads. It writes `cwnd`, and `ssthresh` where it ends slow start by itself. */
struct mpcc_tcp {
	u32 cwnd; /* segments */
	u32 cwnd_clamp; /* segments: the largest window that the endpoint allows */
	u32 ssthresh; /* segments */
	u32 srtt8; /* smoothed RTT in eighths of a microsecond (tcp_sock.srtt_us); 0: no sample */
	u32 flight; /* segments in flight, after the ACK being processed (tcp_packets_in_flight) */
	u8 cwnd_limited; /* not 0: the window limits the sender (tcp_is_cwnd_limited) */
	/* not 0: the endpoint spreads its segments over time (sk_pacing_status other than SK_PACING_NONE) */
	u8 paced;
	/*
	 * 1: data goes to this subflow only while no other subflow can send (RFC 8684, 3.3.8; Linux:
	 * mptcp_subflow_context.backup or request_bkup). Used while nothing is in flight; otherwise it may be 0.
	 */
	u8 backup;
	u8 uncoupled; /* 1: the administrator has switched coupling off; the subflow is in a group of its own */
	u32 rtt_us; /* RTT sample of the ACK being processed, at least 1 µs; 0: none */
	u32 idle_ms; /* at MPCC_EVENT_TX_START: time since the last transmission (tcp_sock.lsndtime) */
	u64 now; /* ns since an arbitrary moment, never decreasing (tcp_sock.tcp_mstamp) */
};

/* Congestion states, with Linux's numbers (enum tcp_ca_state). */
enum mpcc_state {
	MPCC_STATE_OPEN = 0,
	MPCC_STATE_DISORDER = 1,
	MPCC_STATE_CWR = 2,
	MPCC_STATE_RECOVERY = 3,
	MPCC_STATE_LOSS = 4,
};

/* Whether the endpoint reduces the window in this state by itself (tcp_in_cwnd_reduction). */
MPCC_INLINE bool mpcc_is_reducing(u8 state)
{
	return state == MPCC_STATE_CWR || state == MPCC_STATE_RECOVERY;
}

/* Events other than ACKs, with Linux's numbers (enum tcp_ca_event). */
enum mpcc_event {
	MPCC_EVENT_TX_START = 0, /* first transmission with nothing in flight */
	MPCC_EVENT_CWND_RESTART = 1, /* the window was reset after an idle time (RFC 5681, 4.1) */
};

/*
 * Private state of a subflow. Zero before init.
 *
 * Each header declares the state of its part as a structure, struct mpcc_NAME_avoidance or struct mpcc_NAME_slow_start, and finds
 * it at the start of `avoidance` or `slow_start`, as Linux's algorithms find theirs in icsk_ca_priv (inet_csk_ca). table.h checks the
 * sizes.
 */
struct mpcc_subflow {
	u64 growth; /* fraction of a segment that the window has grown by, Q40 */
	u64 avoidance[6];
	u64 slow_start[4];
	u32 cwnd_before_loss; /* segments, for undo */
	u8 ready : 1; /* init has run */
	u8 initial : 1; /* slow start has not ended yet, neither by a loss nor by a rule of its own */
	u8 initial_before_loss : 1; /* `initial` before the last reduction, for undo */
	u8 slot; /* in the connection, or MPCC_NO_SLOT, MPCC_NO_ROOM */
	u8 group;
	u8 state; /* enum mpcc_state */
};

#define mpcc_avoidance_state(s, type)  ((type *)(s)->avoidance)
#define mpcc_slow_start_state(s, type) ((type *)(s)->slow_start)

_Static_assert(sizeof(struct mpcc_tcp) == 40 && sizeof(struct mpcc_subflow) == 96, "no padding");

/* Report of a callback. `what` is 0 after nearly all callbacks. */
struct mpcc_note {
	u32 what; /* MPCC_NOTE_ bits */
	u16 settled; /* bit i: this subflow settled the credit of slot i */
	u16 voided; /* bit i: the credit of slot i became void */
	u16 withdrawn; /* segments of this subflow's credit that it returned */
	u8 lender; /* the slot that it returned them to */
	u8 reserved;
	u32 credit; /* segments taken, or settled */
	u32 ignored; /* settled: acknowledged segments that will not grow the window */
	u32 sum_before; /* settled: Σ cwnd of the group before the joins: with the lender's whole window, without the credits */
	u32 sum_after; /* settled: Σ cwnd of the group after the settlement */
	u32 rest; /* acknowledged segments left for the backend's own congestion avoidance (Linux's CUBIC) */
};

#define MPCC_NOTE_TAKEN   (1U << 0) /* this new subflow took a credit */
#define MPCC_NOTE_SETTLED (1U << 1) /* this subflow settled its debits */
#define MPCC_NOTE_VOID    (1U << 2) /* its debits became void */
#define MPCC_NOTE_WITHDRAWN                                                                        \
	(1U << 3) /* this subflow returned its credit before the lender settled it */
#define MPCC_NOTE_SLOW_START_EXIT (1U << 4)
#define MPCC_NOTE_LOSS            (1U << 5)
#define MPCC_NOTE_MOVED           (1U << 6) /* to the requested group */

/* cwnd < ssthresh. */
MPCC_INLINE bool mpcc_below_ssthresh(const struct mpcc_tcp *tcp)
{
	return tcp->cwnd < tcp->ssthresh;
}

/*
 * Whether the subflow has a slot in its connection. Not `< MPCC_SUBFLOWS`: the compiler would then leave out the mask of MPCC_SLOT,
 * which the verifier needs.
 */
MPCC_INLINE bool mpcc_has_slot(const struct mpcc_subflow *s)
{
	return s->slot < MPCC_NO_ROOM;
}

/* The subflow's own slot; NULL if it runs alone. */
MPCC_INLINE struct mpcc_slot *mpcc_own_slot(struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	struct mpcc_slot *slot = NULL;

	if (c && mpcc_has_slot(s)) {
		MPCC_OPAQUE(c); /* no arithmetic before the test, which the verifier refuses */
		slot = &c->slot[MPCC_SLOT(s->slot)];
	}
	MPCC_OPAQUE(slot);
	return slot;
}

/* The window as published. */
MPCC_INLINE u32 mpcc_published_cwnd(const struct mpcc_tcp *tcp)
{
	return mpcc_at_most(tcp->cwnd, MPCC_CWND_MAX);
}

/* Grows the window by `acked` times `increase` (Q40). Keeps the fraction of a segment for the next call. */
MPCC_INLINE void mpcc_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u64 increase, u32 acked)
{
	u64 growth = s->growth + increase * mpcc_min(acked, MPCC_CWND_MAX);
	u32 whole = growth >> MPCC_ONE_SHIFT;

	s->growth = growth & (MPCC_ONE - 1);
	if (tcp->cwnd < tcp->cwnd_clamp)
		tcp->cwnd = mpcc_min(tcp->cwnd + whole, tcp->cwnd_clamp);
}

#endif
