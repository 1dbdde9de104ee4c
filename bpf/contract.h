/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layout shared by the BPF object and the programs that load and read it. Included by both sides. A change here requires a higher
 * LISA_CONTRACT, so that a newer program does not misread the maps of an older object.
 */
#ifndef LISA_CONTRACT_H
#define LISA_CONTRACT_H

#include "callbacks.h"

#define LISA_CONTRACT 11

/* Set before the object is loaded: constants for the verifier, which removes the branches that are not taken. */
struct lisa_settings {
	u32 contract; /* LISA_CONTRACT */
	char algorithm[16]; /* a name in the table of cc/table.h */
	struct mpcc_pair pair;
	u8 keeps_plain; /* sockets without MPTCP stay under this algorithm (bpf/plain.h) */
	u8 reserved;
	u32 owner_pid; /* process for whose lifetime this is loaded; 0: until it is unloaded */
	u32 hz; /* jiffies per second */
	u64 owner_start; /* start time of owner_pid (field 22 of /proc/PID/stat), because process ids are reused */
	u64 loaded; /* time of the load: ns, CLOCK_MONOTONIC */
	u32 hash_seed; /* random: no user can choose whose counter they share (struct lisa_limits) */
	u32 reserved2;
	u64 object; /* hash of the BPF object, which tells two builds of this project apart */
};

/* Largest number of ranges of user ids in struct lisa_limits. */
#define LISA_USER_RANGES 32

/* User ids, first and last inclusive. */
struct lisa_user_range {
	u32 first;
	u32 last;
};

/*
 * Settings that can change while the object is loaded. User space replaces the whole value; a connection that opens at that moment may
 * read some of the old and some of the new values.
 *
 * The bounds on connections of users keep one user, or all ids of a user namespace together, from taking every entry. Users are
 * counted in LISA_USERS counters by a hash: two users may share a counter, and then its bound.
 */
struct lisa_limits {
	u32 setting[MPCC_SETTINGS]; /* of the pair, for new connections: mpcc_connection.setting */
	u32 connections; /* number of connections with an entry, of all users */
	u32 user_connections; /* number of connections with an entry, of one user outside of `unlimited` */
	u32 other_connections; /* number of connections with an entry, of all users outside of `unlimited` */
	u32 ranges; /* number of ranges in `unlimited` */
	struct lisa_user_range unlimited[LISA_USER_RANGES];
};

/* Number of counters of connections by user. A power of two. */
#define LISA_USERS 4096

/* Numbers of connections with an entry. */
struct lisa_usage {
	u32 attached; /* subflows that have taken a slot since the load: tells successive owners of a slot apart */
	u32 connections; /* of all users */
	u32 others; /* of users outside of lisa_limits.unlimited when they were opened */
	u32 reserved;
	u32 user[LISA_USERS]; /* of these users, by hash */
};

/*
 * One MPTCP connection of this host. No two open connections have the same token (mptcp_token_exists). The kernel reuses
 * addresses; an address with its token does not recur soon. Eight bytes, because each ACK looks the key up: a key of 16 costs
 * 40 instructions more (jhash2).
 */
struct lisa_key {
	u32 socket; /* address of the kernel's mptcp_sock, shifted right by LISA_ADDRESS_SHIFT */
	u32 token; /* RFC 8684, 3.2 */
} __attribute__((aligned(8)));

/* An mptcp_sock takes more than 64 bytes, so that no two of them have the same key.socket within 256 GiB. */
#define LISA_ADDRESS_SHIFT 6

struct lisa_connection {
	struct mpcc_connection coupled;
	struct lisa_key key;
	u64 since; /* ns, CLOCK_MONOTONIC */
	u64 namespace; /* cookie of the network namespace: its counters */
	u32 user; /* counter in lisa_usage.user, or LISA_UNLIMITED */
	u32 reserved;
} __attribute__((aligned(64)));

/* lisa_connection.user: the user's connections are not bounded. */
#define LISA_UNLIMITED (~0U)

/* Key of struct lisa_subflow. */
struct lisa_subflow_key {
	struct lisa_key connection;
	u32 slot;
	u32 reserved;
};

/* A subflow's addresses and namespace, for user space. No algorithm reads them. */
struct lisa_subflow {
	u64 since; /* ns, CLOCK_MONOTONIC */
	u32 netns; /* inode number of the network namespace */
	u16 family; /* AF_INET, AF_INET6 */
	u16 local_port; /* host byte order */
	u16 remote_port; /* host byte order */
	u16 reserved[3];
	u8 local[16]; /* an IPv4 address takes the first four */
	u8 remote[16];
};

/* A socket's private state: in icsk_ca_priv, or in socket storage where Linux's CUBIC uses icsk_ca_priv. */
struct lisa_socket {
	struct lisa_key key;
	struct mpcc_subflow subflow;
};

_Static_assert(sizeof(struct lisa_socket) <= 104, "icsk_ca_priv");

/*
 * Counters of a network namespace since the object was loaded, u64 each. A new load takes over the counters of the one that it
 * replaces.
 */
struct lisa_totals {
	u64 connections_opened;
	u64 connections_closed;
	u64 connections_swept; /* entries without a socket, which user space deleted (left_over.rs); counted as closed, too */
	u64 subflows_opened;
	u64 subflows_closed;
	u64 alone_full; /* subflows that run uncoupled: there were as many connections as there may be */
	u64 alone_user; /* subflows that run uncoupled: their user had as many connections as a user may have */
	u64 alone_slots; /* subflows that run uncoupled: their connection had no free slot, or closed at that moment */
	u64 alone_joins; /* subflows among these three that joined, and grow slowly (cc/no_room.h) */
	u64 apart_joins; /* subflows that joined a connection whose earlier subflows run another algorithm, or another load */
	u64 plain_opened; /* sockets without MPTCP that run this algorithm alone */
	u64 plain_closed;
	u64 plain_returned; /* sockets without MPTCP that got their network namespace's own algorithm */
	u64 plain_refused; /* sockets without MPTCP whose change of algorithm the kernel refused; counted in plain_opened, too */
	u64 credits_taken;
	u64 credits_settled;
	u64 credits_void;
	u64 slow_start_exits; /* without a loss */
	u64 losses; /* reductions: recoveries, congestion signals, RTOs */
	u64 events_lost; /* events dropped because the ring buffer was full */
	u64 deletions_failed; /* map entries that the kernel refused to delete */
};

/* Counters of a network namespace, in a map. The key: its cookie (SO_NETNS_COOKIE). */
struct lisa_namespace {
	struct lisa_totals totals;
	u32 netns; /* inode number */
	u32 reserved;
};

/* Largest number of network namespaces with counters of their own. The others share `other_totals`. */
#define LISA_NAMESPACES 4096

/* Largest number of simultaneous listeners. Each has a ring buffer of its own. */
#define LISA_LISTENERS 8

/* Requests of listeners. Written by the program `listen` of requests.bpf.c. */
struct lisa_control {
	/* Byte k: the listeners that may request events of kind k, bit i for listener i. A bit may outlast its listener. */
	u64 requested;
	struct {
		u64 until; /* ns, CLOCK_MONOTONIC; renewed by the listener, so that the request of a dead one expires */
		u32 kinds; /* bit k: events of kind k are requested; 0: no listener */
		u32 owner; /* a number that the listener has chosen at random */
	} listener[LISA_LISTENERS];
};

/* The context of `listen` in requests.bpf.c. */
struct lisa_listen {
	u64 until; /* 0: the listener ends */
	u32 kinds;
	u32 owner; /* not 0 */
};

/*
 * Default of a network namespace before this algorithm replaced it. Written by the command that sets the default. The key is the
 * namespace's cookie (SO_NETNS_COOKIE), which is never reused, unlike an inode number.
 */
struct lisa_default {
	char previous[16]; /* the default before this algorithm */
	/* The last default before it that is no algorithm of this project. Sockets without MPTCP get it. */
	char plain[16];
};

/* Key of a copy of the first network namespace's record. Namespaces that are created later inherit that default. */
#define LISA_FIRST_NAMESPACE 0

/* Largest number of network namespaces with a record. */
#define LISA_DEFAULTS 16384

enum lisa_event_kind {
	LISA_EVENT_START, /* a subflow starts; credit: segments that it took; other: the lender's slot */
	LISA_EVENT_SETTLED, /* this subflow settled other's credit; ignored, sum_before, sum_after */
	/* Other's credit became void. If other closed first, the windows are other's. */
	LISA_EVENT_VOID,
	LISA_EVENT_SLOW_START_EXIT,
	LISA_EVENT_LOSS, /* cwnd before it, ssthresh after it */
	LISA_EVENT_CLOSE,
	LISA_EVENT_ACK, /* after each ACK that may grow the window */
	LISA_EVENT_MOVED, /* this subflow is in `group` from this ACK on */
	LISA_EVENT_KINDS,
};

_Static_assert(LISA_EVENT_KINDS <= 8 && LISA_LISTENERS == 8,
	       "lisa_control.requested has 8 x 8 bits");

struct lisa_event {
	u64 time; /* ns, CLOCK_MONOTONIC */
	struct lisa_key connection;
	u8 kind; /* enum lisa_event_kind */
	u8 slot;
	u8 other; /* slot of the subflow at the other end of a credit */
	u8 phase; /* enum mpcc_phase, after the callback */
	u32 cwnd; /* segments */
	u32 ssthresh; /* segments */
	u32 srtt8; /* eighths of a microsecond */
	u32 flight; /* segments */
	u32 retransmits; /* of this subflow so far, segments (tcp_sock.total_retrans) */
	u32 credit; /* segments */
	u32 ignored; /* segments */
	u32 sum_before; /* segments */
	u32 sum_after; /* segments */
	u16 local_port; /* START: host byte order */
	u16 remote_port;
	u8 group;
	u8 reserved[3];
};

/* The context of group.bpf.c: a request that a subflow move to another group. */
struct lisa_group_request {
	struct lisa_key connection;
	u32 slot;
	u16 generation; /* of the slot's owner: union mpcc_group_request */
	u8 group;
	u8 reserved;
};

/* A network namespace whose default algorithm is a BPF program, found by holders.bpf.c. The key: its address. */
struct lisa_default_of {
	u64 cookie; /* SO_NETNS_COOKIE */
	u32 map; /* id of the struct_ops map that holds the registration */
	u32 netns; /* inode number */
	u8 first; /* the first namespace, whose default later ones inherit */
	u8 ends; /* no references left: the kernel is freeing the namespace */
	u8 reserved[6];
};

enum lisa_timer {
	LISA_TIMER_NONE,
	LISA_TIMER_RETRANSMIT, /* of data, or of a FIN */
	LISA_TIMER_PROBE, /* of a window that is zero */
	LISA_TIMER_KEEPALIVE, /* or the end of FIN_WAIT2 */
	LISA_TIMER_CLOSE, /* of an orphaned MPTCP connection: net.mptcp.close_timeout */
};

/* A socket whose congestion control is a BPF program. The key: its address. */
struct lisa_holder {
	u64 connection; /* address of the MPTCP socket; 0: not a subflow */
	u64 read; /* time of the two counters below: ns, CLOCK_MONOTONIC */
	u64 bytes_acked; /* sent and acknowledged (tcp_sock) */
	u64 bytes_received; /* in order (tcp_sock) */
	u32 map; /* id of the struct_ops map that holds the registration */
	u32 netns; /* inode number of the network namespace */
	u16 family; /* AF_INET, AF_INET6 */
	u16 local_port; /* host byte order */
	u16 remote_port; /* host byte order */
	u8 state; /* enum of net/tcp_states.h */
	u8 mptcp; /* a subflow */
	u8 orphan; /* closed by its program (SOCK_DEAD) */
	u8 timer; /* enum lisa_timer */
	u8 backup; /* a subflow that is a backup, by its own endpoint's flag or by the peer's */
	u8 chosen; /* by setsockopt(TCP_CONGESTION): a listener then gives its algorithm to the sockets that it accepts */
	u8 reserved[4];
	u32 timer_jiffies; /* until it expires */
	u32 process; /* id of a process with a file descriptor of the socket; 0: none found */
	char command[16]; /* of this process */
	u8 local[16]; /* an IPv4 address takes the first four */
	u8 remote[16];
};

/* Largest number of listed entries of each kind. */
#define LISA_HOLDERS 65536

#endif
