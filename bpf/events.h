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

/* Whether a listener requests events of this kind, or did so before it ended. */
static __always_inline bool requested(u32 kind)
{
	return MPCC_READ(control.kinds) & 1U << kind;
}

static __always_inline u8 phase_of(const struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	return c && mpcc_has_slot(s) ? c->slot[MPCC_SLOT(s->slot)].phase : MPCC_ABSENT;
}

/* Writes an event to the ring buffers of all listeners that request its kind, and have renewed their request in time. */
__noinline int publish(const struct lisa_event *e)
{
	u64 now = bpf_ktime_get_ns();

	if (!e)
		return 0;
	for (u32 i = 0; i < LISA_LISTENERS; i++) {
		u32 key = i; /* on the stack, where the verifier does not follow a number */
		void *ring;

		if (!(MPCC_READ(control.listener[i].kinds) & 1U << (e->kind & 31)) ||
		    now >= MPCC_READ(control.listener[i].until))
			continue;
		ring = bpf_map_lookup_elem(&rings, &key);
		/* A wake-up takes microseconds, too much for each ACK: the listener polls for these. */
		if (ring && bpf_ringbuf_output(ring, (void *)e, sizeof(*e),
					       e->kind == LISA_EVENT_ACK ? BPF_RB_NO_WAKEUP : 0))
			__sync_fetch_and_add(&other_totals.events_lost, 1);
	}
	return 0;
}

/* Fills in an event's kind and the socket's state. False if the socket has no private state. */
static __always_inline bool describe(struct lisa_event *e, struct sock *sk,
				     struct mpcc_connection *c, u32 kind)
{
	struct lisa_socket *private = private_of(sk);
	struct tcp_sock *tp = tcp_of(sk);

	__builtin_memset(e, 0, sizeof(*e));
	if (!private)
		return false;
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
	return true;
}

static void emit(struct sock *sk, struct mpcc_connection *c, u32 kind)
{
	struct lisa_event e;

	if (requested(kind) && describe(&e, sk, c, kind))
		publish(&e);
}

static void emit_start(struct sock *sk, struct mpcc_connection *c, u8 i)
{
	struct lisa_event e;

	if (!requested(LISA_EVENT_START) || !describe(&e, sk, c, LISA_EVENT_START))
		return;
	e.credit = c->slot[MPCC_SLOT(i)].credit;
	e.other = c->slot[MPCC_SLOT(i)].lender;
	e.local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	e.remote_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	publish(&e);
}

static void emit_loss(struct sock *sk, struct mpcc_connection *c, u32 ssthresh)
{
	struct lisa_event e;

	if (!requested(LISA_EVENT_LOSS) || !describe(&e, sk, c, LISA_EVENT_LOSS))
		return;
	e.ssthresh = ssthresh;
	publish(&e);
}

/* One event for each credit that was settled or became void. `borrowers` has a bit for each slot that took one. */
static void emit_credits(struct sock *sk, struct mpcc_connection *c, u32 kind, u32 borrowers,
			 const struct mpcc_note *note)
{
	struct lisa_event e;

	if (!c || !requested(kind) || !describe(&e, sk, c, kind))
		return;
	e.ignored = note->ignored;
	e.sum_before = note->sum_before;
	e.sum_after = note->sum_after;
	for (u32 i = 0; i < MPCC_SUBFLOWS; i++) {
		if (!(borrowers & 1U << i))
			continue;
		e.other = i;
		e.credit = c->slot[i].credit;
		publish(&e);
	}
}

/* This subflow returned its credit, because it closed or left its group, before its lender settled it. */
static void emit_withdrawn(struct sock *sk, const struct mpcc_note *note)
{
	struct lisa_event e;

	if (!requested(LISA_EVENT_VOID) || !describe(&e, sk, NULL, LISA_EVENT_VOID))
		return;
	e.other = e.slot;
	e.slot = note->lender;
	e.credit = note->withdrawn;
	publish(&e);
}

/* Counts and emits the report of a callback, which is empty after nearly all callbacks. */
static __always_inline void report(struct sock *sk, struct mpcc_connection *c,
				   const struct mpcc_note *note)
{
	u32 what = note->what;

	if (!what)
		return;
	if (what & MPCC_NOTE_SETTLED) {
		COUNT_MANY(sk, credits_settled, __builtin_popcount(note->settled));
		emit_credits(sk, c, LISA_EVENT_SETTLED, note->settled, note);
	}
	if (what & MPCC_NOTE_VOID) {
		COUNT_MANY(sk, credits_void, __builtin_popcount(note->voided));
		emit_credits(sk, c, LISA_EVENT_VOID, note->voided, note);
	}
	if (what & MPCC_NOTE_WITHDRAWN) {
		COUNT(sk, credits_void);
		emit_withdrawn(sk, note);
	}
	if (what & MPCC_NOTE_LOSS)
		COUNT(sk, losses);
	if (what & MPCC_NOTE_SLOW_START_EXIT) {
		if (!(what & MPCC_NOTE_LOSS))
			COUNT(sk, slow_start_exits);
		emit(sk, c, LISA_EVENT_SLOW_START_EXIT);
	}
	if (what & MPCC_NOTE_MOVED)
		emit(sk, c, LISA_EVENT_MOVED);
}

#endif
