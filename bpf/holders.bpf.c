// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Lists the holders of a congestion control that is a BPF program: network namespaces whose default it is, and sockets, in all
 * network namespaces. User space cannot enter a namespace without a process and without a mount. (The kernel itself keeps a deleted
 * namespace, with its listener, if it had an MPTCP `signal` endpoint with a port.)
 *
 * Two programs fill the maps below and are freed with the command that runs them. `walk` follows the kernel's list of
 * namespaces and its hash tables of TCP sockets (inet_hashinfo). `files` is an iterator over all file descriptors: it adds the
 * processes, and sockets that are in no hash table because they neither listen nor are connected. User space empties the maps
 * before it runs them again.
 *
 * `walk` holds no lock. It reads by bpf_probe_read_kernel, which fails where memory is not mapped, and lists only sockets with the
 * address of a registered BPF congestion control. If a chain changes during the walk, a socket may be read twice (the map's key
 * removes the duplicate) or not at all.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "contract.h"
#include "address.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { IPPROTO_TCP = 6, IPPROTO_MPTCP = 262 };
enum { SOCK_DEAD = 1 << 0 }; /* skc_flags, enum sock_flags */

/* icsk_pending, net/inet_connection_sock.h; every other timer there retransmits. */
enum { ICSK_TIME_PROBE0 = 3 };

/* Limits of iterations: far above real numbers, and below bpf_loop's own limit of 8 million (BPF_MAX_LOOPS). */
enum { NAMESPACES = 1 << 16, BUCKETS = 1 << 22, CHAIN = 1 << 16, SUBFLOWS = 64 };

HASH_MAP(namespaces, u64, struct lisa_default_of, LISA_HOLDERS);

HASH_MAP(sockets, u64, struct lisa_holder, LISA_HOLDERS);

/* Hash tables that `walk` has listed: a namespace may have its own (net.ipv4.tcp_child_ehash_entries). */
HASH_MAP(tables, u64, u8, LISA_HOLDERS);

/* Address of the structure that contains the field at `address` (container_of). */
#define STRUCT_OF(address, type, field)                                                            \
	((type *)((void *)(address) - bpf_core_field_offset(type, field)))

/* The struct_ops map of a registered BPF congestion control, or 0. */
static u32 map_of(struct tcp_congestion_ops___registered *ops)
{
	struct bpf_struct_ops_map *map;

	if (!ops || !is_bpf_owner(BPF_CORE_READ(ops, owner)))
		return 0;
	map = STRUCT_OF(STRUCT_OF(ops, struct bpf_struct_ops_value, data),
			struct bpf_struct_ops_map, kvalue);
	return BPF_CORE_READ(map, map.id);
}

static u32 remaining(const struct timer_list *timer)
{
	s64 left = BPF_CORE_READ(timer, expires) - bpf_jiffies64();

	return left > 0 ? left : 0;
}

static bool is_pending(const struct timer_list *timer)
{
	return BPF_CORE_READ(timer, entry.pprev) != NULL;
}

static bool is_dead(struct sock *sk)
{
	return BPF_CORE_READ(sk, __sk_common.skc_flags) & SOCK_DEAD;
}

/* The timer that closes a socket: that of TCP, or the close_timeout of an MPTCP connection. */
static struct timer_list *close_timer(struct sock *sk, bool mptcp)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;

	if (mptcp && bpf_core_field_exists(icsk->mptcp_tout_timer))
		return &icsk->mptcp_tout_timer;
	if (!mptcp && bpf_core_field_exists(icsk->icsk_keepalive_timer))
		return &icsk->icsk_keepalive_timer;
	return &sk->sk_timer;
}

static struct timer_list *retransmit_timer(struct sock *sk)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;

	if (bpf_core_field_exists(sk->tcp_retransmit_timer))
		return &sk->tcp_retransmit_timer;
	return &icsk->icsk_retransmit_timer;
}

/* Pending timer of an orphan. */
static void add_timer(struct sock *sk, struct sock *connection, struct lisa_holder *holder)
{
	u8 pending = BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_pending);

	if (connection && is_pending(close_timer(connection, true))) {
		holder->timer = LISA_TIMER_CLOSE;
		holder->timer_jiffies = remaining(close_timer(connection, true));
	} else if (pending) {
		holder->timer =
			pending == ICSK_TIME_PROBE0 ? LISA_TIMER_PROBE : LISA_TIMER_RETRANSMIT;
		holder->timer_jiffies = remaining(retransmit_timer(sk));
	} else if (is_pending(close_timer(sk, false))) {
		holder->timer = LISA_TIMER_KEEPALIVE;
		holder->timer_jiffies = remaining(close_timer(sk, false));
	}
}

/* Lists a TCP socket if it has a BPF congestion control. */
static void list_socket(struct sock *sk, struct task_struct *task)
{
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;
	struct sock_common *common = &sk->__sk_common;
	struct lisa_holder holder = {
		.map = map_of(BPF_CORE_READ(icsk, icsk_ca_ops)),
	};
	struct sock *connection = NULL;
	u64 key = (u64)sk;

	if (!holder.map)
		return;
	holder.netns = BPF_CORE_READ(common, skc_net.net, ns.inum);
	holder.family = BPF_CORE_READ(common, skc_family);
	holder.local_port = BPF_CORE_READ(common, skc_num);
	holder.remote_port = __builtin_bswap16(BPF_CORE_READ(common, skc_dport));
	holder.state = BPF_CORE_READ(common, skc_state);
	holder.chosen = BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_setsockopt);
	read_addresses(sk, holder.family, holder.local, holder.remote);
	holder.read = bpf_ktime_get_ns();
	holder.bytes_acked = BPF_CORE_READ((struct tcp_sock *)sk, bytes_acked);
	holder.bytes_received = BPF_CORE_READ((struct tcp_sock *)sk, bytes_received);
	if (BPF_CORE_READ((struct tcp_sock *)sk, is_mptcp)) {
		struct mptcp_subflow_context *subflow = BPF_CORE_READ(icsk, icsk_ulp_data);

		holder.mptcp = true;
		holder.backup = BPF_CORE_READ_BITFIELD_PROBED(subflow, backup) |
				BPF_CORE_READ_BITFIELD_PROBED(subflow, request_bkup);
		connection = BPF_CORE_READ(subflow, conn);
		holder.connection = (u64)connection;
	}
	holder.orphan = is_dead(sk) || (connection && is_dead(connection));
	if (holder.orphan)
		add_timer(sk, connection, &holder);
	if (task) {
		holder.process = BPF_CORE_READ(task, tgid);
		BPF_CORE_READ_STR_INTO(&holder.command, task, group_leader, comm);
	}
	bpf_map_update_elem(&sockets, &key, &holder, 0);
}

/*
 * Positions of the loops below. They are global: Linux 6.1 verifies a bpf_loop callback once, with the caller's initial stack, and
 * removes branches that are dead with it.
 */
struct net *next_net;
void *net_ops; /* net.ns.ops of every network namespace, and of nothing else */
bool after_head; /* the loop has passed the head of the list of namespaces */
bool is_first; /* the next namespace is the first */
struct inet_ehash_bucket *connected; /* table of connected sockets */
struct inet_listen_hashbucket *listening; /* table of listening sockets */
struct hlist_nulls_node *next_node;

static long list_from_chain(u32 i, void *unused)
{
	struct hlist_nulls_node *node = next_node;
	struct sock_common *common;
	u8 state;

	if ((u64)node & 1 || !node)
		return 1;
	common = STRUCT_OF(node, struct sock_common, skc_nulls_node);
	next_node = BPF_CORE_READ(node, next);
	state = BPF_CORE_READ(common, skc_state);
	/* Sockets in these two states are smaller structures without a congestion control. */
	if (state != TCP_TIME_WAIT && state != TCP_NEW_SYN_RECV)
		list_socket((struct sock *)common, NULL);
	return 0;
}

static void list_chain(struct hlist_nulls_node *node)
{
	next_node = node;
	if (node && !((u64)node & 1))
		bpf_loop(CHAIN, list_from_chain, NULL, 0);
}

static long list_connected(u32 i, void *unused)
{
	struct inet_ehash_bucket *bucket =
		(void *)connected + (u64)i * bpf_core_type_size(struct inet_ehash_bucket);

	list_chain(BPF_CORE_READ(bucket, chain.first));
	return 0;
}

static long list_listening(u32 i, void *unused)
{
	struct inet_listen_hashbucket *bucket =
		(void *)listening + (u64)i * bpf_core_type_size(struct inet_listen_hashbucket);

	list_chain(BPF_CORE_READ(bucket, nulls_head.first));
	return 0;
}

static u32 at_most(u32 buckets)
{
	return buckets < BUCKETS ? buckets : BUCKETS;
}

static bool has_ended(struct net *net)
{
	struct ns_common___ref *ref = (void *)&net->ns;

	if (bpf_core_field_exists(net->ns.count))
		return !BPF_CORE_READ(net, ns.count.refs.counter);
	if (bpf_core_field_exists(ref->__ns_ref))
		return !BPF_CORE_READ(ref, __ns_ref.refs.counter);
	return false;
}

/* Lists the sockets of a hash table; once, if namespaces share it. */
static void list_table(struct inet_hashinfo *table)
{
	u64 key = (u64)table;
	u8 seen = 1;

	if (!table || bpf_map_update_elem(&tables, &key, &seen, BPF_NOEXIST))
		return;
	listening = BPF_CORE_READ(table, lhash2);
	bpf_loop(at_most(BPF_CORE_READ(table, lhash2_mask) + 1), list_listening, NULL, 0);
	connected = BPF_CORE_READ(table, ehash);
	bpf_loop(at_most(BPF_CORE_READ(table, ehash_mask) + 1), list_connected, NULL, 0);
}

/* Begins at this process's namespace, continues to the head of the list, and then visits the whole list once. */
static long list_namespace(u32 i, void *unused)
{
	struct lisa_default_of found = {};
	struct net *net = next_net;
	u64 key = (u64)net;

	if (!net)
		return 1;
	next_net = STRUCT_OF(BPF_CORE_READ(net, list.next), struct net, list);
	if (BPF_CORE_READ(net, ns.ops) != net_ops) { /* the head */
		if (after_head)
			return 1;
		is_first = after_head = true;
		return 0;
	}
	if (!after_head)
		return 0;
	found.map = map_of(BPF_CORE_READ(net, ipv4.tcp_congestion_control));
	if (found.map) {
		found.cookie = BPF_CORE_READ(net, net_cookie);
		found.netns = BPF_CORE_READ(net, ns.inum);
		found.first = is_first;
		found.ends = has_ended(net);
		bpf_map_update_elem(&namespaces, &key, &found, 0);
	}
	is_first = false;
	list_table(BPF_CORE_READ(net, ipv4.tcp_death_row.hashinfo));
	return 0;
}

SEC("syscall")
int walk(void *context)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	after_head = is_first = false; /* of an earlier run */
	next_net = BPF_CORE_READ(task, nsproxy, net_ns);
	net_ops = BPF_CORE_READ(next_net, ns.ops);
	bpf_loop(2 * NAMESPACES, list_namespace, NULL, 0);
	return 0;
}

struct list_head *subflows; /* head of an MPTCP socket's list of subflows */
struct list_head *next_subflow; /* position in this list */

static long list_subflow(u32 i, struct task_struct **task)
{
	struct mptcp_subflow_context *subflow;
	struct list_head *node = next_subflow;
	struct sock *sk;

	if (!node || node == subflows)
		return 1;
	subflow = STRUCT_OF(node, struct mptcp_subflow_context, node);
	next_subflow = BPF_CORE_READ(node, next);
	sk = BPF_CORE_READ(subflow, tcp_sock);
	if (sk)
		list_socket(sk, *task);
	return 0;
}

SEC("iter/task_file")
int files(struct bpf_iter__task_file *context)
{
	struct task_struct *task = context->task;
	struct file *file = context->file;
	struct socket *socket;
	struct sock *sk;
	u16 family, protocol;

	if (!task || !file)
		return 0;
	socket = bpf_sock_from_file(file);
	if (!socket)
		return 0;
	sk = BPF_CORE_READ(socket, sk);
	if (!sk)
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	protocol = BPF_CORE_READ(sk, sk_protocol);
	if (family != AF_INET && family != AF_INET6)
		return 0;
	if (protocol == IPPROTO_TCP) {
		list_socket(sk, task);
	} else if (protocol == IPPROTO_MPTCP) {
		subflows = &((struct mptcp_sock *)sk)->conn_list;
		next_subflow = BPF_CORE_READ(subflows, next);
		bpf_loop(SUBFLOWS, list_subflow, &task, 0);
	}
	return 0;
}
