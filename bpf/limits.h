/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bounds on the number of connections with an entry (struct lisa_limits), and how many there are (struct lisa_usage). */
#ifndef LISA_LIMITS_H
#define LISA_LIMITS_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "contract.h"

/* Whether the connections of this user are bounded. */
static __always_inline bool is_limited(const struct lisa_limits *limits, u32 user)
{
	for (u32 i = 0; i < LISA_USER_RANGES && i < MPCC_READ(limits->ranges); i++)
		if (user >= MPCC_READ(limits->unlimited[i].first) &&
		    user <= MPCC_READ(limits->unlimited[i].last))
			return false;
	return true;
}

/* The counter of a user: a multiplicative hash (Knuth, The Art of Computer Programming 3, 6.4). */
static __always_inline u32 counter_of(u32 user, u32 seed)
{
	u32 hash = (user ^ seed) * 2654435769U;

	return hash >> 16 & (LISA_USERS - 1);
}

/* Adds 1 unless the result were above `limit`. Signed: a number below 0, if there ever were one, does not refuse all. */
static __always_inline bool take_one(u32 *number, u32 limit)
{
	if ((int)__sync_fetch_and_add(number, 1) < (int)limit)
		return true;
	__sync_fetch_and_add(number, -1);
	return false;
}

static __always_inline void return_one(u32 *number)
{
	__sync_fetch_and_add(number, -1);
}

enum admission {
	ADMITTED,
	FULL, /* as many connections as there may be */
	USER_FULL, /* as many as this user, or all bounded users, may have */
};

/* A user's counter. The mask right before the access bounds the index for the verifier. */
static __always_inline u32 *user_counter(struct lisa_usage *usage, u32 i)
{
	MPCC_UNKNOWN(i);
	return &usage->user[i & (LISA_USERS - 1)];
}

/* Counts a connection of this user. `counter`: lisa_connection.user. */
static __always_inline enum admission
admit(const struct lisa_limits *limits, struct lisa_usage *usage, u32 user, u32 seed, u32 *counter)
{
	u32 i = counter_of(user, seed);

	*counter = LISA_UNLIMITED;
	if (!take_one(&usage->connections, MPCC_READ(limits->connections)))
		return FULL;
	if (!is_limited(limits, user))
		return ADMITTED;
	if (take_one(&usage->others, MPCC_READ(limits->other_connections))) {
		if (take_one(user_counter(usage, i), MPCC_READ(limits->user_connections))) {
			*counter = i;
			return ADMITTED;
		}
		return_one(&usage->others);
	}
	return_one(&usage->connections);
	return USER_FULL;
}

/* Uncounts a connection. */
static __always_inline void dismiss(struct lisa_usage *usage, u32 counter)
{
	return_one(&usage->connections);
	if (counter == LISA_UNLIMITED)
		return;
	return_one(&usage->others);
	return_one(user_counter(usage, counter));
}

#endif
