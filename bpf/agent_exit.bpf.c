// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Couples the subflows of a network namespace when the agent's process ends, also by SIGKILL: without the agent, the link rates that
 * its groups were computed from become stale. The agent's process loads this program and holds the only reference to it; the kernel
 * frees the program with the process. sched_process_exit runs before the process's descriptors are closed (do_exit).
 */
#include "kernel.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "contract.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Replaced by the algorithm's own map when this is loaded. */
HASH_MAP(connections, struct lisa_key, struct lisa_connection, 1);

u32 agent; /* process id in the first PID namespace, unlike getpid() */
u64 namespace; /* cookie */

/* Sets the calling process and its network namespace. */
SEC("syscall")
int begin(void *context)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	namespace = BPF_CORE_READ(task, nsproxy, net_ns, net_cookie);
	agent = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

static long couple(void *map, struct lisa_key *key, struct lisa_connection *connection,
		   void *context)
{
	struct mpcc_connection *coupled = &connection->coupled;

	if (connection->namespace != namespace)
		return 0;
	for (u32 i = 0; i < MPCC_SUBFLOWS; i++) {
		union mpcc_group_request last = {
			.word = MPCC_READ(coupled->slot[i].request.word),
		};

		if (last.group)
			mpcc_request_group(coupled, i, last.generation, 0);
	}
	return 0;
}

/* Of each thread. The first one's ids are those of the process. */
SEC("raw_tp/sched_process_exit")
int couple_at_exit(void *context)
{
	u64 id = bpf_get_current_pid_tgid();

	if ((u32)id == agent && id >> 32 == agent)
		bpf_for_each_map_elem(&connections, couple, NULL, 0);
	return 0;
}
