// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One byte for each socket that has storage in a map: neither its file descriptor's information nor a walk over keys tells. */
#include "kernel.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	void *value;
};

#pragma clang attribute pop

SEC("iter/bpf_sk_storage_map")
int count(struct bpf_iter__bpf_sk_storage_map *at)
{
	static const char one;

	if (at->value) /* else the end */
		bpf_seq_write(at->meta->seq, &one, sizeof(one));
	return 0;
}
