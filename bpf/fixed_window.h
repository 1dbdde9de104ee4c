/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The callbacks that Linux requires of a congestion control (tcp_validate_congestion_control), for tests of other callbacks: a
 * window that never grows, and is 2 segments after a loss.
 */
#ifndef LISA_FIXED_WINDOW_H
#define LISA_FIXED_WINDOW_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("struct_ops")
u32 BPF_PROG(fixed_ssthresh, struct sock *sk)
{
	return 2;
}

SEC("struct_ops")
void BPF_PROG(fixed_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
}

SEC("struct_ops")
u32 BPF_PROG(fixed_undo_cwnd, struct sock *sk)
{
	return 2;
}

#define FIXED_WINDOW                                                                               \
	.ssthresh = (void *)fixed_ssthresh, .cong_avoid = (void *)fixed_cong_avoid,                \
	.undo_cwnd = (void *)fixed_undo_cwnd

#endif
