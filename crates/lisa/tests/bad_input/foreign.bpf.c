// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A congestion control of somebody else's that is called `lisa`. INIT is what its first program is called. */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("struct_ops")
void BPF_PROG(INIT, struct sock *sk)
{
}

SEC("struct_ops")
u32 BPF_PROG(other_ssthresh, struct sock *sk)
{
	return 2;
}

SEC("struct_ops")
void BPF_PROG(other_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
}

SEC("struct_ops")
u32 BPF_PROG(other_undo_cwnd, struct sock *sk)
{
	return 2;
}

SEC(".struct_ops")
struct tcp_congestion_ops lisa = {
	.init = (void *)INIT,
	.ssthresh = (void *)other_ssthresh,
	.cong_avoid = (void *)other_cong_avoid,
	.undo_cwnd = (void *)other_undo_cwnd,
	.name = "lisa",
};
