/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF object and the programs that load and read it agree on. Included by both sides; a change here
 * raises LISA_CONTRACT, so that a newer program does not misread what an older one has loaded.
 */
#ifndef LISA_CONTRACT_H
#define LISA_CONTRACT_H

#include "algorithm.h"

#define LISA_CONTRACT 5

/* Fixed when the object is loaded; the verifier sees constants and drops the branches not taken. */
struct lisa_settings {
	u32 contract; /* LISA_CONTRACT */
	char algorithm[16]; /* a name in the table of cc/algorithm.h */
	struct mpcc_pair pair;
	u16 reserved;
	/* The process for whose lifetime alone this was loaded, or 0. */
	u32 owner_pid;
	u32 con_ssthresh; /* CSS: where one TCP would leave slow start, segments; 0: not set (cc/slow_start/css.h) */
	u64 owner_start; /* its start time (field 22 of /proc/PID/stat), since process ids come round again */
	u64 loaded; /* ns, CLOCK_MONOTONIC */
};

/* One MPTCP connection of this host. Addresses are used again; with the token they are not soon. */
struct lisa_key {
	u64 socket; /* address of the kernel's mptcp_sock */
	u32 token; /* RFC 8684, 3.2 */
	u32 reserved;
};

struct lisa_connection {
	struct mpcc_connection coupled;
	struct lisa_key key;
	u64 since; /* ns, CLOCK_MONOTONIC */
} __attribute__((aligned(64)));

/* A subflow's addresses and namespace: for people, not for algorithms. */
struct lisa_subflow_key {
	struct lisa_key connection;
	u32 slot;
	u32 reserved;
};

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

/* The private part of a socket: icsk_ca_priv, or beside the socket where Linux's own CUBIC has that. */
struct lisa_socket {
	struct lisa_key key;
	struct mpcc_subflow subflow;
};

_Static_assert(sizeof(struct lisa_socket) <= 104, "icsk_ca_priv");

/* Counted since the object was loaded. What is open now is opened less closed. */
struct lisa_totals {
	u64 connections_opened;
	u64 connections_closed;
	u64 connections_alone; /* subflows whose connection found no room in the map: they run uncoupled */
	u64 subflows_opened;
	u64 subflows_closed;
	u64 subflows_alone; /* subflows beyond the coupled number: they run uncoupled */
	u64 plain_opened; /* TCP without MPTCP, or fallen back to it */
	u64 plain_closed;
	u64 credits_taken;
	u64 credits_settled;
	u64 credits_void;
	u64 events_lost; /* the listener was too slow */
};

/* Written by the program that loads or listens. */
struct lisa_control {
	u64 listen_until; /* ns, CLOCK_MONOTONIC: a listener renews it, so that one that died is forgotten */
	u32 listen_to; /* bit k: events of kind k are wanted; 0 when nobody listens */
	u32 default_netns; /* the network namespace whose default algorithm this is, or 0, */
	char previous_default[16]; /* and what it was before */
};

enum lisa_event_kind {
	LISA_EVENT_START, /* a subflow starts; credit and other: what it took, and from which slot */
	LISA_EVENT_SETTLED, /* this subflow paid other's credit; ignored, sum_before, sum_after */
	/* Other's credit was not paid. Where other closed first, the windows are other's. */
	LISA_EVENT_VOID,
	LISA_EVENT_LEFT_SLOW_START,
	LISA_EVENT_LOSS, /* cwnd before it, ssthresh after it */
	LISA_EVENT_CLOSE,
	LISA_EVENT_ACK, /* after each ACK that may grow the window */
	LISA_EVENT_MOVED, /* this subflow is in `group` from this ACK on */
};

struct lisa_event {
	u64 time; /* ns, CLOCK_MONOTONIC */
	struct lisa_key connection;
	u8 kind; /* enum lisa_event_kind */
	u8 slot;
	u8 other; /* slot of the subflow at the other end of a credit */
	u8 phase; /* enum mpcc_phase, after */
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

/* What group.bpf.c is asked, its context: that a subflow be in another group. */
struct lisa_wish {
	struct lisa_key connection;
	u32 slot;
	u16 serial; /* of the subflow that is meant: union mpcc_wish */
	u8 group;
	u8 reserved;
};

#endif
