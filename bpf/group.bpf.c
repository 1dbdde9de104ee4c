// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Requests another group for a subflow. It works on the map of connections of a registered algorithm, and runs once for each request
 * (BPF_PROG_TEST_RUN): user space can only replace a whole entry of a hash map, which would lose concurrent changes by subflows.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "contract.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Replaced by the algorithm's own map when this is loaded. */
HASH_MAP(connections, struct lisa_key, struct lisa_connection, 1);

/* 1 if the request is accepted, 0 if there is no such subflow (any more). */
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
