/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of the kernel's types that lisa.bpf.c touches. Field offsets come from the running kernel's BTF when
 * the object is loaded (CO-RE), so one object serves every kernel that has these names: 6.1 and later.
 */
#ifndef LISA_KERNEL_H
#define LISA_KERNEL_H

#include "types.h"

typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef u8 __u8;
typedef u16 __u16;
typedef u32 __u32;
typedef u64 __u64;
typedef u16 __be16;
typedef u32 __be32;
typedef u32 __wsum;

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum { BPF_NOEXIST = 1 }; /* bpf_map_update_elem: only where there is none */
enum { BPF_F_NO_PREALLOC = 1 }; /* a map's memory follows its entries */
enum {
	BPF_SK_STORAGE_GET_F_CREATE = 1
}; /* bpf_sk_storage_get: made, all zero, where there is none */
enum { BPF_F_MMAPABLE = 1U << 10 };
enum { BPF_RB_NO_WAKEUP = 1 }; /* bpf_ringbuf_submit: the reader looks by itself */

enum { AF_INET = 2, AF_INET6 = 10 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		u8 u6_addr8[16];
	} in6_u;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	union {
		struct {
			__be32 skc_daddr;
			__be32 skc_rcv_saddr;
		};
	};
	union {
		struct {
			__be16 skc_dport;
			u16 skc_num;
		};
	};
	unsigned short skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	void *icsk_ulp_data;
	u8 icsk_ca_state : 5;
	u64 icsk_ca_priv[104 / sizeof(u64)];
};

struct tcp_rack {
	u32 rtt_us;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 packets_out;
	u32 retrans_out;
	u32 lost_out;
	u32 sacked_out;
	u32 max_packets_out;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 srtt_us;
	struct tcp_rack rack;
	u32 data_segs_out;
	u32 total_retrans;
	u8 is_cwnd_limited : 1;
	bool is_mptcp;
};

struct mptcp_sock {
	u32 token;
};

struct mptcp_subflow_context {
	struct sock *conn;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, u32 event);
	u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

#pragma clang attribute pop

enum tcp_ca_event {
	CA_EVENT_TX_START, /* the rest: enum mpcc_event */
};

/* What a congestion control hears of an ACK. Not relocated: the program makes one, and Linux 6.1 to 6.18 have it so. */
struct ack_sample {
	u32 pkts_acked;
	__s32 rtt_us;
	u32 in_flight;
};

#define TCP_CONG_NON_RESTRICTED 1 /* any user, and any network namespace, may choose it */

#endif
