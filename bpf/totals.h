/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters by network namespace (struct lisa_totals). */
#ifndef LISA_TOTALS_H
#define LISA_TOTALS_H

#include "state.h"

HASH_MAP(namespaces, u64, struct lisa_namespace, LISA_NAMESPACES);

/* Counters of the namespaces without an entry, and of those whose entry was deleted. */
struct lisa_totals other_totals SEC(".data.totals");

static const struct lisa_namespace no_namespace;

/* The counters of the socket's network namespace. */
static __noinline struct lisa_totals *totals_of(struct sock *sk)
{
	u64 cookie = BPF_CORE_READ(sk, __sk_common.skc_net.net, net_cookie);
	struct lisa_namespace *namespace = bpf_map_lookup_elem(&namespaces, &cookie);

	return namespace ? &namespace->totals : &other_totals;
}

/* Creates the entry of the socket's network namespace, if there is none and if there is room. */
static __always_inline void add_namespace(struct sock *sk)
{
	struct net *net = BPF_CORE_READ(sk, __sk_common.skc_net.net);
	u64 cookie = BPF_CORE_READ(net, net_cookie);
	struct lisa_namespace *namespace = bpf_map_lookup_elem(&namespaces, &cookie);

	if (namespace || bpf_map_update_elem(&namespaces, &cookie, &no_namespace, BPF_NOEXIST))
		return;
	namespace = bpf_map_lookup_elem(&namespaces, &cookie);
	if (!namespace)
		return;
	namespace->netns = BPF_CORE_READ(net, ns.inum);
}

#define COUNT_MANY(sk, counter, number) __sync_fetch_and_add(&totals_of(sk)->counter, number)
#define COUNT(sk, counter)              COUNT_MANY(sk, counter, 1)

/*
 * Counts failures of a deletion. -ENOENT: the entry was not there, because there was no room for it. Before 6.15 a hash map returns
 * -EBUSY if the deletion interrupts another operation on the same bucket; since then -ETIMEDOUT after 250 ms (rqspinlock).
 */
static __always_inline void check_deletion(struct sock *sk, long error)
{
	if (error && error != -ENOENT)
		COUNT(sk, deletions_failed);
}

#endif
