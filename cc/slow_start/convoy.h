/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Convoy: subflows that share a queue leave slow start as early as one TCP would there; subflows on separate paths do not affect
 * each other.
 *
 * Where subflows share a queue, their segments are behind each other in it, so that the ACKs of one subflow have gaps in which others
 * had ACKs. A subflow is taken to share its queue from the first gap on in which the others had at least an eighth of the ACKs that it
 * would have had itself at the pace of its train, if they had few ACKs within the train: on separate paths ACKs overlap.
 *
 * Slow start ends by the first of two signs, each of which is computed on every ACK:
 *
 *  - Train: ACKs have arrived without a gap for half of the smallest RTT, so that the windows fill the path (HyStart's ACK train); for
 *    5/16 of it where the queue is shared. A gap does not end the train if others had at least three quarters of its ACKs in it; after
 *    another gap a new train begins.
 *    The segments of a sender that paces are spread over half an RTT by itself (tcp_update_pacing_rate: twice cwnd/srtt in slow
 *    start). Its train has twice the length (hystart_update).
 *  - Queue: the smallest RTT of the round is above the smallest of all by 1/8 of it, within 10 and 40 ms, after eight RTT samples of the
 *    round; by 1/32, within 2 and 8 ms, after one sample, where the queue is shared.
 *
 * Jitter makes gaps and delays, too. While a window grows, its queue does not get shorter within a round: an RTT that decreases by more
 * than 1 ms from one ACK to the next shows jitter. From then on no gap is evidence of a shared queue, nor was one before.
 *
 * Below 45 segments the window of a join grows by five segments for each acknowledged one while the ACKs of the round arrive at a rate
 * that fills six of its windows in the smallest RTT, so that the window fits the path after a round of this growth. Linux's scheduler
 * gives a join a burst of data at once, which a window of 10 would send in three rounds. The window of the first subflow grows so below
 * 20 segments, and has less to make up for the join.
 *
 * Source: this project (docs/algorithms/convoy.md); the train is that of Ha, Rhee, "Taming the Elephants: New TCP Slow Start", 2008.
 *
 * Details:
 *  - A round ends when the segments in flight at its start, and one more, have been acknowledged. The gap before the first ACK of the
 *    next round counts, too.
 *  - One sum of the ACKs of all others is kept, not one for each.
 *  - The rules end slow start once, until an RTO, as HyStart in Linux. A loss does not switch them off: slow start goes on if the
 *    endpoint undoes the reduction.
 */
#ifndef MPCC_CONVOY_H
#define MPCC_CONVOY_H

#include "hystart.h"
#include "uncoupled.h"

/*
 * The source of each constant is in parentheses. HyStart: tcp_cubic.c. Linux: its MPTCP scheduler. Tuned: chosen on the tuning half of the
 * draws of experiments/start, and judged on the other half (docs/notes/starting.md).
 */

/* Evidence of a shared queue. */
/* µs: longest gap within a train; also the least delay by which a shared queue ends slow start (HyStart) */
#define MPCC_CONVOY_GAP_US MPCC_HYSTART_SPACING
/* µs: more than this, a decrease of the RTT within a round shows jitter. Half of a gap: one path has jitter in both directions */
#define MPCC_CONVOY_JITTER_US (MPCC_CONVOY_GAP_US / 2)
#define MPCC_CONVOY_FILLED_DIVISOR                                                                 \
	8 /* others had at least this part of a gap's ACKs: an eighth (tuned) */
#define MPCC_CONVOY_WITHIN_DIVISOR                                                                 \
	4 /* … and at most this part of the train's ACKs: a quarter (tuned) */

/* segments: least window at which a rule ends slow start (HyStart) */
#define MPCC_CONVOY_CWND MPCC_HYSTART_WINDOW

/* A train that ends slow start. */
#define MPCC_CONVOY_TRAIN_ALONE_16THS                                                              \
	8 /* length, sixteenths of the smallest RTT: a half (HyStart) */
#define MPCC_CONVOY_TRAIN_SHARED_16THS 5 /* the same where the queue is shared (tuned) */
#define MPCC_CONVOY_PACED_FACTOR       2 /* times as long for a sender that paces (HyStart) */

/* A queue that ends slow start: an increase of the RTT by a part of it, within a bound and four times that bound (HyStart). */
#define MPCC_CONVOY_QUEUE_BOUNDS         4
#define MPCC_CONVOY_QUEUE_ALONE_DIVISOR  8 /* an eighth (HyStart) */
#define MPCC_CONVOY_QUEUE_ALONE_MIN_US   10000 /* (tuned) */
#define MPCC_CONVOY_QUEUE_SHARED_DIVISOR 32 /* the same where the queue is shared (tuned) */
/* RTT samples of a round before a queue that is not shared ends slow start (HyStart) */
#define MPCC_CONVOY_SAMPLES MPCC_HYSTART_SAMPLES

/* Growth of small windows. */
#define MPCC_CONVOY_FAST_JOIN_CWND                                                                 \
	45 /* segments: 64 KB, what Linux's scheduler gives a join at once (Linux) */
#define MPCC_CONVOY_FAST_FIRST_CWND 20 /* segments: the same of the first subflow (tuned) */
#define MPCC_CONVOY_FAST_FACTOR     5 /* segments of growth for each acknowledged one (tuned) */

struct mpcc_convoy_slow_start {
	u32 base; /* smallest RTT sample, µs; 0: none */
	u32 round_min; /* smallest RTT sample of this round, µs */
	u32 train_start; /* time of the ACK before the train: at first the one that began the round; µs, wraps */
	u32 last_ack; /* µs, wraps */
	u32 others; /* segments that all others had acknowledged at last_ack, wraps */
	u32 remaining : 21; /* segments to be acknowledged before the next round */
	u32 samples : 4; /* RTT samples in this round, counted to MPCC_CONVOY_SAMPLES */
	u32 broken : 1; /* not 0: the round has a gap that ended a train */
	u32 shared : 1; /* not 0: others are behind the same queue */
	u32 fast : 1; /* not 0: the window may grow faster than in slow start */
	u32 join : 1; /* not 0: others were there before it */
	u32 over : 1; /* not 0: these rules have ended slow start (tcp_cubic.c: found) */
	u32 jitter : 1; /* not 0: the RTT has jitter; `shared` is 0 */
	u32 train; /* segments that were acknowledged in the train */
	u16 within; /* segments that others had acknowledged within it, but for its gaps; at most 65 535 */
	u16 last_rtt; /* previous RTT sample of this round, units of 1 << MPCC_CONVOY_RTT_SHIFT µs; 0: none */
};

/* Representation: 32 µs, so that an RTT of 2 s is within 16 bits. */
#define MPCC_CONVOY_RTT_SHIFT 5

#define mpcc_convoy(s) mpcc_slow_start_state(s, struct mpcc_convoy_slow_start)

/* Word of mpcc_slot.slow_start: segments that were acknowledged since the subflow has entered the group, wraps. */
#define MPCC_CONVOY_ACKED 0

/* The segments that the subflows of a group, but the one in slot `me`, have acknowledged; wraps. */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_convoy_others(const struct mpcc_connection *c, u8 group, u32 me)
{
	u32 sum = 0, used;

	if (!c)
		return 0;
	used = mpcc_used_slots(c) & ~(1U << MPCC_SLOT(me));
	MPCC_FOR_EACH_SLOT(i, used)
	{
		if ((used >> i & 1) && mpcc_in_group(c, i, group))
			sum += MPCC_READ(c->slot[i].slow_start[MPCC_CONVOY_ACKED]);
		MPCC_UNKNOWN(sum);
	}
	return sum;
}

/* A train begins after this ACK. */
MPCC_INLINE void mpcc_convoy_new_train(struct mpcc_convoy_slow_start *v, u32 now)
{
	v->train_start = now;
	v->train = 0;
	v->within = 0;
}

/* A round starts. */
MPCC_INLINE void mpcc_convoy_round(struct mpcc_convoy_slow_start *v, const struct mpcc_tcp *tcp,
				   u32 now, u32 others)
{
	mpcc_convoy_new_train(v, now);
	v->last_ack = now;
	v->others = others;
	v->round_min = ~0U;
	v->remaining = mpcc_min(tcp->flight, MPCC_CWND_MAX) + 1;
	v->samples = 0;
	v->broken = false;
	v->fast = false;
	v->last_rtt = 0;
}

/* The segments that the other subflows of the group have acknowledged; wraps. 0: it runs alone. */
MPCC_INLINE u32 mpcc_convoy_read(struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	return mpcc_own_slot(c, s) ? mpcc_convoy_others(c, s->group, s->slot) : 0;
}

/* A round starts without an ACK. */
MPCC_INLINE void mpcc_convoy_restart(struct mpcc_connection *c, struct mpcc_subflow *s,
				     const struct mpcc_tcp *tcp)
{
	mpcc_convoy_round(mpcc_convoy(s), tcp, mpcc_hystart_clock(tcp), mpcc_convoy_read(c, s));
}

/*
 * The time since the last ACK is no gap that others could have filled, but breaks the train like one: the sender paused, or reordering
 * ends, whose ACKs acknowledge nothing in order and did not reach these rules (tcp_may_raise_cwnd).
 */
MPCC_WRAPS MPCC_INLINE void mpcc_convoy_skip(struct mpcc_connection *c, struct mpcc_subflow *s,
					     const struct mpcc_tcp *tcp)
{
	struct mpcc_convoy_slow_start *v = mpcc_convoy(s);
	u32 now = mpcc_hystart_clock(tcp);

	if (v->over || !mpcc_below_ssthresh(tcp) || now - v->last_ack <= MPCC_CONVOY_GAP_US)
		return;
	v->broken = true;
	mpcc_convoy_new_train(v, now);
	v->last_rtt = 0;
	v->last_ack = now;
	v->others = mpcc_convoy_read(c, s);
}

/* The rules begin: a subflow starts, moves to another group, or had an RTO. */
MPCC_INLINE void mpcc_convoy_begin(struct mpcc_connection *c, struct mpcc_subflow *s,
				   const struct mpcc_tcp *tcp)
{
	mpcc_convoy_restart(c, s, tcp);
	mpcc_convoy(s)->shared = false;
	mpcc_convoy(s)->jitter = false;
}

MPCC_INLINE void mpcc_convoy_init(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, bool fresh, struct mpcc_note *note)
{
	struct mpcc_convoy_slow_start *v = mpcc_convoy(s);

	(void)fresh, (void)note;
	v->join = mpcc_own_slot(c, s) && !mpcc_is_zero(mpcc_group_size(c, s->group));
	v->base = tcp->srtt8 / 8;
	mpcc_convoy_begin(c, s, tcp);
}

MPCC_INLINE void mpcc_convoy_move(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, struct mpcc_note *note)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	(void)note;
	/* Its slot is in no group meanwhile: for the others it enters without ACKs. */
	if (slot)
		MPCC_WRITE(slot->slow_start[MPCC_CONVOY_ACKED], 0);
	mpcc_convoy_begin(c, s, tcp);
}

/* Every ACK: publishes the segments acknowledged so far. */
MPCC_WRAPS MPCC_INLINE bool mpcc_convoy_sample(struct mpcc_connection *c, struct mpcc_subflow *s,
					       struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	(void)tcp;
	if (slot)
		MPCC_WRITE(slot->slow_start[MPCC_CONVOY_ACKED],
			   slot->slow_start[MPCC_CONVOY_ACKED] + acked);
	return false;
}

/* Whether others had at least num/den of the ACKs that this subflow would have had in a gap (µs) at the pace of its train. */
MPCC_WRAPS MPCC_INLINE bool mpcc_convoy_filled(const struct mpcc_convoy_slow_start *v, u32 gap,
					       u32 between, u32 num, u32 den)
{
	u32 time = v->last_ack - v->train_start;

	return gap && v->train && (u64)between * time * den >= (u64)gap * v->train * num;
}

/* A gap between two ACKs, or the time between two rounds: whether it shows that the queue is shared. */
MPCC_INLINE void mpcc_convoy_gap(struct mpcc_convoy_slow_start *v, u32 gap, u32 between)
{
	if (!v->jitter && mpcc_convoy_filled(v, gap, between, 1, MPCC_CONVOY_FILLED_DIVISOR) &&
	    (u32)v->within * MPCC_CONVOY_WITHIN_DIVISOR <= v->train)
		v->shared = true;
}

/* Adds an ACK to the train of the round. `between`: segments that others have acknowledged since the last ACK. */
MPCC_WRAPS MPCC_INLINE void mpcc_convoy_train(struct mpcc_convoy_slow_start *v, u32 now,
					      u32 between, u32 acked)
{
	u32 gap = now - v->last_ack;

	if (gap <= MPCC_CONVOY_GAP_US) {
		v->within = mpcc_min(v->within + mpcc_min(between, MPCC_CWND_MAX), 0xffff);
	} else {
		/* Only the gap after the first train of a round is evidence. */
		if (!v->broken) {
			mpcc_convoy_gap(v, gap, between);
			v->broken = !mpcc_convoy_filled(v, gap, between, 3, 4);
		}
		if (v->broken)
			mpcc_convoy_new_train(v, now);
	}
	v->train = mpcc_min(v->train + acked, MPCC_CWND_MAX);
	v->last_ack = now;
}

/* Whether the queue, µs, is long enough to end slow start. */
MPCC_INLINE bool mpcc_convoy_is_long(const struct mpcc_convoy_slow_start *v, u32 queue)
{
	u32 part = v->shared ? MPCC_CONVOY_QUEUE_SHARED_DIVISOR : MPCC_CONVOY_QUEUE_ALONE_DIVISOR;
	u32 least = v->shared ? MPCC_CONVOY_GAP_US : MPCC_CONVOY_QUEUE_ALONE_MIN_US;

	return queue > mpcc_min(mpcc_max(v->base / part, least), MPCC_CONVOY_QUEUE_BOUNDS * least);
}

/*
 * An RTT sample shows jitter if it is clearly below the previous one of the round. The queue that a growing window meets at a
 * bottleneck does not get shorter from segment to segment, even if others fill it, too; between rounds and after a pause it may be.
 */
MPCC_INLINE void mpcc_convoy_jitter(struct mpcc_convoy_slow_start *v, u32 rtt_us)
{
	u32 rtt = mpcc_min(rtt_us >> MPCC_CONVOY_RTT_SHIFT, 0xffff);

	if (v->last_rtt > rtt + (MPCC_CONVOY_JITTER_US >> MPCC_CONVOY_RTT_SHIFT)) {
		v->jitter = true;
		v->shared = false;
	}
	v->last_rtt = rtt;
}

/* An RTT sample. Returns whether the queue ends slow start. A single sample may be late by chance; a shared queue is left early. */
MPCC_INLINE bool mpcc_convoy_delay(struct mpcc_convoy_slow_start *v, const struct mpcc_tcp *tcp)
{
	if (!v->base || tcp->rtt_us < v->base)
		v->base = tcp->rtt_us;
	v->round_min = mpcc_min(v->round_min, tcp->rtt_us);
	if (v->samples < MPCC_CONVOY_SAMPLES)
		v->samples++;
	mpcc_convoy_jitter(v, tcp->rtt_us);
	return (v->shared || v->samples >= MPCC_CONVOY_SAMPLES) && tcp->cwnd >= MPCC_CONVOY_CWND &&
	       mpcc_convoy_is_long(v, v->round_min - v->base);
}

/* Whether the train, of `time` µs, ends slow start. */
MPCC_INLINE bool mpcc_convoy_fills(const struct mpcc_convoy_slow_start *v,
				   const struct mpcc_tcp *tcp, u32 time)
{
	u32 part = v->shared ? MPCC_CONVOY_TRAIN_SHARED_16THS : MPCC_CONVOY_TRAIN_ALONE_16THS;

	if (tcp->paced)
		part *= MPCC_CONVOY_PACED_FACTOR;
	return tcp->cwnd >= MPCC_CONVOY_CWND && (u64)time * 16 > (u64)v->base * part;
}

MPCC_WRAPS MPCC_INLINE void mpcc_convoy_exit(struct mpcc_connection *c, struct mpcc_subflow *s,
					     struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_convoy_slow_start *v = mpcc_convoy(s);
	u32 now = mpcc_hystart_clock(tcp), others = 0, between, time;

	v->remaining = mpcc_minus(v->remaining, acked);
	if (v->over)
		return;
	/* Few segments in flight: the sender paused (TCP_NODELAY and TSO leave less than half of a window unused). */
	if (2 * (u64)(tcp->flight + acked) < tcp->cwnd)
		mpcc_convoy_skip(c, s, tcp);
	if (mpcc_own_slot(c, s))
		others = mpcc_convoy_others(c, s->group, s->slot);
	between = others - v->others;
	/* The sum decreases when a subflow leaves the group. */
	if (between >> 31)
		between = 0;
	v->others = others;

	if (!v->remaining) {
		mpcc_convoy_gap(v, now - v->last_ack, between);
		mpcc_convoy_round(v, tcp, now, others);
	} else {
		mpcc_convoy_train(v, now, between, acked);
	}
	time = now - v->train_start;
	v->fast = !v->broken && v->train > 1 &&
		  (u64)v->base * v->train > (u64)(1 + MPCC_CONVOY_FAST_FACTOR) *
						    mpcc_min(tcp->cwnd, MPCC_CWND_MAX) * time;
	if ((tcp->rtt_us && mpcc_convoy_delay(v, tcp)) || mpcc_convoy_fills(v, tcp, time)) {
		tcp->ssthresh = tcp->cwnd;
		v->over = true;
	}
}

MPCC_INLINE u32 mpcc_convoy_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	const struct mpcc_convoy_slow_start *v = mpcc_convoy(s);
	u32 small = v->join ? MPCC_CONVOY_FAST_JOIN_CWND : MPCC_CONVOY_FAST_FIRST_CWND;
	u32 most = mpcc_min(small, tcp->ssthresh), window;

	if (v->over || !v->fast || tcp->cwnd >= most)
		return mpcc_double(tcp, acked);
	window = mpcc_min(tcp->cwnd + MPCC_CONVOY_FAST_FACTOR * mpcc_min(acked, MPCC_CWND_MAX),
			  most);
	if (window - tcp->cwnd <= acked)
		return mpcc_double(tcp, acked);
	tcp->cwnd = mpcc_min(window, mpcc_max(tcp->cwnd_clamp, tcp->cwnd));
	return 0;
}

MPCC_INLINE void mpcc_convoy_set_state(struct mpcc_connection *c, struct mpcc_subflow *s,
				       const struct mpcc_tcp *tcp, u8 state, struct mpcc_note *note)
{
	(void)note;
	if (state == MPCC_STATE_LOSS) {
		mpcc_convoy(s)->over = false;
		mpcc_convoy(s)->base = 0;
		mpcc_convoy_begin(c, s, tcp);
	} else if (s->state == MPCC_STATE_DISORDER && state == MPCC_STATE_OPEN) {
		mpcc_convoy_skip(c, s, tcp);
	}
}

MPCC_INLINE void mpcc_convoy_resume(struct mpcc_connection *c, struct mpcc_subflow *s,
				    const struct mpcc_tcp *tcp)
{
	if (mpcc_below_ssthresh(tcp))
		mpcc_convoy_restart(c, s, tcp);
}

static const struct mpcc_slow_start_ops mpcc_convoy_slow_start_ops = {
	.name = "convoy",
	.replaces_hystart = true,
	.init = mpcc_convoy_init,
	.move = mpcc_convoy_move,
	.sample = mpcc_convoy_sample,
	.exit = mpcc_convoy_exit,
	.grow = mpcc_convoy_grow,
	.set_state = mpcc_convoy_set_state,
	.resume = mpcc_convoy_resume,
	.tx_start = mpcc_convoy_skip,
};

#endif
