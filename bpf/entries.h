/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of connections and subflows. A connection's entry is created by its first subflow that finds none, and deleted by the
 * last one that closes.
 */
#ifndef LISA_ENTRIES_H
#define LISA_ENTRIES_H

#include "totals.h"
#include "limits.h"
#include "address.h"

struct lisa_usage usage SEC(".data.usage");

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

/* A subflow's MPTCP connection, and its key. NULL if the subflow has none (any more). */
static __always_inline struct sock *identify(struct sock *sk, struct lisa_key *key)
{
	struct mptcp_subflow_context *subflow =
		BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_data);
	struct sock *connection = BPF_CORE_READ(subflow, conn);

	if (connection) {
		key->socket = (u64)connection >> LISA_ADDRESS_SHIFT;
		key->token = BPF_CORE_READ((struct mptcp_sock *)connection, token);
	}
	return connection;
}

/* Creates the connection's entry, unless another subflow does at the same time. False: there is no room. */
static __always_inline bool create(struct sock *sk, struct sock *connection,
				   const struct lisa_key *key)
{
	struct lisa_connection *created;
	enum admission admission;
	u32 counter;

	admission = admit(&limits, &usage, BPF_CORE_READ(connection, sk_uid.val),
			  settings.hash_seed, &counter);
	if (admission == ADMITTED) {
		if (bpf_map_update_elem(&connections, key, &no_connection, BPF_NOEXIST)) {
			dismiss(&usage, counter);
			return true; /* by another subflow, or there is no memory */
		}
		created = bpf_map_lookup_elem(&connections, key);
		if (!created)
			return false;
		created->key = *key;
		created->since = bpf_ktime_get_ns();
		created->namespace = BPF_CORE_READ(sk, __sk_common.skc_net.net, net_cookie);
		created->user = counter;
		for (u32 i = 0; i < MPCC_SETTINGS; i++)
			created->coupled.setting[i] = MPCC_READ(limits.setting[i]);
		mpcc_open(&created->coupled, key->token);
		COUNT(sk, connections_opened);
		return true;
	}
	if (admission == FULL)
		COUNT(sk, alone_full);
	else
		COUNT(sk, alone_user);
	return false;
}

/*
 * Whether an established subflow of the connection has other congestion operations than `sk`: another algorithm, or another load of
 * this one, which this load cannot couple with it.
 */
static __noinline bool has_foreign_subflow(struct sock *mptcp, struct sock *sk)
{
	struct list_head *head = &((struct mptcp_sock *)mptcp)->conn_list;
	struct list_head *node = BPF_CORE_READ(head, next);
	void *own = BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ca_ops);

	for (u32 i = 0; i < MPCC_SUBFLOWS && node != head; i++) {
		struct mptcp_subflow_context *subflow =
			(void *)node - bpf_core_field_offset(struct mptcp_subflow_context, node);
		struct sock *other = BPF_CORE_READ(subflow, tcp_sock);
		u8 state = BPF_CORE_READ(other, __sk_common.skc_state);

		if ((state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT) &&
		    BPF_CORE_READ((struct inet_connection_sock *)other, icsk_ca_ops) != own)
			return true;
		node = BPF_CORE_READ(node, next);
	}
	return false;
}

/*
 * The connection's entry, created if there is none, with a slot for this subflow. NULL: the subflow runs alone. `slot` is then
 * MPCC_NO_ROOM for a join of a connection without room: other subflows of the connection may be coupled already.
 */
static __always_inline struct lisa_connection *
attach(struct sock *sk, struct sock *mptcp, const struct lisa_key *key, bool join, u8 *slot)
{
	struct lisa_connection *connection = bpf_map_lookup_elem(&connections, key);

	if (!connection && create(sk, mptcp, key)) {
		connection = bpf_map_lookup_elem(&connections, key);
		if (!connection)
			COUNT(sk, alone_full); /* the kernel had no memory */
	}
	MPCC_OPAQUE(connection);
	if (connection) {
		*slot = mpcc_attach(&connection->coupled, key->token);
		if (*slot < MPCC_NO_ROOM) {
			if (join && has_foreign_subflow(mptcp, sk))
				COUNT(sk, apart_joins);
			/* The next owner of this slot, or of this entry, attaches after this subflow is counted. */
			connection->coupled.slot[MPCC_SLOT(*slot)].request.generation =
				__sync_fetch_and_add(&usage.attached, 1);
			return connection;
		}
		COUNT(sk, alone_slots);
		if (*slot == MPCC_NO_SLOT)
			return NULL;
	}
	*slot = join ? MPCC_NO_ROOM : MPCC_NO_SLOT;
	if (join)
		COUNT(sk, alone_joins);
	return NULL;
}

/* Deletes a connection's entry after its last subflow has closed. */
static __always_inline void delete_connection(struct sock *sk, const struct lisa_key *key)
{
	struct lisa_connection *connection = bpf_map_lookup_elem(&connections, key);
	u32 counter = connection ? connection->user : LISA_UNLIMITED;
	long error = bpf_map_delete_elem(&connections, key);

	check_deletion(sk, error);
	if (!error)
		dismiss(&usage, counter);
	COUNT(sk, connections_closed);
}

/* Records a subflow's addresses, for user space. */
static __always_inline void record_addresses(struct sock *sk, const struct lisa_key *key, u8 slot)
{
	struct lisa_subflow_key subflow_key = { .connection = *key, .slot = slot };
	struct sock_common *common = &sk->__sk_common;
	struct lisa_subflow subflow = {
		.since = bpf_ktime_get_ns(),
		.netns = BPF_CORE_READ(common, skc_net.net, ns.inum),
		.family = BPF_CORE_READ(common, skc_family),
		.local_port = BPF_CORE_READ(common, skc_num),
		.remote_port = __builtin_bswap16(BPF_CORE_READ(common, skc_dport)),
	};

	read_addresses(sk, subflow.family, subflow.local, subflow.remote);
	bpf_map_update_elem(&subflows, &subflow_key, &subflow, 0);
}

#endif
