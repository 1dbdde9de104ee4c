// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests of user space that change values which the callbacks of a registered algorithm change at the same time. User space can
 * only replace a whole value of a map, which would lose concurrent changes. Each program runs once for each request
 * (BPF_PROG_TEST_RUN), on the maps of a registered algorithm.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "contract.h"
#include "limits.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define ARRAY_MAP(name, value_type)                                                                \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(map_flags, BPF_F_MMAPABLE);                                                 \
		__uint(max_entries, 1);                                                            \
		__type(key, u32);                                                                  \
		__type(value, value_type);                                                         \
	} name SEC(".maps")

/* Replaced by the algorithm's own maps when this is loaded. */
HASH_MAP(connections, struct lisa_key, struct lisa_connection, 1);
HASH_MAP(namespaces, u64, struct lisa_namespace, LISA_NAMESPACES);
ARRAY_MAP(control, struct lisa_control);
ARRAY_MAP(totals, struct lisa_totals);
ARRAY_MAP(usage, struct lisa_usage);

/* Maps of the algorithm that takes over the counters. */
HASH_MAP(to_namespaces, u64, struct lisa_namespace, LISA_NAMESPACES);
ARRAY_MAP(to_totals, struct lisa_totals);

static const u32 first = 0;

/* Requests another group for a subflow. 1 if the request is accepted, 0 if there is no such subflow (any more). */
SEC("syscall")
int request_group(struct lisa_group_request *request)
{
	struct lisa_key key = request->connection;
	struct lisa_connection *connection = bpf_map_lookup_elem(&connections, &key);

	if (!connection)
		return 0;
	return mpcc_request_group(&connection->coupled, request->slot, request->generation,
				  request->group);
}

/* Deletes the entry of a connection without a socket. 1 if it was there. */
SEC("syscall")
int delete_connection(struct lisa_key *request)
{
	struct lisa_key key = *request;
	struct lisa_connection *connection = bpf_map_lookup_elem(&connections, &key);
	struct lisa_totals *counters = bpf_map_lookup_elem(&totals, &first);
	struct lisa_usage *used = bpf_map_lookup_elem(&usage, &first);
	struct lisa_namespace *namespace;
	u32 counter, subflows;

	if (!connection || !counters || !used)
		return 0;
	namespace = bpf_map_lookup_elem(&namespaces, &connection->namespace);
	if (namespace)
		counters = &namespace->totals;
	counter = connection->user;
	subflows = __builtin_popcount(connection->coupled.used & MPCC_EVERY_SLOT);
	if (bpf_map_delete_elem(&connections, &key))
		return 0;
	dismiss(used, counter);
	__sync_fetch_and_add(&counters->subflows_closed, subflows);
	__sync_fetch_and_add(&counters->connections_closed, 1);
	__sync_fetch_and_add(&counters->connections_swept, 1);
	return 1;
}

/* A byte for each kind of event: 1 if it is in `kinds`. */
static __always_inline u64 by_kind(u32 kinds)
{
	u64 bytes = 0;

	for (u32 kind = 0; kind < LISA_EVENT_KINDS; kind++)
		bytes |= (u64)(kinds >> kind & 1) << kind * LISA_LISTENERS;
	return bytes;
}

/*
 * Begins, renews or ends a listener's requests. Returns its slot; LISA_LISTENERS if there is none free. The slot of a dead listener is
 * free when its time is over.
 */
SEC("syscall")
int listen(struct lisa_listen *request)
{
	struct lisa_control *c = bpf_map_lookup_elem(&control, &first);
	u64 now = bpf_ktime_get_ns();
	u32 mine = LISA_LISTENERS;
	u64 requested = 0;

	if (!c || !request->owner)
		return LISA_LISTENERS;
	for (u32 i = 0; i < LISA_LISTENERS; i++)
		if (c->listener[i].owner == request->owner)
			mine = i;
	for (u32 i = 0; i < LISA_LISTENERS && request->until; i++) {
		u32 owner = c->listener[i].owner;

		if (mine != LISA_LISTENERS || (owner && now < c->listener[i].until))
			continue;
		if (__sync_val_compare_and_swap(&c->listener[i].owner, owner, request->owner) ==
		    owner)
			mine = i;
	}
	if (mine >= LISA_LISTENERS)
		return LISA_LISTENERS;
	c->listener[mine].until = request->until;
	c->listener[mine].kinds = request->until ? request->kinds : 0;
	if (!request->until)
		c->listener[mine].owner = 0;
	for (u32 i = 0; i < LISA_LISTENERS; i++)
		if (now < c->listener[i].until)
			requested |= by_kind(c->listener[i].kinds) << i;
	/* A listener that begins at the same moment may be missing. It renews its request within a second. */
	MPCC_WRITE(c->requested, requested);
	return mine;
}

/*
 * Removes a subflow without a socket from its group. Its slot stays taken until the connection closes, because a socket that the
 * lists of sockets lack would still write to it. Such a subflow is in its group again after its next ACK.
 */
SEC("syscall")
int remove_subflow(struct lisa_subflow_key *request)
{
	struct lisa_key key = request->connection;
	struct lisa_connection *connection = bpf_map_lookup_elem(&connections, &key);
	struct mpcc_slot *slot;

	if (!connection)
		return 0;
	slot = &connection->coupled.slot[MPCC_SLOT(request->slot)];
	if (MPCC_READ(slot->phase) == MPCC_ABSENT)
		return 0;
	MPCC_WRITE(slot->phase, MPCC_ABSENT);
	mpcc_next_epoch(&connection->coupled, MPCC_READ(slot->group));
	return 1;
}

/* The counters as an array. */
#define COUNTERS (sizeof(struct lisa_totals) / sizeof(u64))

static __always_inline void move_counters(u64 *from, u64 *to)
{
	for (u32 i = 0; i < COUNTERS; i++) {
		u64 number = MPCC_READ(from[i]);

		__sync_fetch_and_add(&from[i], -number);
		__sync_fetch_and_add(&to[i], number);
	}
}

/*
 * Moves the counters of a namespace, by its cookie, to the other algorithm's entry of it, or to its other counters if there is none.
 * Cookie 0: the other counters.
 */
SEC("syscall")
int move_totals(u64 *request)
{
	u64 cookie = *request;
	struct lisa_namespace *from = bpf_map_lookup_elem(&namespaces, &cookie);
	struct lisa_namespace *to = bpf_map_lookup_elem(&to_namespaces, &cookie);
	struct lisa_totals *from_others = bpf_map_lookup_elem(&totals, &first);
	struct lisa_totals *to_others = bpf_map_lookup_elem(&to_totals, &first);

	if (!from_others || !to_others)
		return 0;
	move_counters(from ? (u64 *)&from->totals : (u64 *)from_others,
		      to ? (u64 *)&to->totals : (u64 *)to_others);
	return 1;
}
