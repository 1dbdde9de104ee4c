/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the subflows of one connection share: a slot each, which its owner writes and the others read.
 *
 * A subflow changes only itself. To take from another's window it leaves a debit in that subflow's account,
 * which the owner settles. An account is one 64-bit word, so that a window and what is owed from it are always
 * seen together, and no lock is needed: on Linux two subflows run at the same time on two CPUs.
 *
 * Coupling acts within a group: what a subflow looks for, sums up, counts or takes from is of its own group. All are in
 * group 0 unless somebody who knows the network asks for another (mpcc_ask_group). That is a wish in the subflow's slot,
 * to which its owner moves on its next ACK; algorithm.h has what becomes of what is between it and those it leaves.
 */
#ifndef MPCC_CONNECTION_H
#define MPCC_CONNECTION_H

#include "fixed.h"

/*
 * Subflows that are coupled in one connection; further ones run alone. Linux's path manager makes at most
 * one and eight more (MPTCP_SUBFLOWS_MAX); a path manager in user space may make more.
 */
#define MPCC_SUBFLOWS 16
#define MPCC_SLOT(i)                                                                               \
	((i) & (MPCC_SUBFLOWS - 1)) /* for the verifier, which wants to see the bound */
#define MPCC_EVERY_SLOT ((1U << MPCC_SUBFLOWS) - 1)

#define MPCC_GROUP_MAX 254
#define MPCC_NO_GROUP                                                                              \
	255 /* shown while a subflow moves from one group to another: nobody is in it */
#define MPCC_EPOCHS 8

/* Bounds the attempts at a contended word; each failure is another subflow's success. */
#define MPCC_TRIES 32

enum mpcc_phase {
	MPCC_ABSENT, /* no subflow, or its initial window is not decided yet */
	MPCC_SLOW_START, /* cwnd < ssthresh */
	MPCC_AVOIDANCE,
	MPCC_RECOVERY, /* reducing after a loss, a congestion signal or an RTO */
};

/* A window and the debits against it that its owner has not yet settled. */
union mpcc_account {
	u64 word;
	struct {
		u32 cwnd; /* segments, to MPCC_CWND_MAX; only the owner writes it */
		u16 debit; /* segments taken by `takers` */
		u16 takers; /* bit i: the subflow in slot i took its `credit` here */
	};
};

/* The group that a subflow is asked to be in. Whoever asks writes it, and its owner once, when it starts. */
union mpcc_wish {
	u32 word;
	struct {
		u8 group;
		u8 unused;
		u16 serial; /* tells the subflows that have one slot after another apart; 0 where nobody can mistake them */
	};
};

struct mpcc_slot {
	union mpcc_account account;
	u32 srtt8; /* smoothed RTT in eighths of a microsecond, to MPCC_SRTT8_MAX; 0: no sample */
	u32 flight; /* segments in flight, as of the last callback */
	u32 ssthresh; /* segments */
	u8 phase; /* enum mpcc_phase */
	u8 group; /* to MPCC_GROUP_MAX, or MPCC_NO_GROUP; subflows of different groups are not coupled */
	u8 credit; /* segments that this subflow took for its initial window, */
	u8 lender; /* from the subflow in this slot */
	u32 css_log_alpha; /* log2 α' as far as this subflow knows, Q32 (CSS) */
	u8 css_over; /* not 0: the connection's initial slow start is over (CSS) */
	u8 reserved[3];
	u32 nmcc_weight; /* of 1/rtt² in Ω: the window in slow start, 1 after it (NMCC) */

	/* Counted for whoever asks; no algorithm reads them. */
	u32 losses; /* reductions: recoveries, congestion signals, RTOs */
	u16 credits_settled; /* given to others */
	u16 credits_void; /* taken from this subflow and not settled, but for those withdrawn */
	u32 segments_ignored; /* acknowledged and not counted for growth (LISA) */
	u32 joined_cwnd; /* the initial window, segments */

	/* OLIA: segments acknowledged, counted to 2^32 - 1 */
	u32 acked_since; /* since the last reduction */
	u32 between_losses; /* the larger of that and of those between the last two: l */

	union mpcc_wish wish;
} __attribute__((aligned(64))); /* a cache line each: one writer, many readers */

struct mpcc_connection {
	/* Bit i: slot i has an owner. From MPCC_MARK_SHIFT on: whose it is. MPCC_OVER: nobody's, not yet or not any more. */
	u32 used;
	/*
	 * Of each group, eight groups apart together: rises when a published window changes. Two that change at once
	 * may raise it once: then what was worked out from the windows is old for as long as it may be anyway, a window
	 * of acknowledged segments.
	 */
	u32 epoch[MPCC_EPOCHS];
	u32 con_ssthresh; /* where one TCP would leave slow start, segments (CSS); 0: not set, css.h has what then */
	struct mpcc_slot slot[MPCC_SUBFLOWS];
};

_Static_assert(sizeof(struct mpcc_slot) == 64, "a slot is one cache line");
_Static_assert(sizeof(struct mpcc_connection) == 64 + 64 * MPCC_SUBFLOWS, "slots are aligned");

#define MPCC_OVER       (1U << 31)
#define MPCC_MARK_SHIFT 16
#define MPCC_MARKS      (1U << 15)
#define MPCC_NO_SLOT    0xff /* this subflow runs alone */

/*
 * Subflows of the connection with this mark may enter from now on. A backend whose memory may become another connection's
 * while somebody still looks at it sets MPCC_OVER first, and marks by which connections are told apart; for others 0 will do.
 */
MPCC_INLINE void mpcc_open(struct mpcc_connection *c, u32 mark)
{
	MPCC_WRITE(c->used, mark % MPCC_MARKS << MPCC_MARK_SHIFT);
}

/*
 * Takes a free slot for a new subflow. MPCC_NO_SLOT when all are taken, or when this is not, or not any more, the
 * connection with this mark.
 */
MPCC_WRAPS MPCC_INLINE u8 mpcc_enter(struct mpcc_connection *c, u32 mark)
{
	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		u32 seen = MPCC_READ(c->used);
		u32 free = ~seen & MPCC_EVERY_SLOT;
		u32 bit = free & -free; /* the lowest */
		u32 i = __builtin_popcount(bit - 1);

		if (!free || seen >> MPCC_MARK_SHIFT != mark % MPCC_MARKS)
			break;
		if (MPCC_SWAP_IF(&c->used, seen, seen | bit)) {
			struct mpcc_slot *slot = &c->slot[MPCC_SLOT(i)];

			__builtin_memset(slot, 0, sizeof(*slot));
			slot->lender = MPCC_NO_SLOT;
			return MPCC_SLOT(i);
		}
	}
	return MPCC_NO_SLOT;
}

/* Gives a slot back. True for the last one to leave: it frees the connection. */
MPCC_INLINE bool mpcc_leave(struct mpcc_connection *c, u8 i)
{
	u32 bit = 1U << MPCC_SLOT(i);

	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		u32 seen = MPCC_READ(c->used);
		u32 next = seen & ~bit;

		if (!(next & MPCC_EVERY_SLOT))
			next = MPCC_OVER;
		if (MPCC_SWAP_IF(&c->used, seen, next))
			return next == MPCC_OVER;
	}
	return false;
}

/* What changes with the windows of a group. Those of two groups that count apart are never equal. */
MPCC_INLINE u32 mpcc_epoch(const struct mpcc_connection *c, u8 group)
{
	u32 i = group & (MPCC_EPOCHS - 1);

	return MPCC_READ(c->epoch[i]) * MPCC_EPOCHS + i;
}

MPCC_INLINE void mpcc_next_epoch(struct mpcc_connection *c, u8 group)
{
	u32 i = group & (MPCC_EPOCHS - 1);

	MPCC_WRITE(c->epoch[i], c->epoch[i] + 1);
}

/* Whether the subflow in slot i counts for one of this group: present, and in the same group. */
MPCC_INLINE bool mpcc_coupled(const struct mpcc_connection *c, u32 i, u8 group)
{
	const struct mpcc_slot *slot = &c->slot[MPCC_SLOT(i)];

	return MPCC_READ(slot->phase) != MPCC_ABSENT && MPCC_READ(slot->group) == group;
}

/*
 * Asks the subflow in slot i, of this serial, to move to a group. False where there is no such subflow (any more) or group.
 * Whoever has the slot next cannot be meant by mistake: its word is another.
 */
MPCC_INLINE bool mpcc_ask_group(struct mpcc_connection *c, u32 i, u16 serial, u8 group)
{
	struct mpcc_slot *slot = &c->slot[MPCC_SLOT(i)];

	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		union mpcc_wish seen = { .word = MPCC_READ(slot->wish.word) };
		union mpcc_wish next = { .group = group, .serial = seen.serial };

		if (MPCC_READ(slot->phase) == MPCC_ABSENT || seen.serial != serial ||
		    group > MPCC_GROUP_MAX)
			return false;
		if (MPCC_SWAP_IF(&slot->wish.word, seen.word, next.word))
			return true;
	}
	return false;
}

/* Σ cwnd of a group, in segments. */
MPCC_INLINE u32 mpcc_sum_cwnd(const struct mpcc_connection *c, u8 group)
{
	u32 sum = 0;

	for (u32 i = 0; i < MPCC_SUBFLOWS; i++)
		if (mpcc_coupled(c, i, group))
			sum += MPCC_READ(c->slot[i].account.cwnd);
	return sum;
}

#endif
