/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of connections and subflows. A connection's entry is created by its first subflow that finds none, and deleted by the
 * last one that closes.
 */
#ifndef LISA_ENTRIES_H
#define LISA_ENTRIES_H

#include "state.h"
#include "address.h"

HASH_MAP(connections, struct lisa_key, struct lisa_connection, 1); /* set before it is loaded */

HASH_MAP(subflows, struct lisa_subflow_key, struct lisa_subflow, 1); /* set before it is loaded */

/*
 * The initial value of an entry, which is too large for the stack. No subflow attaches before mpcc_open: the entry's memory may
 * have belonged to another connection, and a subflow of that connection may still read it.
 */
static const struct lisa_connection no_connection = { .coupled.used = MPCC_NO_OWNER };

/* The socket's connection; NULL if the socket runs alone. */
static __always_inline struct mpcc_connection *connection_of(struct lisa_socket *private)
{
	struct lisa_key key = private->key;
	struct lisa_connection *connection;

	if (private->subflow.slot == MPCC_NO_SLOT)
		return NULL;
	connection = bpf_map_lookup_elem(&connections, &key);
	return connection ? &connection->coupled : NULL;
}

/* The key of a subflow's MPTCP connection. False if the subflow has none (any more). */
static __always_inline bool identify(struct sock *sk, struct lisa_key *key)
{
	struct mptcp_subflow_context *subflow =
		BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_data);
	struct sock *connection = BPF_CORE_READ(subflow, conn);

	if (!connection)
		return false;
	key->socket = (u64)connection;
	key->token = BPF_CORE_READ((struct mptcp_sock *)connection, token);
	return true;
}

/* The connection's entry, created if there is none, with a slot for this subflow. NULL: no room. */
static __always_inline struct lisa_connection *attach(const struct lisa_key *key, u8 *slot)
{
	struct lisa_connection *connection = bpf_map_lookup_elem(&connections, key);

	if (!connection) {
		bool made = !bpf_map_update_elem(&connections, key, &no_connection, BPF_NOEXIST);

		connection = bpf_map_lookup_elem(&connections, key);
		if (!connection) {
			count(&totals.connections_alone);
			return NULL;
		}
		if (made) { /* by this subflow, and not by another one at the same time */
			connection->key = *key;
			connection->since = bpf_ktime_get_ns();
			for (u32 i = 0; i < MPCC_SETTINGS; i++)
				connection->coupled.setting[i] = settings.setting[i];
			mpcc_open(&connection->coupled, key->token);
			count(&totals.connections_opened);
		}
	}
	*slot = mpcc_attach(&connection->coupled, key->token);
	if (*slot == MPCC_NO_SLOT) {
		count(&totals.subflows_alone);
		return NULL;
	}
	/* The next owner of this slot, or of this entry, attaches after this subflow is counted. */
	connection->coupled.slot[MPCC_SLOT(*slot)].request.generation = totals.subflows_opened;
	return connection;
}

/* Records a subflow's addresses, for user space. */
static __always_inline void record_addresses(struct sock *sk, const struct lisa_key *key, u8 slot)
{
	struct lisa_subflow_key who = { .connection = *key, .slot = slot };
	struct sock_common *common = &sk->__sk_common;
	struct lisa_subflow subflow = {
		.since = bpf_ktime_get_ns(),
		.netns = BPF_CORE_READ(common, skc_net.net, ns.inum),
		.family = BPF_CORE_READ(common, skc_family),
		.local_port = BPF_CORE_READ(common, skc_num),
		.remote_port = __builtin_bswap16(BPF_CORE_READ(common, skc_dport)),
	};

	read_addresses(sk, subflow.family, subflow.local, subflow.remote);
	bpf_map_update_elem(&subflows, &who, &subflow, 0);
}

#endif
