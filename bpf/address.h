/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The addresses of a TCP socket. */
#ifndef LISA_ADDRESS_H
#define LISA_ADDRESS_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/* Both addresses, of 16 bytes each; an IPv4 address takes the first four. A kernel without IPv6 has no fields for it. */
static __always_inline void read_addresses(struct sock *sk, u16 family, u8 *local, u8 *remote)
{
	struct sock_common *common = &sk->__sk_common;

	if (family == AF_INET6 && bpf_core_field_exists(common->skc_v6_daddr)) {
		BPF_CORE_READ_INTO((struct in6_addr *)local, common, skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO((struct in6_addr *)remote, common, skc_v6_daddr);
	} else {
		BPF_CORE_READ_INTO((__be32 *)local, common, skc_rcv_saddr);
		BPF_CORE_READ_INTO((__be32 *)remote, common, skc_daddr);
	}
}

#endif
