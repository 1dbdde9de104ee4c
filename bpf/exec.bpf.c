// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * MPTCP and an algorithm for the commands of `lisa kernel exec`, without a helper process.
 *
 * `exec` moves the command into a cgroup named `lisa-exec-ALGORITHM-PID`. lisa_socket turns the TCP sockets of tasks in such
 * a cgroup, or below one, into MPTCP sockets; lisa_connected sets the algorithm on each of their subflows. Tasks and sockets
 * of other cgroups do not change. The name is the mark because an ordinary user may create a cgroup, but may not call bpf().
 *
 * Linux 6.6: update_socket_protocol.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define PREFIX       "lisa-exec-"
#define PREFIX_START "lisa-exe" /* eight bytes */
#define PREFIX_LEN   (sizeof(PREFIX) - 1)
#define DEPTH        32 /* levels of cgroups that are searched */
#define CA_NAME      16 /* TCP_CA_NAME_MAX */

enum { SOCK_STREAM = 1, SOCK_TYPE_MASK = 0xf };
enum { IPPROTO_TCP = 6, IPPROTO_MPTCP = 262 };
enum {
	BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
	BPF_SOCK_OPS_HDR_OPT_LEN_CB = 14,
};
enum { BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG = 1 << 6 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_sock;

struct bpf_sock_ops {
	u32 op;
	u32 bpf_sock_ops_cb_flags;
	struct bpf_sock *sk;
};

struct ctl_table {
	const char *procname;
	void *data;
};

struct ctl_table_header {
	const struct ctl_table *ctl_table;
};

struct mptcp_pernet {
	struct ctl_table_header *ctl_table_hdr;
	u8 mptcp_enabled;
};

struct access_masks {
	u32 fs : 16;
};

struct landlock_domain {
	u32 num_layers;
	struct access_masks handled_masks[];
};

/* In older kernels, 6.18 among them, a domain is a ruleset. */
struct landlock_ruleset {
	u32 num_layers;
	struct access_masks access_masks[];
};

struct landlock_ruleset___6_10 { /* and before */
	u32 num_layers;
	u32 access_masks[];
};

struct bpf_prog;

struct bpf_prog_array_item {
	struct bpf_prog *prog;
};

struct bpf_prog_array {
	struct bpf_prog_array_item items[2]; /* and more, up to one without a program */
};

struct cgroup_bpf {
	struct bpf_prog_array *effective[1]; /* by enum cgroup_bpf_attach_type */
};

struct cgroup___bpf { /* with CONFIG_CGROUP_BPF */
	struct cgroup_bpf bpf;
};

#pragma clang attribute pop

enum cgroup_bpf_attach_type { CGROUP_SOCK_OPS = 3 }; /* the number is the kernel's (CO-RE) */

/* A congestion control's name, with zeros behind it. */
union name {
	char text[CA_NAME];
	u64 words[2];
};

static __always_inline bool same(const union name *a, const union name *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

extern void *bpf_rdonly_cast(const void *object, u32 type) __ksym; /* Linux 6.2 */

/* Algorithms that every user may choose (tcp_allowed_congestion_control). A cgroup's name selects no other one. */
HASH_MAP(algorithms, union name, u8, 256);

/* A join that lisa_connected checks again. */
struct join {
	u8 set_flag; /* lisa_connected has set the flag that requests the checks */
};

/* These joins, until they have left join_list. The kernel frees an entry with its socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct join);
} joins SEC(".maps");

/* Offsets and ids of this kernel. lisa_survey writes them before the other programs are attached. */
struct lisa_host {
	u64 root; /* id of the cgroup that lisa_connected is attached to */
	u32 mptcp_id; /* mptcp_pernet_id: index of struct mptcp_pernet in net->gen */
	u32 landlock; /* 1: landlock_offset and landlock_ports are valid; 0: Landlock has no rules about TCP ports here */
	u32 landlock_offset; /* landlock_blob_sizes.lbs_cred */
	u32 landlock_ports; /* in access_masks: the rights about TCP ports */
} host;

static __always_inline void *pernet(struct net *net, u32 id)
{
	void *generic = BPF_CORE_READ(net, gen);
	void *found = NULL;

	bpf_probe_read_kernel(&found, sizeof(found), generic + id * sizeof(void *));
	return found;
}

/* Compares the first eight bytes: nearly all other names differ in them. */
static __always_inline bool begins_with_prefix(const char *name)
{
	const union {
		char text[8];
		u64 word;
	} prefix = { PREFIX_START };
	u64 start = 0;

	bpf_probe_read_kernel(&start, sizeof(start), name);
	return start == prefix.word;
}

/* All bits, or none if a byte is 0, without a branch: the verifier follows both ways of each branch to the end of the program. */
static __always_inline u64 unless_zero(u8 byte)
{
	u64 number = byte;

	MPCC_UNKNOWN(number);
	return ((number - 1) >> 63) - 1;
}

/* The algorithm in a cgroup's name: the text between the prefix and the next `-`. False if no user may choose it. */
static __always_inline bool algorithm_in(const char *from, union name *algorithm)
{
	char name[PREFIX_LEN + CA_NAME] = {};
	u64 inside = ~0ull;

	bpf_probe_read_kernel_str(name, sizeof(name), from);
	if (bpf_strncmp(name, PREFIX_LEN, PREFIX))
		return false;
	for (int i = 0; i < CA_NAME - 1; i++) {
		u8 c = name[PREFIX_LEN + i];

		inside &= unless_zero(c) & unless_zero(c ^ '-');
		algorithm->text[i] = c & inside;
	}
	algorithm->text[CA_NAME - 1] = 0;
	return bpf_map_lookup_elem(&algorithms, algorithm);
}

/*
 * Fills in the algorithm in a cgroup's name, or in that of the nearest cgroup above it. Only below the cgroup that
 * lisa_connected is attached to: elsewhere a socket would get MPTCP, but no algorithm. leaf is the address of a struct cgroup.
 */
MPCC_SEPARATE bool algorithm_of(u64 leaf, union name *algorithm)
{
	struct cgroup *cgroup =
		bpf_rdonly_cast((void *)leaf, bpf_core_type_id_kernel(struct cgroup));
	bool found = false;

	if (!algorithm)
		return false;
	for (int level = 0; level < DEPTH; level++) {
		struct cgroup_subsys_state *parent;
		struct kernfs_node *kn = cgroup->kn;

		if (!found && begins_with_prefix(kn->name)) {
			if (!algorithm_in(kn->name, algorithm))
				return false;
			found = true;
		}
		if (found && kn->id == host.root)
			return true;
		parent = cgroup->self.parent;
		if (!parent)
			return false;
		cgroup = bpf_rdonly_cast(parent, bpf_core_type_id_kernel(struct cgroup));
	}
	return false;
}

/* sysctl net.mptcp.enabled: with 0 an MPTCP socket cannot be made. */
static __always_inline bool mptcp_enabled(struct task_struct *task)
{
	struct mptcp_pernet *mptcp = pernet(BPF_CORE_READ(task, nsproxy, net_ns), host.mptcp_id);

	return BPF_CORE_READ(mptcp, mptcp_enabled);
}

static __always_inline u32 layers_of(void *domain)
{
	struct landlock_domain *newer = domain;
	struct landlock_ruleset *ruleset = domain;

	if (bpf_core_field_exists(newer->handled_masks))
		return BPF_CORE_READ(newer, num_layers);
	return BPF_CORE_READ(ruleset, num_layers);
}

/* The rights that each layer of a domain handles, 32 bits a layer. NULL before Linux 6.7: no rights about ports. */
static __always_inline u32 *access_masks_of(void *domain)
{
	struct landlock_domain *newer = domain;
	struct landlock_ruleset *ruleset = domain;
	struct landlock_ruleset___6_10 *older = domain;

	if (bpf_core_field_exists(newer->handled_masks))
		return (u32 *)&newer->handled_masks;
	if (bpf_core_field_exists(ruleset->access_masks))
		return (u32 *)&ruleset->access_masks;
	if (bpf_core_field_exists(older->access_masks))
		return (u32 *)&older->access_masks;
	return NULL;
}

/*
 * Whether Landlock restricts the TCP ports of a task. Its rules do not cover MPTCP sockets (hook_socket_bind, hook_socket_connect:
 * sk_is_tcp).
 */
static __always_inline bool restricts_ports(struct task_struct *task)
{
	void *security = (void *)BPF_CORE_READ(task, cred, security);
	void *domain = NULL;
	u32 layers;

	if (!host.landlock)
		return false;
	bpf_probe_read_kernel(&domain, sizeof(domain), security + host.landlock_offset);
	if (!domain)
		return false;
	layers = layers_of(domain);
	for (u32 i = 0; i < 16; i++) { /* LANDLOCK_MAX_NUM_LAYERS */
		u32 mask = 0;

		if (i == layers)
			break;
		bpf_probe_read_kernel(&mask, sizeof(mask), access_masks_of(domain) + i);
		if (mask & host.landlock_ports)
			return true;
	}
	return false;
}

SEC("fmod_ret/update_socket_protocol")
int BPF_PROG(lisa_socket, int family, int type, int protocol)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	union name algorithm = {};

	/* 0: the next program decides, or the kernel. Another number: the kernel runs no further program (fmod_ret). */
	if (family != AF_INET && family != AF_INET6)
		return 0;
	if ((type & SOCK_TYPE_MASK) != SOCK_STREAM || (protocol && protocol != IPPROTO_TCP))
		return 0;
	if (!algorithm_of((u64)BPF_CORE_READ(task, cgroups, dfl_cgrp), &algorithm))
		return 0;
	if (!mptcp_enabled(task) || restricts_ports(task))
		return 0;
	return IPPROTO_MPTCP;
}

static __always_inline struct mptcp_subflow_context *context_of(struct tcp_sock *tp)
{
	return BPF_CORE_READ((struct inet_connection_sock *)tp, icsk_ulp_data);
}

/* The MPTCP socket of a subflow. */
static __always_inline struct mptcp_sock *connection_of(struct tcp_sock *tp)
{
	return (struct mptcp_sock *)BPF_CORE_READ(context_of(tp), conn);
}

/*
 * Whether the subflow waits in the connection's join_list. It gets its number together with the MPTCP socket's options, both
 * under its lock (__mptcp_finish_join).
 */
static __always_inline bool waits_to_join(struct tcp_sock *tp)
{
	return !BPF_CORE_READ(context_of(tp), subflow_id);
}

/*
 * Whether the program has set TCP_CONGESTION. mptcp_sock.ca_name holds the last name that the program set; until then it holds
 * the default of the network namespace (mptcp_ca_reset).
 */
static __always_inline bool chosen_by_program(struct tcp_sock *tp, struct mptcp_sock *msk)
{
	struct net *net = BPF_CORE_READ((struct sock *)tp, __sk_common.skc_net.net);
	union name chosen, first;

	BPF_CORE_READ_INTO(&chosen, msk, ca_name);
	BPF_CORE_READ_INTO(&first, net, ipv4.tcp_congestion_control, name);
	for (int i = 0; i < CA_NAME && chosen.text[i] == first.text[i]; i++)
		if (!chosen.text[i])
			return false;
	return true;
}

/* Whether this is the only sockops program that the kernel runs for the sockets of a cgroup. */
static __always_inline bool is_only_program(struct cgroup *cgroup)
{
	u32 type = bpf_core_enum_value(enum cgroup_bpf_attach_type, CGROUP_SOCK_OPS);
	struct cgroup_bpf *bpf = &((struct cgroup___bpf *)cgroup)->bpf;
	struct bpf_prog_array *programs = NULL;

	bpf_probe_read_kernel(&programs, sizeof(programs),
			      (void *)&bpf->effective + type * sizeof(void *));
	return programs && !BPF_CORE_READ(programs, items[1].prog);
}

/* Requests a call of lisa_connected whenever the kernel computes the length of this join's TCP headers. */
static __always_inline void check_again(struct bpf_sock_ops *ctx, struct bpf_sock *sk)
{
	u32 flags = ctx->bpf_sock_ops_cb_flags;
	struct join *join = bpf_sk_storage_get(&joins, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);

	if (!join || flags & BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG)
		return;
	join->set_flag = true;
	bpf_sock_ops_cb_flags_set(ctx, flags | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/*
 * Ends these calls. The kernel has one flag for all programs and does not record which of them have set it. Where another sockops
 * program runs for the socket, it may have set the flag after lisa_connected, and the flag stays: calls that no program uses
 * harm less than calls that another program misses.
 */
static __always_inline void checked(struct bpf_sock_ops *ctx, struct bpf_sock *sk,
				    struct cgroup *cgroup, bool set_flag)
{
	bpf_sk_storage_delete(&joins, sk);
	if (set_flag && is_only_program(cgroup))
		bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags &
						       ~BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
}

/*
 * Sets the algorithm where Linux calls a congestion control's init next (tcp_init_transfer).
 *
 * A join that Linux accepts while the program holds the connection's lock gets the MPTCP socket's options later, with them the
 * default algorithm (__mptcp_flush_join_list, sync_socket_options), but before it can send. Such a join is therefore checked again
 * when the kernel computes the length of its TCP headers, until it has left join_list. If another program clears the flag
 * meanwhile, the join keeps the default algorithm.
 *
 * Sockets of other commands, and calls that other programs have requested, change nothing.
 */
SEC("sockops")
int lisa_connected(struct bpf_sock_ops *ctx)
{
	union name algorithm = {}, current;
	struct bpf_sock *sk = ctx->sk;
	struct mptcp_sock *msk;
	struct cgroup *cgroup;
	struct tcp_sock *tp;
	u32 op = ctx->op;

	if (op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB && op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB &&
	    op != BPF_SOCK_OPS_HDR_OPT_LEN_CB)
		return 1;
	if (!sk)
		return 1;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 1;
	cgroup = BPF_CORE_READ((struct sock *)tp, sk_cgrp_data.cgroup);
	if (op == BPF_SOCK_OPS_HDR_OPT_LEN_CB) {
		struct join *join = bpf_sk_storage_get(&joins, sk, NULL, 0);

		if (!join)
			return 1;
		/* The last check if the subflow has its options, or sends data, whatever the connection has become. */
		if (tp->data_segs_out || !tp->is_mptcp || !waits_to_join(tp))
			checked(ctx, sk, cgroup, join->set_flag);
	}
	if (!tp->is_mptcp)
		return 1;
	if (!algorithm_of((u64)cgroup, &algorithm))
		return 1;
	msk = connection_of(tp);
	if (!msk || chosen_by_program(tp, msk))
		return 1;
	if (op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB && waits_to_join(tp))
		check_again(ctx, sk);
	if (op == BPF_SOCK_OPS_HDR_OPT_LEN_CB) {
		BPF_CORE_READ_INTO(&current, (struct inet_connection_sock *)tp, icsk_ca_ops, name);
		if (same(&current, &algorithm))
			return 1;
	}
	bpf_setsockopt(ctx, SOL_TCP, TCP_CONGESTION, &algorithm, sizeof(algorithm));
	return 1;
}

/* The words of a task's cred->security that are searched for Landlock's. */
#define BLOB 64

static u64 blob[BLOB];

/*
 * Runs twice: before and after the calling thread has entered a Landlock domain of its own that handles only the rights about TCP
 * ports. The offsets are kernel variables, and /proc/kallsyms has them with CONFIG_KALLSYMS_ALL only.
 */
SEC("syscall")
int lisa_survey(u32 *in_domain)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
	void *security = (void *)BPF_CORE_READ(task, cred, security);
	struct net *net = BPF_CORE_READ(task, nsproxy, net_ns);
	u32 slots = BPF_CORE_READ(net, gen, s.len);

	for (u32 i = 0; i < BLOB; i++) {
		void *domain = NULL;
		u64 before = blob[i];

		bpf_probe_read_kernel(&domain, sizeof(domain), security + i * sizeof(u64));
		blob[i] = (u64)domain;
		if (!*in_domain || before || layers_of(domain) != 1)
			continue;
		host.landlock_offset = i * sizeof(u64);
		bpf_probe_read_kernel(&host.landlock_ports, sizeof(host.landlock_ports),
				      access_masks_of(domain));
		host.landlock = !!host.landlock_ports;
		break;
	}
	for (u32 i = 3; i < 256 && i < slots; i++) { /* MIN_PERNET_OPS_ID */
		struct mptcp_pernet *mptcp = pernet(net, i);
		const struct ctl_table *first = BPF_CORE_READ(mptcp, ctl_table_hdr, ctl_table);
		char name[8] = {};

		if (BPF_CORE_READ(first, data) != &mptcp->mptcp_enabled)
			continue;
		bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(first, procname));
		if (!bpf_strncmp(name, sizeof(name), "enabled"))
			host.mptcp_id = i;
	}
	return 0;
}
