// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs of another project beside those of `lisa kernel exec`: a sockops program that requests the callbacks of header options
 * for every connection and counts them, and one that turns the TCP sockets of some processes into MPTCP sockets.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { SOCK_STREAM = 1, SOCK_TYPE_MASK = 0xf };
enum { IPPROTO_TCP = 6, IPPROTO_MPTCP = 262 };
enum {
	BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
	BPF_SOCK_OPS_HDR_OPT_LEN_CB = 14,
};
enum { BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG = 1 << 6 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_sock_ops {
	u32 op;
	u32 remote_port;
	u32 local_port;
	u32 bpf_sock_ops_cb_flags;
};

struct tcp_sock___flags {
	u8 bpf_sock_ops_cb_flags;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

#pragma clang attribute pop

/* Number of calls of `other_connected` about header options, by local port. */
HASH_MAP(calls, u32, u64, 1024);

/* Number of TCP sockets that `other_socket` has turned into MPTCP sockets, by process; 0: all processes. */
HASH_MAP(sockets, u32, u64, 1024);

SEC("sockops")
int other_connected(struct bpf_sock_ops *ctx)
{
	u32 port = ctx->local_port;
	u64 none = 0, *count;

	if (ctx->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB ||
	    ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags |
						       BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
	if (ctx->op != BPF_SOCK_OPS_HDR_OPT_LEN_CB)
		return 1;
	bpf_map_update_elem(&calls, &port, &none, BPF_NOEXIST);
	count = bpf_map_lookup_elem(&calls, &port);
	if (count)
		__sync_fetch_and_add(count, 1);
	return 1;
}

SEC("fmod_ret/update_socket_protocol")
int BPF_PROG(other_socket, int family, int type, int protocol)
{
	u32 all = 0, process = bpf_get_current_pid_tgid() >> 32;
	u64 *count = bpf_map_lookup_elem(&sockets, &process);

	if (!count)
		count = bpf_map_lookup_elem(&sockets, &all);
	if (!count || (family != AF_INET && family != AF_INET6) ||
	    (type & SOCK_TYPE_MASK) != SOCK_STREAM || (protocol && protocol != IPPROTO_TCP))
		return 0;
	__sync_fetch_and_add(count, 1);
	return IPPROTO_MPTCP;
}

/* For each TCP socket of this network namespace: number of segments with data, and whether the callbacks are requested. */
SEC("iter/tcp")
int requests(struct bpf_iter__tcp *at)
{
	struct sock_common *common = at->sk_common;
	struct tcp_sock *tp;
	u8 flags;
	struct {
		u32 segments, requested;
	} found;

	if (!common)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp)
		return 0;
	flags = BPF_CORE_READ((struct tcp_sock___flags *)tp, bpf_sock_ops_cb_flags);
	found.segments = tp->data_segs_out;
	found.requested = !!(flags & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
	bpf_seq_write(at->meta->seq, &found, sizeof(found));
	return 0;
}
