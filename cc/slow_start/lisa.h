/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LISA, linked slow start.
 *
 * A subflow that joins takes its initial window from the fastest subflow in slow start, so that the sum of the windows stays as it
 * was: a credit of 3 to 10 segments. The lender reduces its window by the credit and then ignores as many acknowledged
 * segments as it has in flight beyond its new window.
 *
 * Source: Barik, Welzl, Ferlin, Alay, "LISA: A Linked Slow-Start Algorithm for MPTCP", ICC 2016, Algorithm 1.
 *
 * Departures, and why:
 *  - The lender settles the credit on its own next ACK, or when it next starts to send, not at the moment of the join: a
 *    subflow cannot write another one's window. Until then its account has window and debit together, so that further joins
 *    take from the remainder.
 *  - A credit is void if the lender leaves slow start, restarts after an idle time or closes before it settles: the window
 *    that it was taken from no longer exists.
 *  - Acknowledged segments are counted where the paper counts the ACKs of a receiver that acknowledges each segment.
 *  - Without a lender the initial window is the endpoint's own (10 by RFC 6928), which also limits the credit: Linux starts
 *    with 1 after a lost SYN, and an administrator may set another initial window.
 *  - A backup subflow (RFC 8684, 3.3.8) neither lends nor takes while it is in standby. It starts with the endpoint's window.
 *
 * Groups: only a subflow of the same group lends. A credit that is open when the lender or the borrower moves to another group is
 * void, and both keep their windows, since nothing links these windows any more. Settled credits remain. A lender that moves
 * ignores no more segments. (On Linux, a join that runs at the moment of the lender's move may still find the lender in the
 * group. That credit is settled.)
 */
#ifndef MPCC_LISA_H
#define MPCC_LISA_H

#include "uncoupled.h"

#define MPCC_LISA_IW     10 /* segments: initial window, RFC 6928 */
#define MPCC_LISA_IW_MIN 3 /* segments: smallest initial window that competes, after RFC 3390 */

struct mpcc_lisa_slow_start {
	struct mpcc_hystart hystart;
	u32 ignore; /* acknowledged segments that will not grow the window (ACKs_to_ignore) */
	u32 reserved;
};

#define mpcc_lisa(s) mpcc_slow_start_state(s, struct mpcc_lisa_slow_start)

/* The credit that a lender with this window gives; 0: none (Algorithm 1, lines 5 to 18). */
MPCC_INLINE u32 mpcc_lisa_credit(u32 cwnd)
{
	if (cwnd >= 2 * MPCC_LISA_IW)
		return MPCC_LISA_IW;
	if (cwnd >= 2 * MPCC_LISA_IW_MIN)
		return cwnd / 2;
	return 0;
}

/* The subflow in slow start with the largest cwnd/srtt, debits subtracted: its slot, or MPCC_NO_SLOT. */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_lisa_lender(const struct mpcc_connection *c, u8 group)
{
	u32 best = MPCC_NO_SLOT, best_cwnd = 0, best_srtt8 = 1;

	if (!c)
		return MPCC_NO_SLOT;
	for (u32 i = 0; i < MPCC_SUBFLOWS; i++) {
		const struct mpcc_slot *slot = &c->slot[i];
		union mpcc_account account = { .word = MPCC_READ(slot->account.word) };
		u32 srtt8 = MPCC_READ(slot->srtt8), cwnd = account.cwnd - account.debit;

		/* The new subflow itself is still absent. */
		if (MPCC_READ(slot->phase) != MPCC_SLOW_START || MPCC_READ(slot->group) != group ||
		    !srtt8 || account.cwnd < account.debit)
			continue;
		if (mpcc_rate_above(cwnd, srtt8, best_cwnd, best_srtt8)) {
			best = i;
			best_cwnd = cwnd;
			best_srtt8 = srtt8;
		}
	}
	return best;
}

/* Algorithm 1: the initial window of a subflow that joins, taken from a lender if there is one. */
MPCC_INLINE void mpcc_lisa_init(struct mpcc_connection *c, struct mpcc_subflow *s,
				struct mpcc_tcp *tcp, bool fresh, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u32 me = MPCC_SLOT(s->slot);

	if (!slot || !fresh || tcp->backup)
		return;
	for (u32 tries = 0; tries < MPCC_SUBFLOWS; tries++) {
		u32 lender = mpcc_lisa_lender(c, s->group);
		union mpcc_account seen, next;
		u32 credit;

		slot->lender = lender;
		slot->credit = 0;
		if (lender == MPCC_NO_SLOT)
			return; /* no subflow is in slow start: the endpoint's own initial window */
		seen.word = MPCC_READ(c->slot[MPCC_SLOT(lender)].account.word);
		credit = mpcc_lisa_credit(mpcc_minus(seen.cwnd, seen.debit));
		credit = mpcc_min(credit, tcp->cwnd);
		if (credit < MPCC_LISA_IW_MIN)
			break;

		slot->credit = credit;
		next.cwnd = seen.cwnd;
		next.debit = seen.debit + credit;
		next.borrowers = seen.borrowers | 1U << me;
		if (MPCC_SWAP_IF(&c->slot[MPCC_SLOT(lender)].account.word, seen.word, next.word)) {
			tcp->cwnd = credit;
			note->what |= MPCC_NOTE_TAKEN;
			note->credit = credit;
			return;
		}
	}
	slot->credit = 0;
	slot->lender = MPCC_NO_SLOT;
	tcp->cwnd = mpcc_min(tcp->cwnd, MPCC_LISA_IW_MIN);
}

/* Clears the debits of an account, and its window too if the subflow closes. Returns the borrowers. */
MPCC_INLINE u16 mpcc_lisa_clear(struct mpcc_slot *slot, bool closing)
{
	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		union mpcc_account seen = { .word = MPCC_READ(slot->account.word) };
		union mpcc_account next = { .cwnd = closing ? 0 : seen.cwnd };

		if (seen.word == next.word)
			return 0;
		if (!MPCC_SWAP_IF(&slot->account.word, seen.word, next.word))
			continue;
		slot->credits_void += __builtin_popcount(seen.borrowers);
		return seen.borrowers;
	}
	return 0;
}

/* `slot`: the subflow's own. */
MPCC_INLINE void mpcc_lisa_note_withdrawn(struct mpcc_note *note, const struct mpcc_slot *slot)
{
	note->what |= MPCC_NOTE_WITHDRAWN;
	note->withdrawn = slot->credit;
	note->lender = slot->lender;
}

MPCC_INLINE void mpcc_lisa_note_void(struct mpcc_note *note, u16 borrowers)
{
	if (!borrowers)
		return;
	note->what |= MPCC_NOTE_VOID;
	note->voided |= borrowers;
}

/*
 * Makes this subflow's debits void: its window is no longer the one that they were taken from. If the subflow closes, the
 * account is emptied, so that a join that read it before cannot take from it any more.
 */
MPCC_INLINE void mpcc_lisa_void(struct mpcc_connection *c, struct mpcc_subflow *s, bool closing,
				struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	mpcc_lisa(s)->ignore = 0;
	if (slot)
		mpcc_lisa_note_void(note, mpcc_lisa_clear(slot, closing));
}

/* Sum of the credits of these borrowers, segments. */
MPCC_INLINE u32 mpcc_lisa_credits(const struct mpcc_connection *c, u32 borrowers)
{
	u32 sum = 0;

	for (u32 i = 0; i < MPCC_SUBFLOWS; i++)
		if (borrowers & 1U << i)
			sum += c->slot[i].credit;
	return sum;
}

/*
 * Settles this subflow's debits: reduces the window, and ignores as many acknowledged segments as are in flight beyond it
 * (Algorithm 1, lines 22 to 25). `flight`: segments in flight before the ACK being processed.
 */
MPCC_INLINE void mpcc_lisa_settle(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, u32 flight, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	if (!slot || !MPCC_READ(slot->account.borrowers))
		return;
	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		union mpcc_account seen = { .word = MPCC_READ(slot->account.word) };
		union mpcc_account next = { .cwnd = mpcc_minus(seen.cwnd, seen.debit) };

		if (!mpcc_below_ssthresh(tcp) || next.cwnd < MPCC_LISA_IW_MIN) {
			mpcc_lisa_void(c, s, false, note);
			return;
		}
		if (!MPCC_SWAP_IF(&slot->account.word, seen.word, next.word))
			continue; /* another subflow joined meanwhile */

		tcp->cwnd -= seen.debit;
		mpcc_lisa(s)->ignore = mpcc_minus(flight, tcp->cwnd);
		mpcc_next_epoch(c, s->group);
		slot->credits_settled += __builtin_popcount(seen.borrowers);
		note->what |= MPCC_NOTE_SETTLED;
		note->credit = seen.debit;
		note->settled = seen.borrowers;
		note->ignored = mpcc_lisa(s)->ignore;
		note->sum_after = mpcc_group_cwnd(c, s->group);
		note->sum_before = note->sum_after + (seen.cwnd - next.cwnd) -
				   mpcc_lisa_credits(c, seen.borrowers);
		return;
	}
}

/* Returns the credit of the subflow in slot `me` to the lender's account. False if it has none or it was settled. */
MPCC_INLINE bool mpcc_lisa_withdraw(struct mpcc_connection *c, u32 me)
{
	struct mpcc_slot *slot = &c->slot[MPCC_SLOT(me)];
	u16 mine = 1U << MPCC_SLOT(me);
	struct mpcc_slot *lender;

	if (slot->lender == MPCC_NO_SLOT)
		return false;
	lender = &c->slot[MPCC_SLOT(slot->lender)];
	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		union mpcc_account seen = { .word = MPCC_READ(lender->account.word) };
		union mpcc_account next = seen;

		if (!(seen.borrowers & mine))
			return false;
		next.debit -= slot->credit;
		next.borrowers &= ~mine;
		if (MPCC_SWAP_IF(&lender->account.word, seen.word, next.word))
			return true;
	}
	return false;
}

struct mpcc_lisa_unlinked {
	u32 withdrawn; /* not 0: the subflow had a credit, and returned it */
	u32 borrowers; /* bit i: the credit of slot i became void */
};

/* Unlinks the subflow in slot `me` from the others: withdraws its credit and makes its debits void. */
MPCC_SEPARATE u32 mpcc_lisa_unlink(struct mpcc_connection *c, u32 me,
				   struct mpcc_lisa_unlinked *result)
{
	if (!c || !result)
		return 0;
	result->withdrawn = mpcc_lisa_withdraw(c, me);
	result->borrowers = mpcc_lisa_clear(&c->slot[MPCC_SLOT(me)], false);
	return 0;
}

MPCC_INLINE void mpcc_lisa_move(struct mpcc_connection *c, struct mpcc_subflow *s,
				struct mpcc_tcp *tcp, struct mpcc_note *note)
{
	const struct mpcc_slot *slot = mpcc_own_slot(c, s);
	struct mpcc_lisa_unlinked unlinked = {};

	(void)tcp;
	mpcc_lisa_unlink(c, s->slot, &unlinked);
	mpcc_lisa(s)->ignore = 0;
	if (slot && unlinked.withdrawn)
		mpcc_lisa_note_withdrawn(note, slot);
	mpcc_lisa_note_void(note, unlinked.borrowers);
}

/* Subtracts the segments to ignore. */
MPCC_INLINE u32 mpcc_lisa_count(struct mpcc_connection *c, struct mpcc_subflow *s, u32 acked)
{
	u32 ignored = mpcc_min(acked, mpcc_lisa(s)->ignore);
	struct mpcc_slot *slot;

	if (!ignored)
		return acked;
	mpcc_lisa(s)->ignore -= ignored;
	slot = mpcc_own_slot(c, s);
	if (slot)
		slot->segments_ignored += ignored;
	return acked - ignored;
}

MPCC_INLINE void mpcc_lisa_ended(struct mpcc_connection *c, struct mpcc_subflow *s,
				 struct mpcc_note *note)
{
	mpcc_lisa_void(c, s, false, note);
}

MPCC_INLINE void mpcc_lisa_set_state(struct mpcc_connection *c, struct mpcc_subflow *s,
				     const struct mpcc_tcp *tcp, u8 state, struct mpcc_note *note)
{
	(void)tcp;
	if (state >= MPCC_STATE_CWR)
		mpcc_lisa_void(c, s, false, note);
}

MPCC_INLINE void mpcc_lisa_release(struct mpcc_connection *c, struct mpcc_subflow *s,
				   struct mpcc_note *note)
{
	const struct mpcc_slot *slot = mpcc_own_slot(c, s);

	if (slot && mpcc_lisa_withdraw(c, s->slot))
		mpcc_lisa_note_withdrawn(note, slot);
	mpcc_lisa_void(c, s, true, note);
}

static const struct mpcc_slow_start_ops mpcc_lisa_slow_start_ops = {
	.name = "lisa",
	.init = mpcc_lisa_init,
	.move = mpcc_lisa_move,
	.settle = mpcc_lisa_settle,
	.count = mpcc_lisa_count,
	.grow = mpcc_uncoupled_grow,
	.ended = mpcc_lisa_ended,
	.set_state = mpcc_lisa_set_state,
	.restart = mpcc_lisa_ended,
	.release = mpcc_lisa_release,
};

#endif
