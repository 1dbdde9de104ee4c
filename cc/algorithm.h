/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The algorithms: pairs of what couples the windows while they double and what couples them after, behind the
 * callbacks of Linux's tcp_congestion_ops. Endpoints, simulated or real, call these and nothing else.
 *
 * A subflow runs alone, with the single-path part of its algorithm, where `c` is NULL (plain TCP, MPTCP that
 * fell back to TCP, no memory for the connection) or it has no slot (more than MPCC_SUBFLOWS of them).
 */
#ifndef MPCC_ALGORITHM_H
#define MPCC_ALGORITHM_H

#include "slow_start/uncoupled.h"
#include "slow_start/lisa.h"
#include "slow_start/hystart.h"
#include "slow_start/hystartpp.h"
#include "slow_start/css.h"
#include "slow_start/nmcc.h"
#include "avoidance/reno.h"
#include "avoidance/lia.h"
#include "avoidance/cubic.h"
#include "avoidance/nmcc.h"
#include "avoidance/olia.h"
#include "avoidance/balia.h"
#include "avoidance/wvegas.h"

/* The parts of a pair: PART(constant, its name). Its page, where it has one, is docs/algorithms/NAME.md. */
#define MPCC_SLOW_STARTS(PART)                                                                     \
	PART(MPCC_UNCOUPLED, "uncoupled")                                                          \
	PART(MPCC_LISA, "lisa")                                                                    \
	PART(MPCC_HYSTARTPP, "hystartpp")                                                          \
	PART(MPCC_CSS, "css")                                                                      \
	PART(MPCC_NMCC, "nmcc")
#define MPCC_AVOIDANCES(PART)                                                                      \
	PART(MPCC_RENO, "reno")                                                                    \
	PART(MPCC_LIA, "lia")                                                                      \
	PART(MPCC_CUBIC, "cubic")                                                                  \
	PART(MPCC_NMCC_AVOIDANCE, "nmcc")                                                          \
	PART(MPCC_OLIA, "olia")                                                                    \
	PART(MPCC_BALIA, "balia")                                                                  \
	PART(MPCC_WVEGAS, "wvegas")

#define MPCC_CONSTANT(constant, name) constant,
enum mpcc_slow_starts { MPCC_SLOW_STARTS(MPCC_CONSTANT) };
enum mpcc_avoidances { MPCC_AVOIDANCES(MPCC_CONSTANT) };

/*
 * The table: ROW(name, slow start, avoidance, whether Linux has it under this name, in a few words). Names are
 * those that Linux knows them by. Which pairs have none, and why: docs/algorithms/README.md.
 */
#define MPCC_ALGORITHMS(ROW)                                                                       \
	ROW("lisa", MPCC_LISA, MPCC_LIA, false, "linked slow start, then linked increases")        \
	ROW("lisa_reno", MPCC_LISA, MPCC_RENO, false, "linked slow start, then each by itself")    \
	ROW("lisa_olia", MPCC_LISA, MPCC_OLIA, false, "linked slow start, then OLIA")              \
	ROW("lisa_balia", MPCC_LISA, MPCC_BALIA, false, "linked slow start, then Balia")           \
	ROW("lisa_nmcc", MPCC_LISA, MPCC_NMCC_AVOIDANCE, false, "linked slow start, then NMCC")    \
	ROW("lisa_wvegas", MPCC_LISA, MPCC_WVEGAS, false, "linked slow start, then wVegas")        \
	ROW("css", MPCC_CSS, MPCC_LIA, false, "coupled slow start, then linked increases")         \
	ROW("css_reno", MPCC_CSS, MPCC_RENO, false, "coupled slow start, then each by itself")     \
	ROW("css_olia", MPCC_CSS, MPCC_OLIA, false, "coupled slow start, then OLIA")               \
	ROW("css_balia", MPCC_CSS, MPCC_BALIA, false, "coupled slow start, then Balia")            \
	ROW("css_nmcc", MPCC_CSS, MPCC_NMCC_AVOIDANCE, false, "coupled slow start, then NMCC")     \
	ROW("nmcc", MPCC_NMCC, MPCC_NMCC_AVOIDANCE, false,                                         \
	    "growth normalized to the best path's, in both phases")                                \
	ROW("mptcp", MPCC_UNCOUPLED, MPCC_LIA, false, "the papers' baseline: LIA (RFC 6356)")      \
	ROW("reno", MPCC_UNCOUPLED, MPCC_RENO, true, "each subflow a TCP of its own (RFC 5681)")   \
	ROW("cubic", MPCC_UNCOUPLED, MPCC_CUBIC, true, "each a TCP of its own, as Linux has it")   \
	ROW("olia", MPCC_UNCOUPLED, MPCC_OLIA, false, "opportunistic linked increases")            \
	ROW("balia", MPCC_UNCOUPLED, MPCC_BALIA, false, "balanced linked adaptation")              \
	ROW("wvegas", MPCC_UNCOUPLED, MPCC_WVEGAS, false, "weighted Vegas: by delay, not loss")    \
	ROW("lisa_cubic", MPCC_LISA, MPCC_CUBIC, false, "linked slow start, then Linux's CUBIC")   \
	ROW("css_cubic", MPCC_CSS, MPCC_CUBIC, false, "coupled slow start, then Linux's CUBIC")    \
	ROW("hystartpp_cubic", MPCC_HYSTARTPP, MPCC_CUBIC, false, "CUBIC with HyStart++ (RFC 9406)")

/* What a row may not be. */
#define MPCC_CHECK(name, slow_start, avoidance, in_linux, about)                                   \
	_Static_assert(sizeof(name) <= 16, name ": Linux takes names of at most 15 characters");   \
	_Static_assert((slow_start) != MPCC_NMCC || (avoidance) == MPCC_NMCC_AVOIDANCE,            \
		       name ": NMCC's slow start goes by what its avoidance works out (m^2)");
MPCC_ALGORITHMS(MPCC_CHECK)

struct mpcc_pair {
	u8 slow_start; /* enum mpcc_slow_starts */
	u8 avoidance; /* enum mpcc_avoidances */
};

/* A backend that does not run what Linux has by itself, Linux, is built without it: it calls its own CUBIC. */
#ifdef MPCC_WITHOUT_LINUX_OWN
#define MPCC_LINUX_OWN false
#else
#define MPCC_LINUX_OWN true
#endif

MPCC_INLINE bool mpcc_has_cubic(struct mpcc_pair pair)
{
	return MPCC_LINUX_OWN && pair.avoidance == MPCC_CUBIC;
}

/* Linux's CUBIC brings HyStart along, whatever the windows grow by meanwhile, where HyStart++ does not replace it. */
MPCC_INLINE bool mpcc_has_hystart(struct mpcc_pair pair)
{
	return mpcc_has_cubic(pair) && pair.slow_start != MPCC_HYSTARTPP;
}

/* Whether an ACK grows the window as in slow start. */
MPCC_INLINE bool mpcc_slow(struct mpcc_pair pair, const struct mpcc_subflow *s,
			   const struct mpcc_tcp *tcp)
{
	if (pair.slow_start == MPCC_NMCC)
		return mpcc_nmcc_in_slow_start(s, tcp);
	return mpcc_in_slow_start(tcp);
}

/* Shows the others where this subflow stands. */
MPCC_INLINE void mpcc_show(struct mpcc_pair pair, struct mpcc_connection *c,
			   const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	bool slow = mpcc_slow(pair, s, tcp);

	mpcc_publish(c, s, tcp, slow,
		     pair.slow_start == MPCC_NMCC ? mpcc_nmcc_srtt8(s, tcp) : tcp->srtt8);
	if (pair.avoidance == MPCC_NMCC_AVOIDANCE)
		mpcc_nmcc_show(c, s, tcp, slow);
}

/*
 * A subflow starts. `fresh`: it has sent nothing yet, so its window is still to be decided; `tcp->cwnd` is the
 * endpoint's initial window. `s->slot`, `s->group` and `s->state` are set, all else in `s` is zero.
 */
MPCC_INLINE void mpcc_init(struct mpcc_pair pair, struct mpcc_connection *c, struct mpcc_subflow *s,
			   struct mpcc_tcp *tcp, bool fresh, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	s->ready = true;
	if (slot && fresh && pair.slow_start == MPCC_LISA)
		mpcc_lisa_join(c, s, tcp, note);
	if (pair.slow_start == MPCC_CSS)
		mpcc_css_join(c, s, tcp, fresh);
	if (slot) {
		slot->joined_cwnd = tcp->cwnd;
		slot->wish.group = s->group;
	}
	if (mpcc_has_hystart(pair))
		mpcc_hystart_begin(s, tcp);
	if (pair.slow_start == MPCC_HYSTARTPP)
		s->hystartpp.over = !fresh;
	if (pair.avoidance == MPCC_WVEGAS)
		mpcc_wvegas_begin(s, tcp);
	if (pair.avoidance == MPCC_NMCC_AVOIDANCE)
		s->m2 = MPCC_M2_ONE;
	mpcc_show(pair, c, s, tcp);
}

/* Shows a window that the endpoint itself has changed: recovery, idle restart, application limit, undo. */
MPCC_INLINE void mpcc_show_change(struct mpcc_pair pair, struct mpcc_connection *c,
				  const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	const struct mpcc_slot *slot = mpcc_own_slot(c, s);

	if (slot && MPCC_READ(slot->account.cwnd) != mpcc_shown_cwnd(tcp))
		mpcc_show(pair, c, s, tcp);
}

/*
 * Moves the subflow to the group that it is asked to be in, before anything else on an ACK. What is between it and those
 * that it leaves is settled by its slow start and avoidance, as their headers say. Those that only look at the others'
 * slots have nothing to settle: LIA, OLIA, Balia and NMCC work out anew what depends on a window of another epoch.
 */
MPCC_INLINE void mpcc_move(struct mpcc_pair pair, struct mpcc_connection *c, struct mpcc_subflow *s,
			   struct mpcc_tcp *tcp, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u8 group = slot ? MPCC_READ(slot->wish.group) : s->group;

	if (group == s->group)
		return;
	MPCC_WRITE(slot->group, MPCC_NO_GROUP);
	mpcc_next_epoch(c, s->group);
	s->group = group;
	note->what |= MPCC_NOTE_MOVED;
	if (pair.slow_start == MPCC_LISA)
		mpcc_lisa_move(c, s, note);
	if (pair.slow_start == MPCC_CSS)
		mpcc_css_join(c, s, tcp, s->css.initial);
	if (pair.avoidance == MPCC_WVEGAS)
		mpcc_wvegas_move(s);
	MPCC_WRITE(slot->group, group);
	mpcc_next_epoch(c, s->group);
}

/* Pays what others took from this window. `flight` is what was in flight before the ACK being processed, if there is one. */
MPCC_INLINE void mpcc_pay(struct mpcc_pair pair, struct mpcc_connection *c, struct mpcc_subflow *s,
			  struct mpcc_tcp *tcp, u32 flight, struct mpcc_note *note)
{
	if (pair.slow_start != MPCC_LISA)
		return;
	mpcc_show_change(pair, c, s, tcp); /* or more is owed than is there */
	mpcc_lisa_settle(c, s, tcp, flight, note);
}

/* What slow start keeps is over, by a loss or without one. */
MPCC_INLINE void mpcc_end_slow_start(struct mpcc_pair pair, struct mpcc_connection *c,
				     struct mpcc_subflow *s, struct mpcc_note *note)
{
	if (pair.slow_start == MPCC_LISA)
		mpcc_lisa_void(c, s, false, note);
	if (pair.slow_start == MPCC_CSS)
		mpcc_css_left(s);
	if (pair.slow_start == MPCC_HYSTARTPP)
		s->hystartpp.over = true;
}

/* Slow start has ended without a loss. */
MPCC_INLINE void mpcc_left_slow_start(struct mpcc_pair pair, struct mpcc_connection *c,
				      struct mpcc_subflow *s, struct mpcc_note *note)
{
	note->what |= MPCC_NOTE_LEFT_SLOW_START;
	mpcc_end_slow_start(pair, c, s, note);
}

/*
 * `acked` segments were newly acknowledged, outside of a reduction (Linux: cong_avoid). Where Linux's own CUBIC is to go
 * on, the backend hands it `note->rest`, and shows the others what came of it.
 */
MPCC_INLINE void mpcc_on_ack(struct mpcc_pair pair, struct mpcc_connection *c,
			     struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked,
			     struct mpcc_note *note)
{
	bool slow = mpcc_slow(pair, s, tcp), grows_slow = slow, linked;

	mpcc_move(pair, c, s, tcp, note);
	if (pair.slow_start == MPCC_NMCC && mpcc_nmcc_hear(s, tcp))
		mpcc_show(pair, c, s, tcp);
	mpcc_show_change(pair, c, s, tcp);
	if (pair.avoidance == MPCC_NMCC_AVOIDANCE) {
		mpcc_nmcc_estimate(c, s, tcp, acked);
		grows_slow = mpcc_slow(pair, s, tcp);
	}
	if (pair.avoidance == MPCC_OLIA)
		mpcc_olia_acked(c, s, acked);
	if (pair.slow_start == MPCC_LISA)
		mpcc_lisa_settle(c, s, tcp, tcp->flight + acked, note);
	if (mpcc_has_cubic(pair))
		mpcc_sample(s, tcp);
	/* Before it grows anything, as in Linux (pkts_acked). */
	if (slow && mpcc_has_hystart(pair)) {
		mpcc_hystart_ack(s, tcp, acked);
		grows_slow = mpcc_in_slow_start(tcp);
	}
	if (slow && pair.slow_start == MPCC_HYSTARTPP) {
		mpcc_hystartpp_ack(s, tcp, acked);
		grows_slow = mpcc_in_slow_start(tcp);
	}
	linked = grows_slow && pair.slow_start == MPCC_LISA;
	if (pair.avoidance == MPCC_WVEGAS) {
		/* Its rounds are the path's: also what is ignored counts for them. */
		acked = mpcc_wvegas_ack(c, s, tcp, acked);
		grows_slow = mpcc_in_slow_start(tcp);
	}
	if (linked)
		acked = mpcc_lisa_counted(c, s, acked);
	if (grows_slow && pair.slow_start == MPCC_CSS) {
		mpcc_css_ack(c, s, tcp);
		grows_slow = mpcc_in_slow_start(tcp);
	}
	if (tcp->cwnd_limited) {
		if (grows_slow && pair.slow_start == MPCC_CSS)
			acked = mpcc_css_slow_start(s, tcp, acked);
		else if (grows_slow && pair.slow_start == MPCC_NMCC)
			acked = mpcc_nmcc_slow_start(s, tcp, acked);
		else if (grows_slow && pair.slow_start == MPCC_HYSTARTPP)
			acked = mpcc_hystartpp_slow_start(s, tcp, acked);
		else if (grows_slow)
			acked = mpcc_slow_start(tcp, acked);
		if (acked) {
			if (pair.avoidance == MPCC_LIA)
				mpcc_lia_avoid(c, s, tcp, acked);
			else if (pair.avoidance == MPCC_OLIA)
				mpcc_olia_avoid(c, s, tcp, acked);
			else if (pair.avoidance == MPCC_BALIA)
				mpcc_balia_avoid(c, s, tcp, acked);
			else if (mpcc_has_cubic(pair))
				mpcc_cubic_avoid(s, tcp, acked);
			else if (pair.avoidance == MPCC_CUBIC)
				note->rest = acked;
			else if (pair.avoidance == MPCC_NMCC_AVOIDANCE)
				mpcc_nmcc_avoid(c, s, tcp, acked);
			else
				mpcc_reno_avoid(s, tcp, acked);
		}
	}
	if (slow && !mpcc_slow(pair, s, tcp))
		mpcc_left_slow_start(pair, c, s, note);
	mpcc_show(pair, c, s, tcp);
}

/* A loss, a congestion signal or an RTO: the slow start threshold to reduce to, in segments. */
MPCC_INLINE u32 mpcc_ssthresh(struct mpcc_pair pair, struct mpcc_connection *c,
			      struct mpcc_subflow *s, struct mpcc_tcp *tcp, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	note->what |= MPCC_NOTE_LOSS;
	if (mpcc_slow(pair, s, tcp))
		note->what |= MPCC_NOTE_LEFT_SLOW_START;
	if (slot)
		slot->losses++;
	mpcc_end_slow_start(pair, c, s, note);
	if (pair.slow_start == MPCC_NMCC)
		mpcc_nmcc_restart(s);
	s->cwnd_before_loss = tcp->cwnd;
	s->growth = 0;
	if (pair.avoidance == MPCC_OLIA)
		return mpcc_olia_ssthresh(c, s, tcp);
	if (pair.avoidance == MPCC_BALIA)
		return mpcc_balia_ssthresh(c, s, tcp);
	if (mpcc_has_cubic(pair))
		return mpcc_cubic_ssthresh(s, tcp);
	return mpcc_reno_ssthresh(tcp);
}

/* The reduction was a mistake (Eifel, DSACK, F-RTO): the window to go back to, in segments. */
MPCC_INLINE u32 mpcc_undo(const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	return mpcc_max(tcp->cwnd, s->cwnd_before_loss);
}

/* The endpoint's congestion state becomes `state` (enum mpcc_state). */
MPCC_INLINE void mpcc_set_state(struct mpcc_pair pair, struct mpcc_connection *c,
				struct mpcc_subflow *s, const struct mpcc_tcp *tcp, u8 state,
				struct mpcc_note *note)
{
	if (!s->ready)
		return; /* Linux calls this once before init */
	if (mpcc_max(s->state, state) >= MPCC_STATE_CWR && pair.avoidance == MPCC_WVEGAS)
		mpcc_wvegas_begin(s, tcp);
	s->state = state;
	if (state >= MPCC_STATE_CWR && pair.slow_start == MPCC_LISA)
		mpcc_lisa_void(c, s, false, note);
	if (state == MPCC_STATE_LOSS) {
		if (mpcc_has_cubic(pair)) {
			s->rtt_min = 0;
			mpcc_cubic_forget(s);
		}
		if (mpcc_has_hystart(pair))
			mpcc_hystart_begin(s, tcp);
		if (pair.slow_start == MPCC_NMCC)
			mpcc_nmcc_timeout(s, tcp);
	}
	mpcc_show(pair, c, s, tcp);
}

/* Sending starts from nothing in flight, or the window was reset after idling (enum mpcc_event). */
MPCC_INLINE void mpcc_cwnd_event(struct mpcc_pair pair, struct mpcc_connection *c,
				 struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 event,
				 struct mpcc_note *note)
{
	if (!s->ready)
		return;
	if (event == MPCC_EVENT_TX_START && mpcc_has_cubic(pair))
		mpcc_cubic_idle(s, tcp);
	if (event == MPCC_EVENT_CWND_RESTART && pair.avoidance == MPCC_WVEGAS)
		mpcc_wvegas_restart(s, tcp);
	if (event == MPCC_EVENT_CWND_RESTART && pair.slow_start == MPCC_NMCC)
		mpcc_nmcc_restart(s);
	if (event == MPCC_EVENT_CWND_RESTART && pair.slow_start == MPCC_LISA)
		mpcc_lisa_void(c, s, false, note);
	if (event == MPCC_EVENT_TX_START)
		mpcc_pay(pair, c, s, tcp, 0, note);
}

/* The subflow closes. True for the last of its connection: the backend frees `c`. */
MPCC_INLINE bool mpcc_release(struct mpcc_pair pair, struct mpcc_connection *c,
			      struct mpcc_subflow *s, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	s->ready = false;
	if (!slot)
		return false;
	MPCC_WRITE(slot->phase, MPCC_ABSENT);
	mpcc_next_epoch(c, s->group);
	if (pair.slow_start == MPCC_LISA) {
		mpcc_lisa_withdraw(c, s, note);
		mpcc_lisa_void(c, s, true, note);
	}
	return mpcc_leave(c, s->slot);
}

#endif
