/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets without MPTCP: plain TCP, and MPTCP that fell back in the handshake.
 *
 * The default algorithm of a network namespace is the default for every TCP socket in it, and an algorithm of this project
 * on a single path is Reno. `init`, which is the first callback on a connection, therefore gives such a socket the algorithm
 * that the namespace would give it without this project (bpf_setsockopt, TCP_CONGESTION; bpf_dctcp.c of Linux's selftests
 * falls back to another algorithm in the same way). The kernel allows one change per socket at a time: where this `init`
 * runs because of a bpf_setsockopt by another BPF program, the change fails with EBUSY.
 */
#ifndef LISA_PLAIN_H
#define LISA_PLAIN_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "contract.h"

HASH_MAP(defaults, u64, struct lisa_default, LISA_DEFAULTS);

/*
 * Whether this socket is a subflow of an MPTCP connection. A client whose request for MPTCP was not granted keeps `is_mptcp`
 * (subflow_finish_connect); its subflow is then neither the first of a connection nor a join.
 */
static __always_inline bool has_mptcp(struct sock *sk)
{
	struct mptcp_subflow_context *subflow;

	if (!((struct tcp_sock *)sk)->is_mptcp)
		return false;
	subflow = BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_data);
	return BPF_CORE_READ_BITFIELD_PROBED(subflow, mp_capable) ||
	       BPF_CORE_READ_BITFIELD_PROBED(subflow, mp_join);
}

/* Whether this subflow joined a connection: it is not the first one. */
static __always_inline bool is_join(struct sock *sk)
{
	struct mptcp_subflow_context *subflow =
		BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_data);

	return BPF_CORE_READ_BITFIELD_PROBED(subflow, mp_join);
}

static __always_inline bool set_algorithm(struct sock *sk, const char *name)
{
	return !bpf_setsockopt(sk, SOL_TCP, TCP_CONGESTION, (void *)name,
			       sizeof(((struct lisa_default *)0)->plain));
}

/*
 * Gives a socket without MPTCP the algorithm that its network namespace has as default, or, where that default is a BPF
 * program (this one, or another of this project), had as default before. Without a record, the first namespace's record
 * holds, from which this one has inherited the default; without either, CUBIC, and Reno where there is no CUBIC.
 * False: the kernel refused.
 */
static __always_inline bool return_plain(struct sock *sk)
{
	static const char cubic[16] = "cubic", reno[16] = "reno";
	struct net *net = BPF_CORE_READ(sk, __sk_common.skc_net.net);
	struct tcp_congestion_ops___registered *own =
		BPF_CORE_READ(net, ipv4.tcp_congestion_control);
	u64 key = BPF_CORE_READ(net, net_cookie);
	struct lisa_default *record;
	char name[16] = {};

	if (!is_bpf_owner(BPF_CORE_READ(own, owner))) {
		BPF_CORE_READ_STR_INTO(&name, own, name);
		if (set_algorithm(sk, name))
			return true;
	}
	record = bpf_map_lookup_elem(&defaults, &key);
	if (!record) {
		key = LISA_FIRST_NAMESPACE;
		record = bpf_map_lookup_elem(&defaults, &key);
	}
	return (record && set_algorithm(sk, record->plain)) || set_algorithm(sk, cubic) ||
	       set_algorithm(sk, reno);
}

#endif
