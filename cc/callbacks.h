/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The callbacks of an algorithm. Endpoints, simulated or real, call these and nothing else in cc/. They correspond to those of Linux's
 * tcp_congestion_ops.
 *
 * A subflow runs alone, with the single-path part of its algorithm, if `c` is NULL (plain TCP, MPTCP that
 * fell back to TCP, no memory for the connection) or if it has no slot (more than MPCC_SUBFLOWS subflows).
 */
#ifndef MPCC_CALLBACKS_H
#define MPCC_CALLBACKS_H

#include "no_room.h"
#include "table.h"

/* --- Helpers of the callbacks ------------------------------------------------------------------------------------ */

/* Whether an ACK grows the window as in slow start. */
MPCC_INLINE bool mpcc_in_slow_start(struct mpcc_pair pair, const struct mpcc_subflow *s,
				    const struct mpcc_tcp *tcp)
{
	bool active = mpcc_below_ssthresh(tcp);

	MPCC_SLOW_START_CALL_FOR(pair, active, active, s, tcp);
	return active;
}

/* Publishes the subflow's state. `sending`: a transmission starts now, although flight is 0. */
MPCC_INLINE void mpcc_publish_as(struct mpcc_pair pair, struct mpcc_connection *c,
				 const struct mpcc_subflow *s, const struct mpcc_tcp *tcp,
				 bool sending)
{
	bool slow_start = mpcc_in_slow_start(pair, s, tcp);
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u32 standby = tcp->backup & mpcc_is_zero(tcp->flight) & !sending;
	u32 phase = s->state >= MPCC_STATE_CWR ? MPCC_RECOVERY :
		    slow_start                 ? MPCC_SLOW_START :
						 MPCC_AVOIDANCE;
	u32 srtt8 = tcp->srtt8, cwnd = mpcc_published_cwnd(tcp), changed;

	if (!slot)
		return;
	phase = mpcc_select(standby, MPCC_STANDBY, phase);
	/* The window changes, or the subflow enters or leaves standby. */
	changed = (MPCC_READ(slot->account.cwnd) ^ cwnd) |
		  (standby ^ mpcc_is_zero(MPCC_READ(slot->phase) ^ MPCC_STANDBY));
	MPCC_SLOW_START_CALL_FOR(pair, srtt8, srtt8, s, tcp);
	MPCC_WRITE(slot->srtt8, mpcc_at_most(srtt8, MPCC_SRTT8_MAX));
	MPCC_WRITE(slot->flight, tcp->flight);
	MPCC_WRITE(slot->ssthresh, tcp->ssthresh);
	MPCC_AVOIDANCE_CALL(pair, publish, c, s, tcp, slow_start);
	MPCC_WRITE(slot->group, s->group);
	MPCC_WRITE(slot->phase, phase);
	/* Write the epoch last: a sum cached without these values then carries an earlier epoch. */
	if (changed) {
		MPCC_WRITE(slot->account.cwnd, cwnd);
		mpcc_next_epoch(c, s->group);
	}
}

MPCC_INLINE void mpcc_publish(struct mpcc_pair pair, struct mpcc_connection *c,
			      const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	mpcc_publish_as(pair, c, s, tcp, false);
}

/* Publishes a window that the endpoint itself has changed: recovery, idle restart, application limit, undo. */
MPCC_INLINE void mpcc_publish_change(struct mpcc_pair pair, struct mpcc_connection *c,
				     const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	const struct mpcc_slot *slot = mpcc_own_slot(c, s);

	if (slot && MPCC_READ(slot->account.cwnd) != mpcc_published_cwnd(tcp))
		mpcc_publish(pair, c, s, tcp);
}

/*
 * Enters the group `group`, from another one or from standby. The slow start and the congestion avoidance remove the subflow's links
 * to its former group, as their headers describe. A coupling that only reads the slots of other subflows computes its sums
 * again, because the epoch changes.
 */
MPCC_INLINE void mpcc_enter_group(struct mpcc_pair pair, struct mpcc_connection *c,
				  struct mpcc_subflow *s, struct mpcc_tcp *tcp,
				  struct mpcc_slot *slot, u8 group, struct mpcc_note *note)
{
	if (group != s->group)
		note->what |= MPCC_NOTE_MOVED;
	MPCC_WRITE(slot->group, MPCC_NO_GROUP);
	mpcc_next_epoch(c, s->group);
	s->group = group;
	MPCC_SLOW_START_CALL(pair, move, c, s, tcp, note);
	MPCC_AVOIDANCE_CALL(pair, move, s);
	MPCC_WRITE(slot->group, group);
	mpcc_next_epoch(c, group);
}

/* The group that the subflow with this slot is to be in: the requested one, or one of its own while coupling is off. */
MPCC_INLINE u8 mpcc_wanted_group(const struct mpcc_subflow *s, const struct mpcc_slot *slot,
				 const struct mpcc_tcp *tcp)
{
	return tcp->uncoupled ? MPCC_OWN_GROUP(s->slot) : MPCC_READ(slot->request.group);
}

/* Moves the subflow to the group that it is to be in. */
MPCC_INLINE void mpcc_move(struct mpcc_pair pair, struct mpcc_connection *c, struct mpcc_subflow *s,
			   struct mpcc_tcp *tcp, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u8 group;

	if (!slot)
		return;
	group = mpcc_wanted_group(s, slot, tcp);
	if (group != s->group)
		mpcc_enter_group(pair, c, s, tcp, slot, group, note);
}

/* Settles this subflow's debits. `flight`: segments in flight before the ACK being processed, if there is one. */
MPCC_INLINE void mpcc_settle(struct mpcc_pair pair, struct mpcc_connection *c,
			     struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 flight,
			     struct mpcc_note *note)
{
	/* The window first: otherwise a debit may exceed it. */
	mpcc_publish_change(pair, c, s, tcp);
	MPCC_SLOW_START_CALL(pair, settle, c, s, tcp, flight, note);
}

/* Whether the slow start replaces CUBIC's HyStart. */
MPCC_INLINE bool mpcc_replaces_hystart(struct mpcc_pair pair)
{
	bool replaces = false;

	MPCC_SLOW_START_FLAG(pair, replaces, replaces_hystart);
	return replaces;
}

/* Slow start has ended without a loss. */
MPCC_INLINE void mpcc_exit_slow_start(struct mpcc_pair pair, struct mpcc_connection *c,
				      struct mpcc_subflow *s, struct mpcc_note *note)
{
	note->what |= MPCC_NOTE_SLOW_START_EXIT;
	s->initial = false;
	MPCC_SLOW_START_CALL(pair, ended, c, s, note);
}

/* --- The callbacks ----------------------------------------------------------------------------------------------- */

/*
 * A subflow starts. `fresh`: it has sent nothing yet, so the algorithm decides its initial window; `tcp->cwnd` is that of the
 * endpoint. `s->slot`, `s->group` and `s->state` are set, all else in `s` is zero.
 */
MPCC_INLINE void mpcc_init(struct mpcc_pair pair, struct mpcc_connection *c, struct mpcc_subflow *s,
			   struct mpcc_tcp *tcp, bool fresh, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	s->ready = true;
	s->initial = fresh;
	if (slot) {
		slot->request.group = s->group;
		s->group = mpcc_wanted_group(s, slot, tcp);
	}
	MPCC_SLOW_START_CALL(pair, init, c, s, tcp, fresh, note);
	if (mpcc_has_no_room(s) && fresh)
		tcp->cwnd = mpcc_min(tcp->cwnd, MPCC_NO_ROOM_IW);
	if (slot)
		slot->initial_cwnd = tcp->cwnd;
	MPCC_AVOIDANCE_CALL(pair, init, s, tcp);
	if (!mpcc_replaces_hystart(pair))
		MPCC_AVOIDANCE_CALL(pair, begin, s, tcp);
	mpcc_publish(pair, c, s, tcp);
}

/*
 * `acked` segments were newly acknowledged, outside of a reduction (Linux: cong_avoid). A backend with a CUBIC of its own (Linux)
 * passes `note->rest` on to it, and then calls mpcc_publish_change.
 */
MPCC_INLINE void mpcc_on_ack(struct mpcc_pair pair, struct mpcc_connection *c,
			     struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked,
			     struct mpcc_note *note)
{
	bool slow_start = mpcc_in_slow_start(pair, s, tcp), refresh = false;

	if (mpcc_has_no_room(s)) {
		mpcc_no_room_on_ack(s, tcp, acked);
		return;
	}
	/* Sample. */
	mpcc_move(pair, c, s, tcp, note);
	MPCC_SLOW_START_CALL_FOR(pair, refresh, sample, c, s, tcp, acked);
	if (refresh)
		mpcc_publish(pair, c, s, tcp);
	mpcc_publish_change(pair, c, s, tcp);
	MPCC_AVOIDANCE_CALL(pair, sample, c, s, tcp, acked);
	MPCC_SLOW_START_CALL(pair, settle, c, s, tcp, tcp->flight + acked, note);

	/* Exit: before the window grows, as in Linux (pkts_acked). */
	if (slow_start && !mpcc_replaces_hystart(pair))
		MPCC_AVOIDANCE_CALL(pair, exit, s, tcp, acked);
	if (mpcc_in_slow_start(pair, s, tcp))
		MPCC_SLOW_START_CALL(pair, exit, c, s, tcp, acked);
	MPCC_AVOIDANCE_CALL_FOR(pair, acked, adjust, c, s, tcp, acked);

	/* Grow. */
	if (mpcc_in_slow_start(pair, s, tcp)) {
		MPCC_SLOW_START_CALL_FOR(pair, acked, count, c, s, acked);
		if (tcp->cwnd_limited)
			MPCC_SLOW_START_CALL_FOR(pair, acked, grow, s, tcp, acked);
	}
	/* Avoid. */
	if (acked && tcp->cwnd_limited)
		MPCC_AVOIDANCE_CALL(pair, avoid, c, s, tcp, acked, note);

	if (slow_start && !mpcc_in_slow_start(pair, s, tcp))
		mpcc_exit_slow_start(pair, c, s, note);
	mpcc_publish(pair, c, s, tcp);
}

/* A loss, a congestion signal or an RTO: the slow start threshold to reduce to, in segments. */
MPCC_INLINE u32 mpcc_ssthresh(struct mpcc_pair pair, struct mpcc_connection *c,
			      struct mpcc_subflow *s, struct mpcc_tcp *tcp, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u32 ssthresh = mpcc_reno_ssthresh(tcp);

	note->what |= MPCC_NOTE_LOSS;
	if (mpcc_in_slow_start(pair, s, tcp))
		note->what |= MPCC_NOTE_SLOW_START_EXIT;
	if (slot)
		slot->losses++;
	MPCC_SLOW_START_CALL(pair, ended, c, s, note);
	MPCC_SLOW_START_CALL(pair, loss, s);
	s->cwnd_before_loss = tcp->cwnd;
	s->initial_before_loss = s->initial;
	s->initial = false;
	s->growth = 0;
	MPCC_AVOIDANCE_CALL_FOR(pair, ssthresh, ssthresh, c, s, tcp);
	return ssthresh;
}

/*
 * The reduction was spurious (Eifel, DSACK, F-RTO): the window to restore, in segments. The endpoint restores ssthresh afterwards
 * (tcp_undo_cwnd_reduction). If the reduction ended the initial slow start, that goes on, under the rules of its slow start.
 */
MPCC_INLINE u32 mpcc_undo(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	s->initial = s->initial_before_loss;
	return mpcc_max(tcp->cwnd, s->cwnd_before_loss);
}

/* The endpoint's congestion state becomes `state` (enum mpcc_state). */
MPCC_INLINE void mpcc_set_state(struct mpcc_pair pair, struct mpcc_connection *c,
				struct mpcc_subflow *s, const struct mpcc_tcp *tcp, u8 state,
				struct mpcc_note *note)
{
	if (!s->ready)
		return; /* Linux calls this once before init */
	MPCC_AVOIDANCE_CALL(pair, set_state, s, tcp, state);
	if (state == MPCC_STATE_LOSS && !mpcc_replaces_hystart(pair))
		MPCC_AVOIDANCE_CALL(pair, begin, s, tcp);
	MPCC_SLOW_START_CALL(pair, set_state, c, s, tcp, state, note);
	if (mpcc_is_reducing(s->state) && state < MPCC_STATE_CWR) {
		if (!mpcc_replaces_hystart(pair))
			MPCC_AVOIDANCE_CALL(pair, resume, s);
		MPCC_SLOW_START_CALL(pair, resume, c, s, tcp);
	}
	s->state = state;
	mpcc_publish(pair, c, s, tcp);
}

/* Transmission starts with nothing in flight, or the window was reset after an idle time (enum mpcc_event). */
MPCC_INLINE void mpcc_cwnd_event(struct mpcc_pair pair, struct mpcc_connection *c,
				 struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 event,
				 struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	if (!s->ready)
		return;
	if (event == MPCC_EVENT_CWND_RESTART) {
		MPCC_AVOIDANCE_CALL(pair, restart, s, tcp);
		MPCC_SLOW_START_CALL(pair, restart, c, s, note);
	}
	if (event != MPCC_EVENT_TX_START)
		return;
	MPCC_SLOW_START_CALL(pair, tx_start, c, s, tcp);
	MPCC_AVOIDANCE_CALL(pair, tx_start, s, tcp);
	if (slot && MPCC_READ(slot->phase) == MPCC_STANDBY) {
		mpcc_enter_group(pair, c, s, tcp, slot, mpcc_wanted_group(s, slot, tcp), note);
		mpcc_publish_as(pair, c, s, tcp, true);
	}
	mpcc_settle(pair, c, s, tcp, 0, note);
}

/* The subflow closes. True for the last subflow of its connection: the backend then frees `c`. */
MPCC_INLINE bool mpcc_release(struct mpcc_pair pair, struct mpcc_connection *c,
			      struct mpcc_subflow *s, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	s->ready = false;
	if (!slot)
		return false;
	MPCC_WRITE(slot->phase, MPCC_ABSENT);
	mpcc_next_epoch(c, s->group);
	MPCC_SLOW_START_CALL(pair, release, c, s, note);
	return mpcc_detach(c, s->slot);
}

#endif
