// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For each TCP socket of this network namespace: its time and its idle time as bpf/state.h reads them, and the kernel's time. */
#include "state.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

#pragma clang attribute pop

SEC("iter/tcp")
int clocks(struct bpf_iter__tcp *at)
{
	struct sock_common *common = at->sk_common;
	struct tcp_sock *tp;
	struct {
		u64 port, time, now, idle_ms;
	} found;

	if (!common)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp)
		return 0;
	found.port = common->skc_num;
	found.time = bpf_ktime_get_ns();
	found.now = fetch(tp).now;
	found.idle_ms = idle_ms(tp);
	bpf_seq_write(at->meta->seq, &found, sizeof(found));
	return 0;
}
