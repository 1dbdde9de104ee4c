// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Callbacks of a subflow that write the window of another subflow. The kernel refuses them, which is why there are accounts with
 * debits (cc/connection.h). A test expects the load to fail; on a kernel that accepts them the design can be simpler.
 */
#include "fixed_window.h"
#include <bpf/bpf_core_read.h>

/* Linux 6.2 */
extern void *bpf_rdonly_cast(const void *object, u32 type) __ksym __weak;

/* The own window: allowed. */
SEC("struct_ops")
void BPF_PROG(write_own, struct sock *sk)
{
	((struct tcp_sock *)sk)->snd_cwnd = 3;
}

/* The window of another subflow, by its address: refused. */
SEC("struct_ops")
void BPF_PROG(write_address, struct sock *sk)
{
	void *subflow = BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_data);
	struct tcp_sock *other =
		(struct tcp_sock *)BPF_CORE_READ((struct mptcp_subflow_context *)subflow, conn);

	if (other)
		other->snd_cwnd = 3;
}

/* The window of another subflow, by a typed pointer: refused. */
SEC("struct_ops")
void BPF_PROG(write_typed, struct sock *sk)
{
	void *subflow = BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_data);
	void *address = BPF_CORE_READ((struct mptcp_subflow_context *)subflow, conn);
	struct tcp_sock *other;

	if (!bpf_rdonly_cast)
		return;
	other = bpf_rdonly_cast(address, bpf_core_type_id_kernel(struct tcp_sock));
	other->snd_cwnd = 3;
}

#define OPERATIONS(program)                                                                        \
	SEC(".struct_ops")                                                                         \
	struct tcp_congestion_ops ops_##program = {                                                \
		FIXED_WINDOW,                                                                      \
		.init = (void *)program,                                                           \
		.name = "other_subflow",                                                           \
	}

OPERATIONS(write_own);
OPERATIONS(write_address);
OPERATIONS(write_typed);
