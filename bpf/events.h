/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events for user space (enum lisa_event_kind), and counts of credits. Nothing is emitted while no listener requests it. */
#ifndef LISA_EVENTS_H
#define LISA_EVENTS_H

#include "entries.h"

/* Written by the listener only; in a map of its own, because user space replaces the whole value. */
struct lisa_control control SEC(".data.control");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1); /* set before it is loaded */
} events SEC(".maps");

/* Whether a listener requests events of this kind, and has renewed its request in time. */
static __always_inline bool requested(u32 kind)
{
	return (MPCC_READ(control.listen_to) & 1U << kind) &&
	       bpf_ktime_get_ns() < MPCC_READ(control.listen_until);
}

static __always_inline u8 phase_of(const struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	return c && s->slot != MPCC_NO_SLOT ? c->slot[MPCC_SLOT(s->slot)].phase : MPCC_ABSENT;
}

/* Reserves an event with the socket's state in it; NULL if there is no room. */
static __always_inline struct lisa_event *reserve(struct sock *sk, struct mpcc_connection *c,
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
	e->flight = flight_of(tp);
	e->retransmits = tp->total_retrans;
	return e;
}

static void emit(struct sock *sk, struct mpcc_connection *c, u32 kind)
{
	struct lisa_event *e;

	if (!requested(kind))
		return;
	e = reserve(sk, c, kind);
	/* A wake-up takes microseconds, too much for each ACK: the listener polls for these. */
	if (e)
		bpf_ringbuf_submit(e, kind == LISA_EVENT_ACK ? BPF_RB_NO_WAKEUP : 0);
}

static void emit_start(struct sock *sk, struct mpcc_connection *c, u8 i)
{
	struct lisa_event *e;

	if (!requested(LISA_EVENT_START))
		return;
	e = reserve(sk, c, LISA_EVENT_START);
	if (!e)
		return;
	e->credit = c->slot[MPCC_SLOT(i)].credit;
	e->other = c->slot[MPCC_SLOT(i)].lender;
	e->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	e->remote_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	bpf_ringbuf_submit(e, 0);
}

static void emit_loss(struct sock *sk, struct mpcc_connection *c, u32 ssthresh)
{
	struct lisa_event *e;

	if (!requested(LISA_EVENT_LOSS))
		return;
	e = reserve(sk, c, LISA_EVENT_LOSS);
	if (!e)
		return;
	e->ssthresh = ssthresh;
	bpf_ringbuf_submit(e, 0);
}

/* One event for each credit that was settled or became void. `borrowers` has a bit for each slot that took one. */
static void emit_credits(struct sock *sk, struct mpcc_connection *c, u32 kind, u32 borrowers,
			 const struct mpcc_note *note)
{
	if (!c || !requested(kind))
		return;
	for (u32 i = 0; i < MPCC_SUBFLOWS; i++) {
		struct lisa_event *e;

		if (!(borrowers & 1U << i))
			continue;
		e = reserve(sk, c, kind);
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

/* This subflow returned its credit, because it closed or left its group, before its lender settled it. */
static void emit_withdrawn(struct sock *sk, const struct mpcc_note *note)
{
	struct lisa_event *e;

	if (!requested(LISA_EVENT_VOID))
		return;
	e = reserve(sk, NULL, LISA_EVENT_VOID);
	if (!e)
		return;
	e->other = e->slot;
	e->slot = note->lender;
	e->credit = note->withdrawn;
	bpf_ringbuf_submit(e, 0);
}

/* Counts and emits the report of a callback, which is empty after nearly all callbacks. */
static __always_inline void report(struct sock *sk, struct mpcc_connection *c,
				   const struct mpcc_note *note)
{
	u32 what = note->what;

	if (!what)
		return;
	if (what & MPCC_NOTE_SETTLED) {
		__sync_fetch_and_add(&totals.credits_settled, __builtin_popcount(note->settled));
		emit_credits(sk, c, LISA_EVENT_SETTLED, note->settled, note);
	}
	if (what & MPCC_NOTE_VOID) {
		__sync_fetch_and_add(&totals.credits_void, __builtin_popcount(note->voided));
		emit_credits(sk, c, LISA_EVENT_VOID, note->voided, note);
	}
	if (what & MPCC_NOTE_WITHDRAWN) {
		count(&totals.credits_void);
		emit_withdrawn(sk, note);
	}
	if (what & MPCC_NOTE_SLOW_START_EXIT)
		emit(sk, c, LISA_EVENT_SLOW_START_EXIT);
	if (what & MPCC_NOTE_MOVED)
		emit(sk, c, LISA_EVENT_MOVED);
}

#endif
