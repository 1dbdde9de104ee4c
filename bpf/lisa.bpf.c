// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The algorithms of cc/ as a Linux congestion control (tcp_congestion_ops by struct_ops).
 *
 * Each callback fetches what the algorithm may know, calls cc/ and writes back the window. Callbacks of one
 * socket never run together; those of two subflows of one connection do, and meet in the connection's entry in
 * the map `connections`, in the way that cc/connection.h describes.
 *
 * Sockets without MPTCP, and subflows for which there is no room, run alone.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#define MPCC_WITHOUT_LINUX_OWN /* in cc/: the kernel has its own CUBIC and HyStart */
#include "contract.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct lisa_settings settings;

struct lisa_totals totals;

/* In a map of its own: user space replaces it whole, and would take counts back with it. */
struct lisa_control control SEC(".data.control");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* set when loaded */
	__type(key, struct lisa_key);
	__type(value, struct lisa_connection);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* set when loaded */
	__type(key, struct lisa_subflow_key);
	__type(value, struct lisa_subflow);
} subflows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1); /* set when loaded */
} events SEC(".maps");

/* Linux's own CUBIC (net/ipv4/tcp_cubic.c), where it is compiled in. Its state, struct bictcp, fills icsk_ca_priv. */
extern void cubictcp_init(struct sock *sk) __ksym __weak;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym __weak;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym __weak;
extern void cubictcp_state(struct sock *sk, u8 new_state) __ksym __weak;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym __weak;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym __weak;

/* What icsk_ca_priv has for the others, where Linux's own CUBIC has that. It goes with the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lisa_socket);
} sockets SEC(".maps");

/*
 * What a new entry starts as: it is too large for the stack. Nobody enters before it is opened: its memory may have been another
 * connection's until now, and a subflow of that one may still be looking at it.
 */
static const struct lisa_connection no_connection = { .coupled.used = MPCC_OVER };

#define PAIR ((struct mpcc_pair){ settings.pair.slow_start, settings.pair.avoidance })

/*
 * Whether Linux's own CUBIC goes on after slow start. A constant, as the pair is: where it is not so, the kernel need not have
 * the functions above.
 */
#define OVER_CUBIC (settings.pair.avoidance == MPCC_CUBIC)

static __always_inline void count(u64 *total)
{
	__sync_fetch_and_add(total, 1);
}

static __always_inline struct tcp_sock *tcp_of(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

/* NULL: over CUBIC, and there was no memory for it. Then the socket runs CUBIC alone. */
static __always_inline struct lisa_socket *private_of(struct sock *sk)
{
	if (OVER_CUBIC)
		return bpf_sk_storage_get(&sockets, sk, NULL, 0);
	return (struct lisa_socket *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* The socket's connection, or NULL where it runs alone. */
static __always_inline struct mpcc_connection *connection_of(struct lisa_socket *private)
{
	struct lisa_key key = private->key;
	struct lisa_connection *connection;

	if (private->subflow.slot == MPCC_NO_SLOT)
		return NULL;
	connection = bpf_map_lookup_elem(&connections, &key);
	return connection ? &connection->coupled : NULL;
}

/* Linux: tcp_is_cwnd_limited. In slow start a window may grow to twice what was in flight of it. */
static __always_inline bool cwnd_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/*
 * RACK keeps the RTT of the segment that was sent last of those that the ACK acknowledges, as the sample that Linux
 * itself takes for congestion control (ack_sample.rtt_us); an ACK of a copy that may answer the original leaves it.
 */
static __always_inline struct mpcc_tcp fetch(struct tcp_sock *tp)
{
	return (struct mpcc_tcp){
		.cwnd = tp->snd_cwnd,
		.cwnd_clamp = tp->snd_cwnd_clamp,
		.ssthresh = tp->snd_ssthresh,
		.srtt8 = tp->srtt_us,
		.flight = tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out,
		.cwnd_limited = cwnd_limited(tp),
		.rtt_us = tp->rack.rtt_us,
	};
}

static __always_inline void store(struct tcp_sock *tp, const struct mpcc_tcp *tcp)
{
	if (tp->snd_cwnd != tcp->cwnd)
		tp->snd_cwnd = tcp->cwnd;
	if (tp->snd_ssthresh != tcp->ssthresh)
		tp->snd_ssthresh = tcp->ssthresh;
}

/* Whether somebody listens for events of this kind. A listener that did not renew its term is forgotten. */
static __always_inline bool wanted(u32 kind)
{
	if (!(MPCC_READ(control.listen_to) & 1U << kind))
		return false;
	if (bpf_ktime_get_ns() < MPCC_READ(control.listen_until))
		return true;
	MPCC_WRITE(control.listen_to, 0);
	return false;
}

static __always_inline u8 phase_of(const struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	return c && s->slot != MPCC_NO_SLOT ? c->slot[MPCC_SLOT(s->slot)].phase : MPCC_ABSENT;
}

/* An event with the socket's state filled in, or NULL. */
static __always_inline struct lisa_event *event(struct sock *sk, struct mpcc_connection *c,
						u32 kind)
{
	struct lisa_socket *private = private_of(sk);
	struct tcp_sock *tp = tcp_of(sk);
	struct lisa_event *e;

	if (!private)
		return NULL;
	e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		count(&totals.events_lost);
		return NULL;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->time = bpf_ktime_get_ns();
	e->connection = private->key;
	e->kind = kind;
	e->slot = private->subflow.slot;
	e->other = MPCC_NO_SLOT;
	e->phase = phase_of(c, &private->subflow);
	e->group = private->subflow.group;
	e->cwnd = tp->snd_cwnd;
	e->ssthresh = tp->snd_ssthresh;
	e->srtt8 = tp->srtt_us;
	e->flight = tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
	e->retransmits = tp->total_retrans;
	return e;
}

static void tell(struct sock *sk, struct mpcc_connection *c, u32 kind)
{
	struct lisa_event *e;

	if (!wanted(kind))
		return;
	e = event(sk, c, kind);
	/* Waking the listener costs microseconds: too much on every ACK, and it looks now and then anyway. */
	if (e)
		bpf_ringbuf_submit(e, kind == LISA_EVENT_ACK ? BPF_RB_NO_WAKEUP : 0);
}

/* One event for each credit that was settled or found void: `takers` has the slots that took them. */
static void tell_credits(struct sock *sk, struct mpcc_connection *c, u32 kind, u32 takers,
			 const struct mpcc_note *note)
{
	if (!c || !wanted(kind))
		return;
	for (u32 i = 0; i < MPCC_SUBFLOWS; i++) {
		struct lisa_event *e;

		if (!(takers & 1U << i))
			continue;
		e = event(sk, c, kind);
		if (!e)
			return;
		e->other = i;
		e->credit = c->slot[i].credit;
		e->ignored = note->ignored;
		e->sum_before = note->sum_before;
		e->sum_after = note->sum_after;
		bpf_ringbuf_submit(e, 0);
	}
}

/* Counts and tells what a callback did. Nearly always nothing. */
static __always_inline void report(struct sock *sk, struct mpcc_connection *c,
				   const struct mpcc_note *note)
{
	u32 what = note->what;

	if (!what)
		return;
	if (what & MPCC_NOTE_SETTLED) {
		__sync_fetch_and_add(&totals.credits_settled, __builtin_popcount(note->settled));
		tell_credits(sk, c, LISA_EVENT_SETTLED, note->settled, note);
	}
	if (what & MPCC_NOTE_VOID) {
		__sync_fetch_and_add(&totals.credits_void, __builtin_popcount(note->voided));
		tell_credits(sk, c, LISA_EVENT_VOID, note->voided, note);
	}
	if (what & MPCC_NOTE_LEFT_SLOW_START)
		tell(sk, c, LISA_EVENT_LEFT_SLOW_START);
	if (what & MPCC_NOTE_MOVED)
		tell(sk, c, LISA_EVENT_MOVED);
}

/* Which MPTCP connection a socket is a subflow of. False for plain TCP. */
static __always_inline bool identify(struct sock *sk, struct lisa_key *key)
{
	struct mptcp_subflow_context *subflow;
	struct sock *connection;

	if (!tcp_of(sk)->is_mptcp)
		return false;
	subflow = BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_data);
	connection = BPF_CORE_READ(subflow, conn);
	if (!connection)
		return false;
	key->socket = (u64)connection;
	key->token = BPF_CORE_READ((struct mptcp_sock *)connection, token);
	return true;
}

/* The connection's entry, made where there is none, with a slot for this subflow. NULL: no room. */
static __always_inline struct lisa_connection *enter(const struct lisa_key *key, u8 *slot)
{
	struct lisa_connection *connection = bpf_map_lookup_elem(&connections, key);

	if (!connection) {
		bool made = !bpf_map_update_elem(&connections, key, &no_connection, BPF_NOEXIST);

		connection = bpf_map_lookup_elem(&connections, key);
		if (!connection) {
			count(&totals.connections_alone);
			return NULL;
		}
		if (made) { /* and not another subflow at the same time */
			connection->key = *key;
			connection->since = bpf_ktime_get_ns();
			connection->coupled.con_ssthresh = settings.con_ssthresh;
			mpcc_open(&connection->coupled, key->token);
			count(&totals.connections_opened);
		}
	}
	*slot = mpcc_enter(&connection->coupled, key->token);
	if (*slot == MPCC_NO_SLOT) {
		count(&totals.subflows_alone);
		return NULL;
	}
	/* The next to have this slot, or this entry, comes after this one is counted. */
	connection->coupled.slot[MPCC_SLOT(*slot)].wish.serial = totals.subflows_opened;
	return connection;
}

/* Writes down a subflow's addresses, for those who watch. */
static __always_inline void introduce(struct sock *sk, const struct lisa_key *key, u8 slot)
{
	struct lisa_subflow_key who = { .connection = *key, .slot = slot };
	struct sock_common *common = &sk->__sk_common;
	struct lisa_subflow subflow = {
		.since = bpf_ktime_get_ns(),
		.netns = BPF_CORE_READ(common, skc_net.net, ns.inum),
		.family = BPF_CORE_READ(common, skc_family),
		.local_port = BPF_CORE_READ(common, skc_num),
		.remote_port = __builtin_bswap16(BPF_CORE_READ(common, skc_dport)),
	};

	if (subflow.family == AF_INET6 && bpf_core_field_exists(common->skc_v6_daddr)) {
		BPF_CORE_READ_INTO((struct in6_addr *)subflow.local, common, skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO((struct in6_addr *)subflow.remote, common, skc_v6_daddr);
	} else {
		BPF_CORE_READ_INTO((__be32 *)subflow.local, common, skc_rcv_saddr);
		BPF_CORE_READ_INTO((__be32 *)subflow.remote, common, skc_daddr);
	}
	bpf_map_update_elem(&subflows, &who, &subflow, 0);
}

/* This subflow closed, or left its group, before its lender paid the credit. */
static void tell_withdrawn(struct sock *sk, u8 lender, u8 credit)
{
	struct lisa_event *e;

	count(&totals.credits_void);
	if (!wanted(LISA_EVENT_VOID))
		return;
	e = event(sk, NULL, LISA_EVENT_VOID);
	if (!e)
		return;
	e->other = e->slot;
	e->slot = lender;
	e->credit = credit;
	bpf_ringbuf_submit(e, 0);
}

static void tell_start(struct sock *sk, struct mpcc_connection *c, u8 i)
{
	struct lisa_event *e;

	if (!wanted(LISA_EVENT_START))
		return;
	e = event(sk, c, LISA_EVENT_START);
	if (!e)
		return;
	e->credit = c->slot[MPCC_SLOT(i)].credit;
	e->other = c->slot[MPCC_SLOT(i)].lender;
	e->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	e->remote_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	bpf_ringbuf_submit(e, 0);
}

SEC("struct_ops")
void BPF_PROG(lisa_init, struct sock *sk)
{
	struct lisa_socket *private;
	struct tcp_sock *tp = tcp_of(sk);
	struct lisa_connection *connection = NULL;
	struct mpcc_tcp tcp = fetch(tp);
	struct mpcc_note note = {};
	struct lisa_key key = {};
	u8 slot = MPCC_NO_SLOT;

	if (OVER_CUBIC) {
		cubictcp_init(sk);
		bpf_sk_storage_get(&sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	}
	private = private_of(sk);
	if (!private)
		return;
	if (identify(sk, &key)) {
		connection = enter(&key, &slot);
		count(&totals.subflows_opened);
	} else {
		count(&totals.plain_opened);
	}
	__builtin_memset(private, 0, sizeof(*private));
	private->key = key;
	private->subflow.slot = slot;
	/* One that changes its algorithm may be in the middle of a repair. */
	private->subflow.state =
		BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
	if (!connection) {
		mpcc_init(PAIR, NULL, &private->subflow, &tcp, tp->data_segs_out == 0, &note);
		return;
	}
	introduce(sk, &key, slot);
	mpcc_init(PAIR, &connection->coupled, &private->subflow, &tcp, tp->data_segs_out == 0,
		  &note);
	store(tp, &tcp);
	if (note.what & MPCC_NOTE_TAKEN)
		count(&totals.credits_taken);
	tell_start(sk, &connection->coupled, slot);
}

/*
 * Over CUBIC, before an ACK may grow the window: CUBIC's own hearing of it, which Linux calls pkts_acked. As a callback of its
 * own that would look up the socket and its connection once more. What it does not hear so are ACKs that acknowledge nothing new,
 * and those of a reduction: HyStart is over by then, and CUBIC itself discards samples for a second after one. Without SACK there
 * is no RACK, and the smoothed RTT stands in for the sample.
 */
static __always_inline void hear(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct ack_sample sample = {
		.pkts_acked = acked,
		.rtt_us = tp->rack.rtt_us ? tp->rack.rtt_us : tp->srtt_us >> 3,
	};

	if (sample.rtt_us)
		cubictcp_acked(sk, &sample);
}

/* In slow start, HyStart, which comes with CUBIC, may end that. What others took is paid first, or it would be void. */
static __always_inline void hear_in_slow_start(struct sock *sk, struct mpcc_connection *c,
					       struct mpcc_subflow *s, u32 acked,
					       struct mpcc_note *note)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct mpcc_tcp tcp = fetch(tp);

	mpcc_pay(PAIR, c, s, &tcp, tcp.flight + acked, note);
	store(tp, &tcp);
	hear(sk, acked);
	if (settings.pair.slow_start == MPCC_HYSTARTPP)
		store(tp, &tcp); /* takes HyStart's end back */
	else if (tp->snd_cwnd >= tp->snd_ssthresh)
		mpcc_left_slow_start(PAIR, c, s, note);
}

SEC("struct_ops")
void BPF_PROG(lisa_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct lisa_socket *private = private_of(sk);
	struct tcp_sock *tp = tcp_of(sk);
	struct mpcc_note note = {};
	struct mpcc_connection *c;
	struct mpcc_tcp tcp;

	if (!private) {
		if (OVER_CUBIC) {
			hear(sk, acked);
			cubictcp_cong_avoid(sk, ack, acked);
		}
		return;
	}
	c = connection_of(private);
	if (OVER_CUBIC) {
		if (tp->snd_cwnd < tp->snd_ssthresh)
			hear_in_slow_start(sk, c, &private->subflow, acked, &note);
		else
			hear(sk, acked);
	}
	tcp = fetch(tp);
	mpcc_on_ack(PAIR, c, &private->subflow, &tcp, acked, &note);
	store(tp, &tcp);
	if (OVER_CUBIC && note.rest) {
		cubictcp_cong_avoid(sk, ack, note.rest);
		tcp = fetch(tp);
		mpcc_show_change(PAIR, c, &private->subflow, &tcp);
	}
	report(sk, c, &note);
	if (c && note.what & MPCC_NOTE_WITHDRAWN) {
		struct mpcc_slot *slot = &c->slot[MPCC_SLOT(private->subflow.slot)];

		tell_withdrawn(sk, slot->lender, slot->credit);
	}
	tell(sk, c, LISA_EVENT_ACK);
}

SEC("struct_ops")
u32 BPF_PROG(lisa_ssthresh, struct sock *sk)
{
	struct lisa_socket *private = private_of(sk);
	struct mpcc_tcp tcp = fetch(tcp_of(sk));
	struct mpcc_note note = {};
	struct mpcc_connection *c;
	u32 ssthresh = 0;

	if (OVER_CUBIC)
		ssthresh = cubictcp_recalc_ssthresh(sk);
	if (!private)
		return ssthresh;
	c = connection_of(private);
	if (OVER_CUBIC)
		mpcc_ssthresh(PAIR, c, &private->subflow, &tcp, &note);
	else
		ssthresh = mpcc_ssthresh(PAIR, c, &private->subflow, &tcp, &note);
	report(sk, c, &note);
	if (wanted(LISA_EVENT_LOSS)) {
		struct lisa_event *e = event(sk, c, LISA_EVENT_LOSS);

		if (e) {
			e->ssthresh = ssthresh;
			bpf_ringbuf_submit(e, 0);
		}
	}
	return ssthresh;
}

SEC("struct_ops")
u32 BPF_PROG(lisa_undo_cwnd, struct sock *sk)
{
	struct mpcc_tcp tcp = fetch(tcp_of(sk));

	if (OVER_CUBIC)
		return tcp_reno_undo_cwnd(sk);
	return mpcc_undo(&private_of(sk)->subflow, &tcp);
}

SEC("struct_ops")
void BPF_PROG(lisa_set_state, struct sock *sk, u8 state)
{
	struct lisa_socket *private = private_of(sk);
	struct mpcc_tcp tcp = fetch(tcp_of(sk));
	struct mpcc_note note = {};
	struct mpcc_connection *c;

	if (OVER_CUBIC)
		cubictcp_state(sk, state);
	if (!private || !private->subflow.ready)
		return;
	c = connection_of(private);
	mpcc_set_state(PAIR, c, &private->subflow, &tcp, state, &note);
	report(sk, c, &note);
}

SEC("struct_ops")
void BPF_PROG(lisa_cwnd_event, struct sock *sk, u32 what)
{
	struct lisa_socket *private = private_of(sk);
	struct mpcc_note note = {};
	struct mpcc_connection *c;
	struct mpcc_tcp tcp;

	if (OVER_CUBIC)
		cubictcp_cwnd_event(sk, what);
	if (!private || !private->subflow.ready ||
	    (what != MPCC_EVENT_TX_START && what != MPCC_EVENT_CWND_RESTART))
		return;
	c = connection_of(private);
	tcp = fetch(tcp_of(sk));
	mpcc_cwnd_event(PAIR, c, &private->subflow, &tcp, what, &note);
	store(tcp_of(sk), &tcp);
	report(sk, c, &note);
}

SEC("struct_ops")
void BPF_PROG(lisa_release, struct sock *sk)
{
	struct lisa_socket *private = private_of(sk);
	struct mpcc_note note = {};
	struct mpcc_connection *c;
	struct lisa_subflow_key who;

	if (!private || !private->subflow.ready)
		return;
	__builtin_memset(&who, 0, sizeof(who));
	who.connection = private->key;
	who.slot = private->subflow.slot;
	count(who.connection.socket ? &totals.subflows_closed : &totals.plain_closed);
	c = connection_of(private);
	tell(sk, c, LISA_EVENT_CLOSE);
	if (c) {
		/* Once released, the slot is another's. */
		u8 lender = c->slot[MPCC_SLOT(who.slot)].lender;
		u8 credit = c->slot[MPCC_SLOT(who.slot)].credit;
		bool last;

		bpf_map_delete_elem(&subflows, &who);
		last = mpcc_release(PAIR, c, &private->subflow, &note);
		report(sk, c, &note);
		if (note.what & MPCC_NOTE_WITHDRAWN)
			tell_withdrawn(sk, lender, credit);
		if (last) {
			bpf_map_delete_elem(&connections, &who.connection);
			count(&totals.connections_closed);
		}
	}
	private->subflow.ready = false;
	if (OVER_CUBIC)
		bpf_sk_storage_delete(&sockets, sk);
}

/* The name is filled in when loaded. */
SEC(".struct_ops")
struct tcp_congestion_ops lisa = {
	.init = (void *)lisa_init,
	.cong_avoid = (void *)lisa_cong_avoid,
	.ssthresh = (void *)lisa_ssthresh,
	.undo_cwnd = (void *)lisa_undo_cwnd,
	.set_state = (void *)lisa_set_state,
	.cwnd_event = (void *)lisa_cwnd_event,
	.release = (void *)lisa_release,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "lisa",
};
