/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fields of the kernel's types that the programs here use. Field offsets come from the running kernel's BTF when
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
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_RINGBUF = 27,
};

/* net/tcp_states.h */
enum {
	TCP_ESTABLISHED = 1,
	TCP_TIME_WAIT = 6,
	TCP_CLOSE = 7,
	TCP_CLOSE_WAIT = 8,
	TCP_NEW_SYN_RECV = 12,
};

/* A hash map. Its memory is allocated entry by entry. */
#define HASH_MAP(name, key_type, value_type, entries)                                              \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} name SEC(".maps")

enum { BPF_NOEXIST = 1 }; /* bpf_map_update_elem: only if there is no entry */
enum { BPF_F_NO_PREALLOC = 1 }; /* memory is allocated entry by entry */
enum {
	BPF_SK_STORAGE_GET_F_CREATE = 1
}; /* bpf_sk_storage_get: created, all zero, if there is none */
enum { BPF_F_MMAPABLE = 1U << 10 };
enum { BPF_RB_NO_WAKEUP = 1 }; /* bpf_ringbuf_submit: the reader polls */

enum { ENOENT = 2 };

enum { AF_INET = 2, AF_INET6 = 10 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		u8 u6_addr8[16];
	} in6_u;
};

struct list_head {
	struct list_head *next;
};

struct hlist_node {
	struct hlist_node **pprev;
};

/* The last `next` of a chain is odd (linux/list_nulls.h). */
struct hlist_nulls_node {
	struct hlist_nulls_node *next;
};

struct hlist_nulls_head {
	struct hlist_nulls_node *first;
};

struct timer_list {
	struct hlist_node entry;
	unsigned long expires;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct refcount_struct {
	atomic_t refs;
} refcount_t;

struct ns_common {
	unsigned int inum;
	void *ops;
	refcount_t count;
};

/* Linux 6.18 and later: another name of `count`. */
struct ns_common___ref {
	refcount_t __ns_ref;
};

/* A registered congestion control in the kernel. (`tcp_congestion_ops` is one that this project defines.) */
struct tcp_congestion_ops___registered {
	char name[16];
	void *owner;
};

struct inet_ehash_bucket {
	struct hlist_nulls_head chain;
};

struct inet_listen_hashbucket {
	struct hlist_nulls_head nulls_head;
};

struct inet_hashinfo {
	struct inet_ehash_bucket *ehash;
	unsigned int ehash_mask;
	unsigned int lhash2_mask;
	struct inet_listen_hashbucket *lhash2;
};

struct inet_timewait_death_row {
	struct inet_hashinfo *hashinfo;
};

struct netns_ipv4 {
	struct inet_timewait_death_row tcp_death_row;
	struct tcp_congestion_ops___registered *tcp_congestion_control;
};

struct net_generic {
	struct {
		unsigned int len;
	} s;
};

struct net {
	struct list_head list;
	struct ns_common ns;
	u64 net_cookie;
	struct netns_ipv4 ipv4;
	struct net_generic *gen;
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
	unsigned char skc_state;
	unsigned long skc_flags;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	struct hlist_nulls_node skc_nulls_node;
};

struct kernfs_node {
	const char *name;
	u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self; /* the first member */
	struct kernfs_node *kn;
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

typedef struct {
	u32 val;
} kuid_t;

struct sock {
	struct sock_common __sk_common;
	kuid_t sk_uid; /* of the user who created it; of a connection that was accepted: who created the listener */
	struct timer_list sk_timer;
	struct timer_list tcp_retransmit_timer; /* new kernels; old: icsk_retransmit_timer */
	u32 sk_pacing_status; /* enum sk_pacing: 0 for none; 1, 2: TCP itself, or fq, paces */
	u16 sk_protocol;
	struct sock_cgroup_data sk_cgrp_data;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct timer_list icsk_retransmit_timer;
	struct timer_list icsk_keepalive_timer; /* new kernels; old: TCP's sk_timer */
	struct timer_list mptcp_tout_timer; /* some kernels; others: MPTCP's sk_timer */
	struct tcp_congestion_ops___registered *icsk_ca_ops;
	void *icsk_ulp_data;
	u8 icsk_ca_state : 5;
	u8 icsk_ca_setsockopt : 1;
	u8 icsk_pending;
	u64 icsk_ca_priv[104 / sizeof(u64)];
};

struct tcp_rack {
	u32 rtt_us;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 bytes_received;
	u64 bytes_acked;
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
	u32 lsndtime; /* jiffies */
	u64 tcp_mstamp; /* µs */
	u32 total_retrans;
	u8 is_cwnd_limited : 1;
	bool is_mptcp;
};

struct mptcp_sock {
	char ca_name[16];
	u32 token;
	struct list_head conn_list; /* mptcp_subflow_context.node */
};

struct mptcp_subflow_context {
	struct list_head node;
	u32 mp_capable : 1;
	u32 mp_join : 1;
	u32 backup : 1;
	u32 request_bkup : 1;
	u32 subflow_id;
	struct sock *conn;
	struct sock *tcp_sock;
};

struct nsproxy {
	struct net *net_ns;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct cred {
	void *security;
};

struct task_struct {
	const struct cred *cred;
	struct css_set *cgroups;
	int tgid;
	char comm[16];
	struct nsproxy *nsproxy;
	struct task_struct *group_leader;
};

struct socket {
	struct sock *sk;
};

struct bpf_map {
	u32 id;
};

/* The struct_ops map that holds a registration. Its value ends with the registered operations. */
struct bpf_struct_ops_value {
	char data[0];
};

struct bpf_struct_ops_map {
	struct bpf_map map;
	struct bpf_struct_ops_value kvalue;
};

struct bpf_iter__task_file {
	struct task_struct *task;
	u32 fd;
	struct file *file;
};

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, u32 event);
	void (*cwnd_event_tx_start)(
		struct sock *sk); /* since Linux 7.1: CA_EVENT_TX_START by itself */
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

/* An ACK, for congestion control. Not relocated: the program creates it, and its layout is this one in Linux 6.1 to 7.3. */
struct ack_sample {
	u32 pkts_acked;
	__s32 rtt_us;
	u32 in_flight;
};

/*
 * Whether this is the owner of a congestion control that is a BPF program: BPF_MODULE_OWNER (linux/bpf.h). Its upper half is the
 * architecture's POISON_POINTER_DELTA.
 */
static inline bool is_bpf_owner(const void *owner)
{
	return (u32)(u64)owner == 0xeB9F << 2;
}

enum { SOL_TCP = 6, TCP_CONGESTION = 13 };

#define TCP_CONG_NON_RESTRICTED 1 /* any user, and any network namespace, may choose it */

#endif
