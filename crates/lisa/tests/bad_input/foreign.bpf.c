// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A congestion control that another program has registered: as NAME, `lisa` if that is not defined. INIT is what its first
 * program is called. With CONTRACT it looks like one of this project's own, and has its settings behind another constant.
 */
#include "fixed_window.h"
#include "contract.h"

#ifdef CONTRACT
#define INIT lisa_init
const volatile u32 first_constant = 1;
const volatile struct lisa_settings settings = { .contract = CONTRACT };
HASH_MAP(defaults, u64, struct lisa_default, LISA_DEFAULTS);
#endif
#ifndef INIT
#define INIT other_init
#endif
#ifndef NAME
#define NAME "lisa"
#endif

SEC("struct_ops")
void BPF_PROG(INIT, struct sock *sk)
{
#ifdef CONTRACT
	u64 key = LISA_FIRST_NAMESPACE;

	if (first_constant && settings.contract && !bpf_map_lookup_elem(&defaults, &key))
		((struct tcp_sock *)sk)->snd_cwnd = 10;
#endif
}

SEC(".struct_ops")
struct tcp_congestion_ops lisa = {
	FIXED_WINDOW,
	.init = (void *)INIT,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = NAME,
};
