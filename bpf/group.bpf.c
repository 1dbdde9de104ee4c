// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asks a subflow of a registered algorithm to be in another group. It works on that algorithm's map of connections and
 * is run once for each wish (BPF_PROG_TEST_RUN): user space cannot change an entry of a hash map but by putting another
 * one in its place, which would lose what subflows do to it meanwhile.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "contract.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* The algorithm's own, put in its place when loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct lisa_key);
	__type(value, struct lisa_connection);
} connections SEC(".maps");

/* 1 where it was asked, 0 where there is no such subflow (any more). */
SEC("syscall")
int ask(struct lisa_wish *wish)
{
	struct lisa_key key = wish->connection;
	struct lisa_connection *connection = bpf_map_lookup_elem(&connections, &key);

	if (!connection)
		return 0;
	return mpcc_ask_group(&connection->coupled, wish->slot, wish->serial, wish->group);
}
