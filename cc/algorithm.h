/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of algorithms, and their callbacks. Endpoints, simulated or real, call these callbacks and nothing else in cc/. The
 * callbacks correspond to those of Linux's tcp_congestion_ops.
 *
 * An algorithm is a pair of a slow start, which couples the windows while they double, and a congestion avoidance, which couples
 * them afterwards. Each pair passes through the same stages (stages.h).
 *
 * A subflow runs alone, with the single-path part of its algorithm, if `c` is NULL (plain TCP, MPTCP that
 * fell back to TCP, no memory for the connection) or if it has no slot (more than MPCC_SUBFLOWS subflows).
 */
#ifndef MPCC_ALGORITHM_H
#define MPCC_ALGORITHM_H

#include "no_room.h"
#include "slow_start/uncoupled.h"
#include "slow_start/lisa.h"
#include "slow_start/hystartpp.h"
#include "slow_start/css.h"
#include "slow_start/nmcc.h"
#include "slow_start/convoy.h"
#include "avoidance/reno.h"
#include "avoidance/lia.h"
#include "avoidance/cubic.h"
#include "avoidance/nmcc.h"
#include "avoidance/olia.h"
#include "avoidance/balia.h"
#include "avoidance/wvegas.h"
#include "avoidance/phi.h"
#include "avoidance/coupled_cubic.h"
#include "avoidance/mpcubic.h"

/* The parts of a pair: the NAME of mpcc_NAME_slow_start_ops or mpcc_NAME_avoidance_ops. */
#define MPCC_SLOW_STARTS(PART, ...)                                                                \
	PART(uncoupled, __VA_ARGS__)                                                               \
	PART(lisa, __VA_ARGS__)                                                                    \
	PART(hystartpp, __VA_ARGS__)                                                               \
	PART(css, __VA_ARGS__)                                                                     \
	PART(nmcc, __VA_ARGS__)                                                                    \
	PART(convoy, __VA_ARGS__)
#define MPCC_AVOIDANCES(PART, ...)                                                                 \
	PART(reno, __VA_ARGS__)                                                                    \
	PART(lia, __VA_ARGS__)                                                                     \
	PART(cubic, __VA_ARGS__)                                                                   \
	PART(nmcc, __VA_ARGS__)                                                                    \
	PART(olia, __VA_ARGS__)                                                                    \
	PART(balia, __VA_ARGS__)                                                                   \
	PART(wvegas, __VA_ARGS__)                                                                  \
	PART(phi, __VA_ARGS__)                                                                     \
	PART(coupled_cubic, __VA_ARGS__)                                                           \
	PART(mpcubic, __VA_ARGS__)

/*
 * The table: ROW(name, slow start, avoidance, whether Linux itself has an algorithm of this name, short description). The names are
 * also those in Linux. docs/algorithms/README.md lists the pairs without a row, with the reasons.
 */
#define MPCC_ALGORITHMS(ROW)                                                                       \
	ROW(lisa, lisa, lia, false, "linked slow start, then linked increases")                    \
	ROW(lisa_reno, lisa, reno, false, "linked slow start, then each by itself")                \
	ROW(lisa_olia, lisa, olia, false, "linked slow start, then OLIA")                          \
	ROW(lisa_balia, lisa, balia, false, "linked slow start, then Balia")                       \
	ROW(lisa_nmcc, lisa, nmcc, false, "linked slow start, then NMCC")                          \
	ROW(lisa_wvegas, lisa, wvegas, false, "linked slow start, then wVegas")                    \
	ROW(css, css, lia, false, "coupled slow start, then linked increases")                     \
	ROW(css_reno, css, reno, false, "coupled slow start, then each by itself")                 \
	ROW(css_olia, css, olia, false, "coupled slow start, then OLIA")                           \
	ROW(css_balia, css, balia, false, "coupled slow start, then Balia")                        \
	ROW(css_nmcc, css, nmcc, false, "coupled slow start, then NMCC")                           \
	ROW(nmcc, nmcc, nmcc, false, "growth normalized to the best path's, in both phases")       \
	ROW(lia, uncoupled, lia, false, "linked increases (RFC 6356): the papers' baseline")       \
	ROW(reno, uncoupled, reno, true, "each subflow a TCP of its own (RFC 5681)")               \
	ROW(cubic, uncoupled, cubic, true, "each a TCP of its own, as Linux has it")               \
	ROW(olia, uncoupled, olia, false, "opportunistic linked increases")                        \
	ROW(balia, uncoupled, balia, false, "balanced linked adaptation")                          \
	ROW(wvegas, uncoupled, wvegas, false, "weighted Vegas: by delay, not loss")                \
	ROW(uncoupled_nmcc, uncoupled, nmcc, false, "uncoupled slow start, then NMCC")             \
	ROW(phi, uncoupled, phi, false, "from uncoupled to fully coupled increases")               \
	ROW(lisa_cubic, lisa, cubic, false, "linked slow start, then Linux's CUBIC")               \
	ROW(css_cubic, css, cubic, false, "coupled slow start, then Linux's CUBIC")                \
	ROW(hystartpp_cubic, hystartpp, cubic, false, "CUBIC with HyStart++ (RFC 9406)")           \
	ROW(convoy, convoy, coupled_cubic, false,                                                  \
	    "at a shared queue as one CUBIC, else as several")                                     \
	ROW(convoy_cubic, convoy, cubic, false, "the slow start of convoy, then Linux's CUBIC")    \
	ROW(mpcubic, uncoupled, mpcubic, false, "CUBIC with linked growth: all together as one")

/* --- Dispatch --------------------------------------------------------------------------------------------------- */

#define MPCC_SLOW_START_NUMBER(name, ...) MPCC_SLOW_START_##name,
#define MPCC_AVOIDANCE_NUMBER(name, ...)  MPCC_AVOIDANCE_##name,
enum mpcc_slow_starts { MPCC_SLOW_STARTS(MPCC_SLOW_START_NUMBER) };
enum mpcc_avoidances { MPCC_AVOIDANCES(MPCC_AVOIDANCE_NUMBER) };

struct mpcc_pair {
	u8 slow_start; /* enum mpcc_slow_starts */
	u8 avoidance; /* enum mpcc_avoidances */
};

/* Bytes at the end of the avoidance's state that the slow start's may occupy: convoy replaces HyStart. */
#define MPCC_UNUSED(slow_start, avoidance)                                                         \
	(MPCC_SLOW_START_##slow_start == MPCC_SLOW_START_convoy &&                                 \
			 MPCC_AVOIDANCE_##avoidance == MPCC_AVOIDANCE_cubic ?                      \
		 sizeof(struct mpcc_hystart) :                                                     \
		 0)

#define MPCC_CHECK(name, slow_start, avoidance, in_linux, about)                                   \
	_Static_assert(sizeof(#name) <= 16, #name ": Linux's limit is 15 characters");             \
	_Static_assert(sizeof(struct mpcc_##slow_start##_slow_start) +                             \
				       sizeof(struct mpcc_##avoidance##_avoidance) <=              \
			       MPCC_PRIVATE_BYTES + MPCC_UNUSED(slow_start, avoidance),            \
		       #name ": its state does not fit into mpcc_subflow.private");                \
	_Static_assert(MPCC_SLOW_START_##slow_start != MPCC_SLOW_START_nmcc ||                     \
			       MPCC_AVOIDANCE_##avoidance == MPCC_AVOIDANCE_nmcc,                  \
		       #name ": NMCC's slow start needs the m² of NMCC's avoidance");
MPCC_ALGORITHMS(MPCC_CHECK)

/*
 * MPCC_SLOW_START_CALL(pair, stage, arguments…) calls a stage of the pair's slow start if it defines that stage,
 * MPCC_AVOIDANCE_CALL one of its congestion avoidance. MPCC_…_CALL_FOR(pair, result, stage, arguments…) assigns the stage's result,
 * and leaves `result` as it is where the stage is not defined. The operations are constants, so that calls are direct and inlined.
 * In BPF the pair is a constant when the program is loaded, and the verifier removes all other cases.
 */
#define MPCC_STAGE(kind, ops, stage, ...)                                                          \
	case kind:                                                                                 \
		if (ops.stage)                                                                     \
			ops.stage(__VA_ARGS__);                                                    \
		break;
#define MPCC_STAGE_RESULT(kind, ops, result, stage, ...)                                           \
	case kind:                                                                                 \
		if (ops.stage)                                                                     \
			result = ops.stage(__VA_ARGS__);                                           \
		break;
#define MPCC_CASE_S(name, ...)                                                                     \
	MPCC_STAGE(MPCC_SLOW_START_##name, mpcc_##name##_slow_start_ops, __VA_ARGS__)
#define MPCC_CASE_S_OR(name, ...)                                                                  \
	MPCC_STAGE_RESULT(MPCC_SLOW_START_##name, mpcc_##name##_slow_start_ops, __VA_ARGS__)
#define MPCC_CASE_A(name, ...)                                                                     \
	MPCC_STAGE(MPCC_AVOIDANCE_##name, mpcc_##name##_avoidance_ops, __VA_ARGS__)
#define MPCC_CASE_A_OR(name, ...)                                                                  \
	MPCC_STAGE_RESULT(MPCC_AVOIDANCE_##name, mpcc_##name##_avoidance_ops, __VA_ARGS__)

#define MPCC_SLOW_START_CALL(pair, ...)                                                            \
	do {                                                                                       \
		switch ((pair).slow_start) {                                                       \
			MPCC_SLOW_STARTS(MPCC_CASE_S, __VA_ARGS__)                                 \
		}                                                                                  \
	} while (0)
#define MPCC_AVOIDANCE_CALL(pair, ...)                                                             \
	do {                                                                                       \
		switch ((pair).avoidance) {                                                        \
			MPCC_AVOIDANCES(MPCC_CASE_A, __VA_ARGS__)                                  \
		}                                                                                  \
	} while (0)
#define MPCC_SLOW_START_CALL_FOR(pair, result, ...)                                                \
	do {                                                                                       \
		switch ((pair).slow_start) {                                                       \
			MPCC_SLOW_STARTS(MPCC_CASE_S_OR, result, __VA_ARGS__)                      \
		}                                                                                  \
	} while (0)
#define MPCC_AVOIDANCE_CALL_FOR(pair, result, ...)                                                 \
	do {                                                                                       \
		switch ((pair).avoidance) {                                                        \
			MPCC_AVOIDANCES(MPCC_CASE_A_OR, result, __VA_ARGS__)                       \
		}                                                                                  \
	} while (0)

/* A flag of the pair's slow start. */
#define MPCC_CASE_FLAG(name, result, flag)                                                         \
	case MPCC_SLOW_START_##name:                                                               \
		result = mpcc_##name##_slow_start_ops.flag;                                        \
		break;
#define MPCC_SLOW_START_FLAG(pair, result, flag)                                                   \
	do {                                                                                       \
		switch ((pair).slow_start) {                                                       \
			MPCC_SLOW_STARTS(MPCC_CASE_FLAG, result, flag)                             \
		}                                                                                  \
	} while (0)

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
	phase -= standby * (phase - MPCC_STANDBY);
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
