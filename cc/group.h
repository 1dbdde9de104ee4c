/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums over the subflows of a group, and when to compute them again. Every algorithm that couples windows uses these.
 *
 * Members of a group are its subflows that send. A backup subflow counts only while it has segments in flight (MPCC_STANDBY).
 */
#ifndef MPCC_GROUP_H
#define MPCC_GROUP_H

#include "subflow.h"

#define MPCC_RATE_SHIFT 14 /* of sums of windows scaled by RTT ratios, mpcc_group_rate */

/* Every slot up to the highest in use. `used` is read once, so that the loop is bounded for the verifier. */
#define MPCC_FOR_EACH_SLOT(i, used) for (u32 i = 0; i < MPCC_SUBFLOWS && (used) >> i; i++)

MPCC_INLINE u32 mpcc_used_slots(const struct mpcc_connection *c)
{
	return MPCC_READ(c->used) & MPCC_EVERY_SLOT;
}

/* Whether the subflow in slot i is a member of this group. */
MPCC_INLINE bool mpcc_in_group(const struct mpcc_connection *c, u32 i, u8 group)
{
	const struct mpcc_slot *slot = &c->slot[MPCC_SLOT(i)];

	return MPCC_READ(slot->phase) > MPCC_STANDBY && MPCC_READ(slot->group) == group;
}

/* Reads window and smoothed RTT of the subflow in slot i. False if it is not in the group or has no RTT sample. */
MPCC_INLINE bool mpcc_measured(const struct mpcc_connection *c, u32 i, u8 group, u32 *w, u32 *t)
{
	*w = MPCC_READ(c->slot[i].account.cwnd);
	*t = MPCC_READ(c->slot[i].srtt8);
	return mpcc_in_group(c, i, group) && *w && *t;
}

/* Σ cwnd of a group, segments. */
MPCC_INLINE u32 mpcc_group_cwnd(const struct mpcc_connection *c, u8 group)
{
	u32 sum = 0;

	for (u32 i = 0; i < MPCC_SUBFLOWS; i++)
		if (mpcc_in_group(c, i, group))
			sum += MPCC_READ(c->slot[i].account.cwnd);
	return sum;
}

/* Number of members of a group. */
MPCC_SEPARATE u32 mpcc_group_size(const struct mpcc_connection *c, u8 group)
{
	u32 size = 0, used;

	if (!c)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	{
		size += mpcc_in_group(c, i, group);
		MPCC_UNKNOWN(size);
	}
	return size;
}

/*
 * Σ w_j · t/t_j in Q14: the sum of the rates, as a window at the RTT t. At least `least` segments, the caller's own term: a
 * concurrent change of another slot may make the sum smaller than it.
 */
MPCC_SEPARATE u64 mpcc_group_rate(const struct mpcc_connection *c, u8 group, u32 t, u32 least)
{
	u64 sum = 0, known = (u64)least << MPCC_RATE_SHIFT;
	u32 w, t_j, used;

	if (!c)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	if (mpcc_measured(c, i, group, &w, &t_j))
		sum += t_j == t ? (u64)w << MPCC_RATE_SHIFT : ((u64)w << MPCC_RATE_SHIFT) * t / t_j;
	return sum < known ? known : sum;
}

/* A result computed from the windows of a group. It is valid for one epoch, and for one window of acknowledged segments. */
struct mpcc_cache {
	u32 epoch; /* mpcc_epoch of the windows that it was computed from */
	u32 remaining; /* acknowledged segments until it expires, which bounds its age to about an RTT */
};

/*
 * Accounts for `acked` segments. True if the result must be computed again: a window of the group has changed, or a
 * whole window of segments was acknowledged, during which RTTs change too (RFC 6356, 4 allows one computation an RTT).
 *
 * Reads the epoch before the caller reads the windows: a concurrent change then carries a later epoch and invalidates the result.
 */
MPCC_INLINE bool mpcc_expired(const struct mpcc_connection *c, const struct mpcc_subflow *s,
			      struct mpcc_cache *cache, u32 cwnd, u32 acked)
{
	u32 epoch = mpcc_epoch(c, s->group);
	bool expired = cache->epoch != epoch || cache->remaining < acked;

	if (expired) {
		cache->epoch = epoch;
		cache->remaining = mpcc_max(cwnd, 1);
	}
	cache->remaining = mpcc_minus(cache->remaining, acked);
	return expired;
}

#endif
