// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A congestion control of somebody else's that is called `lisa`. INIT is what its first program is called. */
#include "fixed_window.h"

SEC("struct_ops")
void BPF_PROG(INIT, struct sock *sk)
{
}

SEC(".struct_ops")
struct tcp_congestion_ops lisa = {
	FIXED_WINDOW,
	.init = (void *)INIT,
	.name = "lisa",
};
