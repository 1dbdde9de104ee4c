/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state that the subflows of one connection share: one slot each, written by its owner and read by the others.
 *
 * A subflow changes only its own window. To take segments from another subflow, it adds a debit to that subflow's account,
 * and the owner settles the debit on its next ACK. An account is one 64-bit word, so that a window and its debits are always
 * read together. No lock is needed, although Linux runs the callbacks of two subflows on two CPUs at the same time.
 *
 * Coupling acts within a group: sums, counts and credits consider only subflows of the same group. All subflows are in group 0
 * unless network assistance requests otherwise (mpcc_request_group). A request is stored in the subflow's slot; the owner
 * moves on its next ACK. The headers of the algorithms describe the effect of a move on credits and sums.
 */
#ifndef MPCC_CONNECTION_H
#define MPCC_CONNECTION_H

#include "fixed.h"

/*
 * Number of coupled subflows in one connection; further ones run alone. Linux's in-kernel path manager creates at most nine
 * (MPTCP_SUBFLOWS_MAX is 8); a path manager in user space may create more.
 */
#define MPCC_SUBFLOWS   16
#define MPCC_SLOT(i)    ((i) & (MPCC_SUBFLOWS - 1)) /* the mask bounds the index for the verifier */
#define MPCC_EVERY_SLOT ((1U << MPCC_SUBFLOWS) - 1)

#define MPCC_GROUP_MAX 238
/* The group of the subflow in slot i alone, while coupling is switched off (mpcc_tcp.uncoupled): 239 to 254. */
#define MPCC_OWN_GROUP(i) (MPCC_GROUP_MAX + 1 + MPCC_SLOT(i))
#define MPCC_NO_GROUP     255 /* published during a move between groups: matches no group */
#define MPCC_EPOCHS       8
#define MPCC_SETTINGS                                                                              \
	4 /* of one pair: two of its slow start, then two of its congestion avoidance */

/* Limit of attempts at a contended word. Each failed attempt is a success of another subflow. */
#define MPCC_TRIES 32

enum mpcc_phase {
	MPCC_ABSENT, /* no subflow, or its initial window is not set yet */
	MPCC_STANDBY, /* a backup subflow that has nothing in flight: not coupled (RFC 8684, 3.3.8) */
	MPCC_SLOW_START, /* cwnd < ssthresh */
	MPCC_AVOIDANCE,
	MPCC_RECOVERY, /* reducing after a loss, a congestion signal or an RTO */
};

/* A window, and the debits against it that its owner has not settled yet. */
union mpcc_account {
	u64 word;
	struct {
		u32 cwnd; /* segments, up to MPCC_CWND_MAX; written by the owner only */
		u16 debit; /* segments taken by `borrowers` */
		u16 borrowers; /* bit i: the subflow in slot i took its `credit` from this account */
	};
};

/* The group requested for a subflow. Written by the requesting program, and once by the owner when it starts. */
union mpcc_group_request {
	u32 word;
	struct {
		u8 group;
		u8 unused;
		u16 generation; /* distinguishes successive owners of one slot; 0 in backends where a request is never late */
	};
};

struct mpcc_slot {
	union mpcc_account account;
	u32 srtt8; /* smoothed RTT in eighths of a microsecond, up to MPCC_SRTT8_MAX; 0: no sample */
	u32 flight; /* segments in flight after the last callback */
	u32 ssthresh; /* segments */
	u8 phase; /* enum mpcc_phase */
	u8 group; /* up to MPCC_GROUP_MAX; MPCC_OWN_GROUP; MPCC_NO_GROUP */
	u8 credit; /* segments of the initial window that this subflow took from `lender` */
	u8 lender; /* slot of the subflow that lent `credit`, or MPCC_NO_SLOT */

	/* Published by the slow start. Its header names the words. Zero at the start. */
	u32 slow_start[2];
	/* Published by the congestion avoidance. Its header names the words. Zero at the start. */
	u32 avoidance[2];

	/* Statistics; no algorithm reads them. */
	u32 losses; /* window reductions: recoveries, congestion signals, RTOs */
	u16 credits_settled; /* credits that this subflow settled as a lender */
	u16 credits_void; /* credits taken from this subflow that became void; withdrawn credits are not counted */
	u32 segments_ignored; /* acknowledged segments that did not grow the window (LISA) */
	u32 initial_cwnd; /* window after init, segments */

	union mpcc_group_request request;
	u32 reserved;
} __attribute__((aligned(64))); /* one cache line: one writer, many readers */

struct mpcc_connection {
	/* Bit i: slot i has an owner. From MPCC_TAG_SHIFT on: the connection's tag. MPCC_NO_OWNER while the memory is free. */
	u32 used;
	/*
	 * Epoch of each group (group modulo MPCC_EPOCHS): incremented when a published window changes. Two simultaneous changes may
	 * increment it once. A sum cached between them then expires after one window of acknowledged segments, as without a change.
	 */
	u32 epoch[MPCC_EPOCHS];
	u32 setting[MPCC_SETTINGS]; /* values of the pair's settings: struct mpcc_setting */
	u32 slow_start; /* word of the slow start; zero at the start */
	u32 avoidance; /* word of the congestion avoidance; zero at the start */
	struct mpcc_slot slot[MPCC_SUBFLOWS];
};

_Static_assert(sizeof(struct mpcc_slot) == 64, "a slot is one cache line");
_Static_assert(sizeof(struct mpcc_connection) == 64 + 64 * MPCC_SUBFLOWS, "slots are aligned");

#define MPCC_NO_OWNER  (1U << 31)
#define MPCC_TAG_SHIFT 16
#define MPCC_TAGS      (1U << 15)
#define MPCC_NO_SLOT   0xff /* the subflow runs alone */
#define MPCC_NO_ROOM                                                                               \
	0xfe /* the subflow joined a connection that has no room for it, and runs alone (no_room.h) */

/*
 * Opens the connection for subflows with this tag, for a backend that reuses memory while another CPU may still read it: there `used`
 * is MPCC_NO_OWNER before, and the tag distinguishes the connections. (Elsewhere zero memory is an open connection with the tag 0.)
 *
 * A release: another CPU that attaches also reads the settings and all other bytes written before. A plain store does not order them
 * on arm64. The compare-and-swap does, and cannot fail, because no CPU changes `used` between MPCC_NO_OWNER and this call.
 */
MPCC_INLINE void mpcc_open(struct mpcc_connection *c, u32 tag)
{
	(void)MPCC_SWAP_IF(&c->used, MPCC_NO_OWNER, tag % MPCC_TAGS << MPCC_TAG_SHIFT);
}

/*
 * Takes the lowest free slot for a new subflow. MPCC_NO_ROOM if all are taken. MPCC_NO_SLOT if this memory does not hold the connection
 * with this tag: its last subflow closes at this moment, so that there is no other one to be coupled with, or its first one has not
 * opened it yet.
 */
MPCC_WRAPS MPCC_INLINE u8 mpcc_attach(struct mpcc_connection *c, u32 tag)
{
	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		u32 seen = MPCC_READ(c->used);
		u32 free = ~seen & MPCC_EVERY_SLOT;
		u32 bit = free & -free; /* the lowest */
		u32 i = __builtin_popcount(bit - 1);

		if (seen >> MPCC_TAG_SHIFT != tag % MPCC_TAGS)
			return MPCC_NO_SLOT;
		if (!free)
			break;
		if (MPCC_SWAP_IF(&c->used, seen, seen | bit)) {
			struct mpcc_slot *slot = &c->slot[MPCC_SLOT(i)];

			__builtin_memset(slot, 0, sizeof(*slot));
			slot->lender = MPCC_NO_SLOT;
			return MPCC_SLOT(i);
		}
	}
	return MPCC_NO_ROOM;
}

/* Returns a slot. True for the last subflow: its backend then frees the connection. */
MPCC_INLINE bool mpcc_detach(struct mpcc_connection *c, u8 i)
{
	u32 bit = 1U << MPCC_SLOT(i);

	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		u32 seen = MPCC_READ(c->used);
		u32 next = seen & ~bit;

		if (!(next & MPCC_EVERY_SLOT))
			next = MPCC_NO_OWNER;
		if (MPCC_SWAP_IF(&c->used, seen, next))
			return next == MPCC_NO_OWNER;
	}
	return false;
}

/* A number that changes with the published windows of a group. Groups with separate epochs never have equal numbers. */
MPCC_WRAPS MPCC_INLINE u32 mpcc_epoch(const struct mpcc_connection *c, u8 group)
{
	u32 i = group & (MPCC_EPOCHS - 1);

	return MPCC_READ(c->epoch[i]) * MPCC_EPOCHS + i;
}

MPCC_WRAPS MPCC_INLINE void mpcc_next_epoch(struct mpcc_connection *c, u8 group)
{
	u32 i = group & (MPCC_EPOCHS - 1);

	MPCC_WRITE(c->epoch[i], c->epoch[i] + 1);
}

/*
 * Requests that the subflow in slot i, of this generation, move to a group. False if there is no such subflow (any more) or no
 * such group. A later owner of the slot has another generation, so that its word never matches.
 */
MPCC_INLINE bool mpcc_request_group(struct mpcc_connection *c, u32 i, u16 generation, u8 group)
{
	struct mpcc_slot *slot = &c->slot[MPCC_SLOT(i)];

	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		union mpcc_group_request seen = { .word = MPCC_READ(slot->request.word) };
		union mpcc_group_request next = { .group = group, .generation = seen.generation };

		if (MPCC_READ(slot->phase) == MPCC_ABSENT || seen.generation != generation ||
		    group > MPCC_GROUP_MAX)
			return false;
		if (MPCC_SWAP_IF(&slot->request.word, seen.word, next.word))
			return true;
	}
	return false;
}

#endif
