// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The test harness of cc/ in the kernel's BPF machine, without a socket. A test writes a harness into the map, runs `step` by
 * BPF_PROG_TEST_RUN, and compares the result with that of native code. As for sockets, the object is loaded once for each
 * pair, because the verifier cannot check all of them in one program.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "callbacks.h"
#include "tests/harness.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct mpcc_harness);
} harness SEC(".maps");

/* Set before the object is loaded. */
const volatile struct mpcc_pair pair;

SEC("syscall")
int step(void *ctx)
{
	u32 first = 0;
	struct mpcc_harness *h = bpf_map_lookup_elem(&harness, &first);

	if (h)
		mpcc_harness_step(h, (struct mpcc_pair){ pair.slow_start, pair.avoidance });
	return 0;
}
