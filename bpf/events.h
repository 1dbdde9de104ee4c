/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events for user space (enum lisa_event_kind), and counts of credits. Nothing is emitted while no listener requests it. */
#ifndef LISA_EVENTS_H
#define LISA_EVENTS_H

#include "entries.h"

/* Written by the program `listen` only; in a map of its own, which that program shares. */
struct lisa_control control SEC(".data.control");

/* A listener's ring buffer, of the size that the listener chooses. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, LISA_LISTENERS);
	__type(key, u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* The listeners that may request events of this kind: bit i for listener i. */
static __always_inline u32 listeners_of(u32 kind)
{
	return MPCC_READ(control.requested) >> kind * LISA_LISTENERS & ((1U << LISA_LISTENERS) - 1);
}

static __always_inline u8 phase_of(const struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	return c && mpcc_has_slot(s) ? c->slot[MPCC_SLOT(s->slot)].phase : MPCC_ABSENT;
}

/* Writes an event to the ring buffers of these listeners, if they have renewed their request in time. */
__noinline int publish(const struct lisa_event *e, u32 listeners)
{
	if (!e)
		return 0;
	for (u32 i = 0; i < LISA_LISTENERS && listeners >> i; i++) {
		u32 key = i; /* on the stack, where the verifier does not follow a number */
		void *ring;

		if (!(listeners >> i & 1) || e->time >= MPCC_READ(control.listener[i].until))
			continue;
		ring = bpf_map_lookup_elem(&rings, &key);
		/* A wake-up takes microseconds, too much for each ACK: the listener polls for these. */
		if (ring && bpf_ringbuf_output(ring, (void *)e, sizeof(*e),
					       e->kind == LISA_EVENT_ACK ? BPF_RB_NO_WAKEUP : 0))
			__sync_fetch_and_add(&other_totals.events_lost, 1);
	}
	return 0;
}

/*
 * Returns the listeners that may request events of this kind. If there are any, fills in the event's kind and the socket's state.
 */
static __always_inline u32 describe(struct lisa_event *e, struct sock *sk,
				    const struct lisa_socket *private,
				    const struct mpcc_connection *c, u32 kind)
{
	struct tcp_sock *tp = tcp_of(sk);
	u32 listeners = listeners_of(kind);

	if (!listeners)
		return 0;
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
	e->flight = flight_of(tp);
	e->retransmits = tp->total_retrans;
	return listeners;
}

static void emit(struct sock *sk, const struct lisa_socket *private,
		 const struct mpcc_connection *c, u32 kind)
{
	struct lisa_event e;
	u32 listeners = describe(&e, sk, private, c, kind);

	if (listeners)
		publish(&e, listeners);
}

static void emit_start(struct sock *sk, const struct lisa_socket *private,
		       const struct mpcc_connection *c)
{
	const struct mpcc_slot *slot = &c->slot[MPCC_SLOT(private->subflow.slot)];
	struct lisa_event e;
	u32 listeners = describe(&e, sk, private, c, LISA_EVENT_START);

	if (!listeners)
		return;
	e.credit = slot->credit;
	e.other = slot->lender;
	e.local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	e.remote_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	publish(&e, listeners);
}

static void emit_loss(struct sock *sk, const struct lisa_socket *private,
		      const struct mpcc_connection *c, u32 ssthresh)
{
	struct lisa_event e;
	u32 listeners = describe(&e, sk, private, c, LISA_EVENT_LOSS);

	if (!listeners)
		return;
	e.ssthresh = ssthresh;
	publish(&e, listeners);
}

/* One event for each credit that was settled (LISA_EVENT_SETTLED) or became void (LISA_EVENT_VOID). */
static void emit_credits(struct sock *sk, const struct lisa_socket *private,
			 const struct mpcc_connection *c, u32 kind, const struct mpcc_note *note)
{
	/* Both are read: the compiler would otherwise select an address, which stays in r0, and the verifier refuses to return it. */
	u32 settled = MPCC_READ(note->settled), voided = MPCC_READ(note->voided);
	u32 borrowers = kind == LISA_EVENT_SETTLED ? settled : voided;
	u32 listeners;
	struct lisa_event e;

	if (!c)
		return;
	listeners = describe(&e, sk, private, c, kind);
	if (!listeners)
		return;
	e.ignored = note->ignored;
	e.sum_before = note->sum_before;
	e.sum_after = note->sum_after;
	for (u32 i = 0; i < MPCC_SUBFLOWS; i++) {
		if (!(borrowers & 1U << i))
			continue;
		e.other = i;
		e.credit = c->slot[i].credit;
		publish(&e, listeners);
	}
}

/* This subflow returned its credit, because it closed or left its group, before its lender settled it. */
static void emit_withdrawn(struct sock *sk, const struct lisa_socket *private,
			   const struct mpcc_note *note)
{
	struct lisa_event e;
	u32 listeners = describe(&e, sk, private, NULL, LISA_EVENT_VOID);

	if (!listeners)
		return;
	e.other = e.slot;
	e.slot = note->lender;
	e.credit = note->withdrawn;
	publish(&e, listeners);
}

/* Counts and emits the report of a callback, which is empty after nearly all callbacks. */
static __always_inline void report(struct sock *sk, const struct lisa_socket *private,
				   const struct mpcc_connection *c, const struct mpcc_note *note)
{
	u32 what = note->what;

	if (!what)
		return;
	if (what & MPCC_NOTE_SETTLED) {
		COUNT_MANY(sk, credits_settled, __builtin_popcount(note->settled));
		emit_credits(sk, private, c, LISA_EVENT_SETTLED, note);
	}
	if (what & MPCC_NOTE_VOID) {
		COUNT_MANY(sk, credits_void, __builtin_popcount(note->voided));
		emit_credits(sk, private, c, LISA_EVENT_VOID, note);
	}
	if (what & MPCC_NOTE_WITHDRAWN) {
		COUNT(sk, credits_void);
		emit_withdrawn(sk, private, note);
	}
	if (what & MPCC_NOTE_LOSS)
		COUNT(sk, losses);
	if (what & MPCC_NOTE_SLOW_START_EXIT) {
		if (!(what & MPCC_NOTE_LOSS))
			COUNT(sk, slow_start_exits);
		emit(sk, private, c, LISA_EVENT_SLOW_START_EXIT);
	}
	if (what & MPCC_NOTE_MOVED)
		emit(sk, private, c, LISA_EVENT_MOVED);
}

#endif
