/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * LISA, linked slow start.
 *
 * A subflow that joins takes its initial window from the subflow in slow start that sends fastest, so that
 * the sum of the windows stays as it was: a credit of 3 to 10 segments. The lender gives it up and then lets
 * as many acknowledged segments pass without growth as it has more in flight than its new window.
 *
 * Source: Barik, Welzl, Ferlin, Alay, "LISA: A Linked Slow-Start Algorithm for MPTCP", ICC 2016, Algorithm 1.
 *
 * Departures, and why:
 *  - The lender pays on its own next ACK, or when it next starts to send, not at the moment of the join: a
 *    subflow cannot write another's window. Between the two, its account shows window and debit together, so
 *    that further joins take from what is left.
 *  - A credit is void if the lender leaves slow start, restarts after idling or closes before it has paid: the
 *    window that it was taken from is no more.
 *  - Acknowledged segments are counted where the paper counts ACKs of a receiver that acknowledges each one.
 *  - The initial window is the endpoint's own (10 by RFC 6928) when nothing is taken, and an upper bound on
 *    the credit: Linux starts at 1 after a lost SYN, and an administrator may set another.
 *
 * Groups: only a subflow of the same group lends. A credit that is open when the lender or the taker moves to another
 * group is void, and both keep their windows: nothing joins them any more, and apart from the start they would have had
 * those. What was paid stays paid. A lender that moves ignores no more segments. (On Linux, one that joins at the very
 * moment in which its lender moves may still find it in its group: that credit is paid.)
 */
#ifndef MPCC_LISA_H
#define MPCC_LISA_H

#include "../subflow.h"

#define MPCC_LISA_IW     10 /* segments: initial window, RFC 6928 */
#define MPCC_LISA_IW_MIN 3 /* segments: the least that competes, after RFC 3390 */

/* What a lender with this window gives: Algorithm 1, lines 5 to 18. 0: nothing. */
MPCC_INLINE u32 mpcc_lisa_credit(u32 cwnd)
{
	if (cwnd >= 2 * MPCC_LISA_IW)
		return MPCC_LISA_IW;
	if (cwnd >= 2 * MPCC_LISA_IW_MIN)
		return cwnd / 2;
	return 0;
}

/* Finds the subflow in slow start with the largest cwnd/srtt, debits taken off: its slot, or MPCC_NO_SLOT. */
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

/* Algorithm 1: the initial window of a subflow that joins, taken from a lender where there is one. */
MPCC_INLINE void mpcc_lisa_join(struct mpcc_connection *c, struct mpcc_subflow *s,
				struct mpcc_tcp *tcp, struct mpcc_note *note)
{
	u32 me = MPCC_SLOT(s->slot);
	struct mpcc_slot *slot = &c->slot[me];

	for (u32 tries = 0; tries < MPCC_SUBFLOWS; tries++) {
		u32 lender = mpcc_lisa_lender(c, s->group);
		union mpcc_account seen, next;
		u32 credit;

		slot->lender = lender;
		slot->credit = 0;
		if (lender == MPCC_NO_SLOT)
			return; /* nobody is in slow start: the endpoint's own initial window */
		seen.word = MPCC_READ(c->slot[MPCC_SLOT(lender)].account.word);
		credit = mpcc_lisa_credit(mpcc_minus(seen.cwnd, seen.debit));
		credit = mpcc_min(credit, tcp->cwnd);
		if (credit < MPCC_LISA_IW_MIN)
			break;

		slot->credit = credit;
		next.cwnd = seen.cwnd;
		next.debit = seen.debit + credit;
		next.takers = seen.takers | 1U << me;
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

/* Strikes what others took out of this account, and the window too with `closing`. Returns who had taken. */
MPCC_INLINE u16 mpcc_lisa_strike(struct mpcc_slot *slot, bool closing)
{
	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		union mpcc_account seen = { .word = MPCC_READ(slot->account.word) };
		union mpcc_account next = { .cwnd = closing ? 0 : seen.cwnd };

		if (seen.word == next.word)
			return 0;
		if (!MPCC_SWAP_IF(&slot->account.word, seen.word, next.word))
			continue;
		slot->credits_void += __builtin_popcount(seen.takers);
		return seen.takers;
	}
	return 0;
}

MPCC_INLINE void mpcc_lisa_note_void(struct mpcc_note *note, u16 takers)
{
	if (!takers)
		return;
	note->what |= MPCC_NOTE_VOID;
	note->voided |= takers;
}

/*
 * Forgets what others took from this subflow: its window is no longer the one that they took from. With
 * `closing` the account is emptied, so that nobody who saw it before can take from it any more.
 */
MPCC_INLINE void mpcc_lisa_void(struct mpcc_connection *c, struct mpcc_subflow *s, bool closing,
				struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	s->ignore = 0;
	if (slot)
		mpcc_lisa_note_void(note, mpcc_lisa_strike(slot, closing));
}

/* The initial windows that these subflows took as credits, in segments. */
MPCC_INLINE u32 mpcc_lisa_taken(const struct mpcc_connection *c, u32 takers)
{
	u32 sum = 0;

	for (u32 i = 0; i < MPCC_SUBFLOWS; i++)
		if (takers & 1U << i)
			sum += c->slot[i].credit;
	return sum;
}

/*
 * Pays what others took, and sets the acknowledged segments to ignore to what is then in flight beyond the
 * window (Algorithm 1, lines 22 to 25). `flight` is what was in flight before the ACK that is being processed.
 */
MPCC_INLINE void mpcc_lisa_settle(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, u32 flight, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	if (!slot || !MPCC_READ(slot->account.takers))
		return;
	for (u32 tries = 0; tries < MPCC_TRIES; tries++) {
		union mpcc_account seen = { .word = MPCC_READ(slot->account.word) };
		union mpcc_account next = { .cwnd = mpcc_minus(seen.cwnd, seen.debit) };

		if (!mpcc_in_slow_start(tcp) || next.cwnd < MPCC_LISA_IW_MIN) {
			mpcc_lisa_void(c, s, false, note);
			return;
		}
		if (!MPCC_SWAP_IF(&slot->account.word, seen.word, next.word))
			continue; /* one more has joined in the meantime */

		tcp->cwnd -= seen.debit;
		s->ignore = mpcc_minus(flight, tcp->cwnd);
		mpcc_next_epoch(c, s->group);
		slot->credits_settled += __builtin_popcount(seen.takers);
		note->what |= MPCC_NOTE_SETTLED;
		note->credit = seen.debit;
		note->settled = seen.takers;
		note->ignored = s->ignore;
		note->sum_after = mpcc_sum_cwnd(c, s->group);
		note->sum_before =
			note->sum_after + (seen.cwnd - next.cwnd) - mpcc_lisa_taken(c, seen.takers);
		return;
	}
}

/* Takes back the credit that the subflow in slot `me` took and the lender has not paid. False: there is none. */
MPCC_INLINE bool mpcc_lisa_take_back(struct mpcc_connection *c, u32 me)
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

		if (!(seen.takers & mine))
			return false;
		next.debit -= slot->credit;
		next.takers &= ~mine;
		if (MPCC_SWAP_IF(&lender->account.word, seen.word, next.word))
			return true;
	}
	return false;
}

/* Takes back a credit that the lender has not paid: this subflow closes and needs it no more. */
MPCC_INLINE void mpcc_lisa_withdraw(struct mpcc_connection *c, struct mpcc_subflow *s,
				    struct mpcc_note *note)
{
	if (mpcc_own_slot(c, s) && mpcc_lisa_take_back(c, s->slot))
		note->what |= MPCC_NOTE_WITHDRAWN;
}

/* The subflow in slot `me` parts from its group. Who had taken from it, and, above them, whether it took back a credit. */
MPCC_SEPARATE u32 mpcc_lisa_part(struct mpcc_connection *c, u32 me)
{
	u32 withdrawn;

	if (!c)
		return 0;
	withdrawn = mpcc_lisa_take_back(c, me);
	return withdrawn << MPCC_SUBFLOWS | mpcc_lisa_strike(&c->slot[MPCC_SLOT(me)], false);
}

/* A subflow moves to another group. */
MPCC_INLINE void mpcc_lisa_move(struct mpcc_connection *c, struct mpcc_subflow *s,
				struct mpcc_note *note)
{
	u32 parted = mpcc_lisa_part(c, s->slot);

	s->ignore = 0;
	if (parted >> MPCC_SUBFLOWS)
		note->what |= MPCC_NOTE_WITHDRAWN;
	mpcc_lisa_note_void(note, parted & MPCC_EVERY_SLOT);
}

/* Uses up what is to be ignored; returns the acknowledged segments that count. */
MPCC_INLINE u32 mpcc_lisa_counted(struct mpcc_connection *c, struct mpcc_subflow *s, u32 acked)
{
	u32 ignored = mpcc_min(acked, s->ignore);
	struct mpcc_slot *slot;

	if (!ignored)
		return acked;
	s->ignore -= ignored;
	slot = mpcc_own_slot(c, s);
	if (slot)
		slot->segments_ignored += ignored;
	return acked - ignored;
}

#endif
