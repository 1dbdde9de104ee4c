/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Convoy: subflows that share a queue leave slow start together, where one TCP would leave it; subflows on separate paths do not
 * affect each other. It ends slow start by the first of four signs, each of which is computed on every ACK:
 *
 *  - Train: ACKs have arrived without a gap for half of the smallest RTT, so that the windows fill the path (HyStart's ACK train).
 *    A gap does not break the train if other subflows of the group had ACKs in it at the train's own pace: their segments were
 *    between this subflow's in the same queue. These subflows are its mates.
 *  - Queue: the smallest RTT of the round is above the smallest of all by 1/16 of it, within 2 and 16 ms.
 *  - Mates: a subflow has left that names this one as a mate.
 *  - Equal queues: a subflow has left whose queue was above 1/16 of this one's smallest RTT, within 1 and 16 ms, and so is this one's.
 *
 * Two rules make a join fast, because the scheduler gives it a burst of data at once that a window of 10 sends in three rounds:
 *
 *  - A join begins with the window of the fastest subflow in slow start, at most 45 segments.
 *  - Below 45 segments the window grows by three segments for each acknowledged one while the ACKs of the round arrive at a rate
 *    that fills more than four of its windows in the smallest RTT.
 *
 * Source: this project (docs/algorithms/convoy.md); the train is that of Ha, Rhee, "Taming the Elephants: New TCP Slow Start", 2008.
 *
 * Details:
 *  - A round ends when the segments in flight at its start, and one more, have been acknowledged.
 *  - One sum of the ACKs of all others is kept, not one for each. The mates are the subflows with an ACK since the train began.
 *  - A subflow that leaves after a loss names no mates; its queue counts.
 *  - Only subflows that leave after this one has started count, and none from before a move to another group.
 *  - After the first slow start only an RTO begins another one with these rules, as HyStart in Linux.
 *  - The state of HyStart in CUBIC, which these rules replace, has the same place in memory as the end of this state.
 *
 * BPF: numbers of the other subflows are read in one pass over the slots (mpcc_convoy_read).
 */
#ifndef MPCC_CONVOY_H
#define MPCC_CONVOY_H

#include "hystart.h"
#include "uncoupled.h"

#define MPCC_CONVOY_GAP       2000 /* µs: longest gap within a train */
#define MPCC_CONVOY_TRAIN     16 /* segments: least window that a train ends slow start at */
#define MPCC_CONVOY_QUEUE     4 /* segments: least window that a queue ends slow start at */
#define MPCC_CONVOY_SHARE     16 /* the RTT is this often its allowed increase */
#define MPCC_CONVOY_OWN_MIN   2000 /* µs: lower bound of the increase of this subflow alone */
#define MPCC_CONVOY_EQUAL_MIN 1000 /* µs: lower bound of the increase that two subflows have */
#define MPCC_CONVOY_MOST      16000 /* µs: upper bound of both */
#define MPCC_CONVOY_IW        10 /* segments: initial window, RFC 6928 */
#define MPCC_CONVOY_JOIN      45 /* segments: 64 KB, what Linux's scheduler gives a subflow at once */
#define MPCC_CONVOY_FAST      3 /* segments of growth for each acknowledged one */
#define MPCC_CONVOY_ROOM      4 /* windows that the ACKs' rate must exceed in an RTT */

struct mpcc_convoy_slow_start {
	u32 base; /* smallest RTT sample, µs; 0: none */
	u32 round_min; /* smallest RTT sample of this round, µs */
	u32 round_start; /* µs, wraps */
	u32 last_ack; /* µs, wraps */
	u32 remaining : 24; /* segments to be acknowledged before the next round */
	u32 samples : 2; /* in this round, counted to 2 */
	u32 broken : 1; /* not 0: the train of this round has a gap */
	u32 bridged : 1; /* not 0: the train has gaps that other subflows filled */
	u32 fast : 1; /* not 0: the window may grow faster than in slow start */
	u32 over : 1; /* not 0: these rules have ended slow start, or a loss has */
	u32 train; /* segments that were acknowledged in the train of this round */
	u16 others; /* segments that all others had acknowledged at last_ack, wraps */
	u16 acked; /* segments that were acknowledged in all, wraps */
	u16 early; /* bit i: the subflow in slot i had left before this one started */
	u16 queue; /* RTT above the smallest one, in the unit of MPCC_CONVOY_TICK */
};

#define mpcc_convoy(s) mpcc_slow_start_state(s, struct mpcc_convoy_slow_start)

/* Words of mpcc_slot.slow_start. */
#define MPCC_CONVOY_ACKED 0 /* `acked`, and above it the time of the last ACK in units of 2^7 µs */
#define MPCC_CONVOY_LEFT                                                                           \
	1 /* 0 in slow start; else MPCC_CONVOY_GONE, the queue, and the mates from bit 0 on */

#define MPCC_CONVOY_GONE        (1U << 31)
#define MPCC_CONVOY_TICK        5 /* queues: a unit is 2^5 µs, so that a second fits 15 bits */
#define MPCC_CONVOY_QUEUE_MAX   0x7fff
#define MPCC_CONVOY_QUEUE_SHIFT 16
#define MPCC_CONVOY_TIME        7 /* times of ACKs: a unit is 2^7 µs, so that 4 s can be compared */
#define MPCC_CONVOY_TIME_SHIFT  16

#define MPCC_CONVOY_LEAVE MPCC_CONVOY_GONE /* in the result of mpcc_convoy_read: slow start ends */

/* base/16 within two bounds, µs. */
MPCC_INLINE u32 mpcc_convoy_limit(u32 base, u32 least)
{
	return mpcc_min(mpcc_max(base / MPCC_CONVOY_SHARE, least), MPCC_CONVOY_MOST);
}

/*
 * Reads the subflows of a group but the one in slot `me`: the sum of the segments that they have acknowledged (16 bits), and
 * MPCC_CONVOY_LEAVE if one that is not in `early` has left and names `me` as a mate, or had a queue above `least`.
 */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_convoy_read(const struct mpcc_connection *c, u8 group, u32 me,
					      u32 early, u32 least)
{
	u32 sum = 0, leave = 0, used;

	if (!c)
		return 0;
	used = mpcc_used_slots(c) & ~(1U << MPCC_SLOT(me));
	MPCC_FOR_EACH_SLOT(i, used)
	{
		const struct mpcc_slot *slot = &c->slot[i];
		u32 left = MPCC_READ(slot->slow_start[MPCC_CONVOY_LEFT]);
		u32 queue = left >> MPCC_CONVOY_QUEUE_SHIFT & MPCC_CONVOY_QUEUE_MAX;

		if (!(used >> i & 1) || !mpcc_in_group(c, i, group))
			continue;
		sum += MPCC_READ(slot->slow_start[MPCC_CONVOY_ACKED]);
		/* Without branches, which the verifier would follow separately. */
		left &= ((early >> i & 1) - 1);
		leave |= left & (left >> MPCC_SLOT(me) & 1) << 31;
		leave |= left & ((u64)least - queue) >> 32 & MPCC_CONVOY_GONE;
		MPCC_UNKNOWN(sum);
		MPCC_UNKNOWN(leave);
	}
	return (sum & 0xffff) | (leave & MPCC_CONVOY_LEAVE);
}

/* The subflows of a group with an ACK in the last `age` units of 2^7 µs before `now` (16 bits), or that have left: a bit each. */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_convoy_list(const struct mpcc_connection *c, u8 group, u32 now,
					      u32 age, bool left)
{
	u32 list = 0, used;

	if (!c)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	{
		const struct mpcc_slot *slot = &c->slot[i];
		u32 seen = MPCC_READ(slot->slow_start[MPCC_CONVOY_ACKED]) >> MPCC_CONVOY_TIME_SHIFT;
		bool counts = ((now - seen) & 0xffff) <= age;

		if (left)
			counts = MPCC_READ(slot->slow_start[MPCC_CONVOY_LEFT]) != 0;
		if (counts && mpcc_in_group(c, i, group))
			list |= 1U << i;
		MPCC_UNKNOWN(list);
	}
	return list;
}

/* A round starts. */
MPCC_INLINE void mpcc_convoy_round(struct mpcc_convoy_slow_start *v, const struct mpcc_tcp *tcp,
				   u32 now)
{
	v->round_start = now;
	v->round_min = ~0U;
	v->remaining = mpcc_min(tcp->flight, MPCC_CWND_MAX) + 1;
	v->samples = 0;
	v->broken = false;
	v->bridged = false;
	v->fast = false;
	v->train = 0;
}

/* The rules begin: a subflow starts, moves to another group, or had an RTO. */
MPCC_INLINE void mpcc_convoy_begin(struct mpcc_connection *c, struct mpcc_subflow *s,
				   const struct mpcc_tcp *tcp)
{
	struct mpcc_convoy_slow_start *v = mpcc_convoy(s);
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	mpcc_convoy_round(v, tcp, mpcc_hystart_clock(tcp));
	v->last_ack = v->round_start;
	v->queue = 0;
	if (!slot)
		return;
	MPCC_WRITE(slot->slow_start[MPCC_CONVOY_LEFT], 0);
	v->early = mpcc_convoy_list(c, s->group, 0, 0, true);
	v->others = mpcc_convoy_read(c, s->group, s->slot, ~0U, ~0U);
}

/* Window of the subflow in slow start with the largest cwnd/srtt, segments; 0: none. */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_convoy_fastest(const struct mpcc_connection *c, u8 group)
{
	u32 best_cwnd = 0, best_srtt8 = 1, used;

	if (!c)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	{
		u32 w, t;

		if (!mpcc_measured(c, i, group, &w, &t) ||
		    MPCC_READ(c->slot[i].phase) != MPCC_SLOW_START)
			continue;
		if (mpcc_rate_above(w, t, best_cwnd, best_srtt8)) {
			best_cwnd = w;
			best_srtt8 = t;
		}
		MPCC_UNKNOWN(best_cwnd);
		MPCC_UNKNOWN(best_srtt8);
	}
	return best_cwnd;
}

/* A smaller window than the standard one is kept: Linux begins with 1 after a lost SYN. */
MPCC_INLINE void mpcc_convoy_init(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, bool fresh, struct mpcc_note *note)
{
	struct mpcc_convoy_slow_start *v = mpcc_convoy(s);

	(void)note;
	v->over = !fresh;
	v->base = tcp->srtt8 / 8;
	mpcc_convoy_begin(c, s, tcp);
	if (fresh && !tcp->backup && mpcc_own_slot(c, s) && tcp->cwnd >= MPCC_CONVOY_IW)
		tcp->cwnd = mpcc_max(tcp->cwnd,
				     mpcc_min(mpcc_convoy_fastest(c, s->group), MPCC_CONVOY_JOIN));
}

MPCC_INLINE void mpcc_convoy_move(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, struct mpcc_note *note)
{
	(void)note;
	mpcc_convoy_begin(c, s, tcp);
}

/* Every ACK: publishes the segments acknowledged so far, and the time. */
MPCC_WRAPS MPCC_INLINE bool mpcc_convoy_sample(struct mpcc_connection *c, struct mpcc_subflow *s,
					       struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_convoy_slow_start *v = mpcc_convoy(s);
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u32 time = mpcc_hystart_clock(tcp) >> MPCC_CONVOY_TIME;

	v->acked = (v->acked + acked) & 0xffff;
	if (slot)
		MPCC_WRITE(slot->slow_start[MPCC_CONVOY_ACKED],
			   (time & 0xffff) << MPCC_CONVOY_TIME_SHIFT | v->acked);
	return false;
}

/* Leaves slow start: publishes the queue and the mates, a bit each. */
MPCC_INLINE void mpcc_convoy_leave(struct mpcc_connection *c, struct mpcc_subflow *s, u32 mates)
{
	struct mpcc_convoy_slow_start *v = mpcc_convoy(s);
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	v->over = true;
	if (slot)
		MPCC_WRITE(slot->slow_start[MPCC_CONVOY_LEFT],
			   MPCC_CONVOY_GONE | (u32)v->queue << MPCC_CONVOY_QUEUE_SHIFT |
				   (mates & MPCC_EVERY_SLOT));
}

/* Adds an ACK to the train of the round. `others`: segments that all others have acknowledged. */
MPCC_WRAPS MPCC_INLINE void mpcc_convoy_train(struct mpcc_convoy_slow_start *v, u32 now, u32 others,
					      u32 acked)
{
	u32 gap = now - v->last_ack, time = v->last_ack - v->round_start;
	u32 between = (others - v->others) & 0xffff;

	if (gap > MPCC_CONVOY_GAP && !v->broken) {
		/* At the pace of the train, the segments of the others fill three quarters of the gap. */
		if ((u64)between * time * 4 >= (u64)gap * v->train * 3 && time)
			v->bridged = true;
		else
			v->broken = true;
	}
	v->last_ack = now;
	v->others = others & 0xffff;
	v->train = mpcc_min(v->train + acked, MPCC_CWND_MAX);
}

/* An RTT sample. Returns whether the queue ends slow start. */
MPCC_INLINE bool mpcc_convoy_delay(struct mpcc_convoy_slow_start *v, const struct mpcc_tcp *tcp)
{
	u32 queue, needed = mpcc_min(2, tcp->cwnd / 2);

	if (!v->base || tcp->rtt_us < v->base)
		v->base = tcp->rtt_us;
	v->round_min = mpcc_min(v->round_min, tcp->rtt_us);
	if (v->samples < needed)
		v->samples++;
	if (v->samples < needed)
		return false;
	queue = v->round_min - v->base;
	v->queue = mpcc_min(queue >> MPCC_CONVOY_TICK, MPCC_CONVOY_QUEUE_MAX);
	return queue > mpcc_convoy_limit(v->base, MPCC_CONVOY_OWN_MIN) &&
	       tcp->cwnd >= MPCC_CONVOY_QUEUE;
}

MPCC_WRAPS MPCC_INLINE void mpcc_convoy_exit(struct mpcc_connection *c, struct mpcc_subflow *s,
					     struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_convoy_slow_start *v = mpcc_convoy(s);
	u32 now = mpcc_hystart_clock(tcp), time, limit, others, mates = 0;
	bool leaves, train;

	v->remaining = mpcc_minus(v->remaining, acked);
	if (v->over)
		return;
	leaves = tcp->rtt_us && mpcc_convoy_delay(v, tcp);
	limit = mpcc_convoy_limit(v->base, MPCC_CONVOY_EQUAL_MIN) >> MPCC_CONVOY_TICK;
	others = mpcc_convoy_read(c, s->group, s->slot, v->early, v->queue > limit ? limit : ~0U);
	leaves |= others >> 31;

	if (!v->remaining) {
		mpcc_convoy_round(v, tcp, now);
		v->last_ack = now;
		v->others = others & 0xffff;
	} else {
		mpcc_convoy_train(v, now, others, acked);
	}
	time = now - v->round_start;
	train = !v->broken && tcp->cwnd >= MPCC_CONVOY_TRAIN && time > v->base / 2;
	v->fast = !v->broken && v->train > 1 &&
		  (u64)v->base * v->train >
			  (u64)MPCC_CONVOY_ROOM * mpcc_min(tcp->cwnd, MPCC_CWND_MAX) * time;
	if (!train && !leaves)
		return;
	if (train && v->bridged)
		mates = mpcc_convoy_list(c, s->group, now >> MPCC_CONVOY_TIME,
					 time >> MPCC_CONVOY_TIME, false);
	tcp->ssthresh = tcp->cwnd;
	mpcc_convoy_leave(c, s, mates);
}

MPCC_INLINE u32 mpcc_convoy_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	const struct mpcc_convoy_slow_start *v = mpcc_convoy(s);
	u32 most = mpcc_min(MPCC_CONVOY_JOIN, tcp->ssthresh), window;

	if (v->over || !v->fast || tcp->cwnd >= most)
		return mpcc_double(tcp, acked);
	window = mpcc_min(tcp->cwnd + MPCC_CONVOY_FAST * mpcc_min(acked, MPCC_CWND_MAX), most);
	if (window - tcp->cwnd <= acked)
		return mpcc_double(tcp, acked);
	tcp->cwnd = mpcc_min(window, mpcc_max(tcp->cwnd_clamp, tcp->cwnd));
	return 0;
}

MPCC_INLINE void mpcc_convoy_ended(struct mpcc_connection *c, struct mpcc_subflow *s,
				   struct mpcc_note *note)
{
	(void)note;
	if (!mpcc_convoy(s)->over)
		mpcc_convoy_leave(c, s, 0);
}

MPCC_INLINE void mpcc_convoy_set_state(struct mpcc_connection *c, struct mpcc_subflow *s,
				       const struct mpcc_tcp *tcp, u8 state, struct mpcc_note *note)
{
	(void)note;
	if (state != MPCC_STATE_LOSS)
		return;
	mpcc_convoy(s)->over = false;
	mpcc_convoy(s)->base = 0;
	mpcc_convoy_begin(c, s, tcp);
}

static const struct mpcc_slow_start_ops mpcc_convoy_slow_start_ops = {
	.name = "convoy",
	.replaces_hystart = true,
	.init = mpcc_convoy_init,
	.move = mpcc_convoy_move,
	.sample = mpcc_convoy_sample,
	.exit = mpcc_convoy_exit,
	.grow = mpcc_convoy_grow,
	.ended = mpcc_convoy_ended,
	.set_state = mpcc_convoy_set_state,
};

#endif
