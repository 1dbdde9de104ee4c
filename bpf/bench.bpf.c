// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An algorithm of cc/ in the kernel's BPF machine, without a socket: a test fills in a bench, runs `step` with
 * BPF_PROG_TEST_RUN, and compares the bench with what native code made of it. One load for each algorithm, as for
 * sockets: the verifier could not follow all of them in one program.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "tests/bench.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct mpcc_bench);
} bench SEC(".maps");

/* Fixed when the object is loaded. */
const volatile struct mpcc_pair pair;

SEC("syscall")
int step(void *ctx)
{
	u32 first = 0;
	struct mpcc_bench *b = bpf_map_lookup_elem(&bench, &first);

	if (b)
		mpcc_bench_step(b, (struct mpcc_pair){ pair.slow_start, pair.avoidance });
	return 0;
}
