/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Coupled CUBIC: the subflows that share a queue follow one curve of CUBIC together (cubic_curve.h); others follow one each. Whether a
 * subflow shares its queue is found from losses and RTTs.
 *
 * One curve: with w the sum of the windows that share, each acknowledged segment grows its own window by the increase of w for one
 * segment. The subflow that has a loss starts a new epoch of the curve, for all: it publishes the curve in one word, with the time of the
 * loss as the number of the event. The others adopt the newest curve that a member has published, and come down: to 0.8 of their windows,
 * by half a segment for each acknowledged one. The subflow with the loss comes down to β = 0.7.
 *
 * Same event: a loss within one RTT of the start of the epoch. The lost segment was sent before that reduction (RFC 9002, 7.3.1). The
 * subflow then comes down to 0.7 of its window before the event, and the epoch goes on.
 *
 * Change of members: the curve is scaled by the change of the sum, and a new epoch starts without a reduction. A subflow that ceases to
 * share takes its part of the curve with it. One that begins to share adopts the curve of the others, with its own window added.
 *
 * Evidence: each event of losses of other subflows is one observation. It counts +1 for a shared queue in two cases:
 *  - The queue of this subflow is at least 3/4 of its length at this subflow's last loss. Within three RTTs the RTT then falls by at least
 *    half of the amount by which the reduction of the other subflow shortens a shared queue.
 *  - This subflow has a loss, too, within 1.5 RTTs.
 * Otherwise the observation counts −2. The sum is within 0 and 8. The subflow shares its queue from a sum of 5 until a sum of 0. While a
 * subflow shares its queue, only the length of the queue counts: the RTT also falls because of the subflow's own reduction.
 *
 * Groups: in group 0 evidence decides. The subflows of any other group share a queue, because the network has assigned the group
 * (connection.h).
 *
 * Source: this project (docs/algorithms/coupled_cubic.md); the curve is that of RFC 9438.
 *
 * Details:
 *  - W_est grows by α with each window of own acknowledged segments: with each own RTT (RFC 9438, 4.3).
 *  - The group is read, and the window grows, once in 4 ms, as Linux computes W(t) once a jiffy; while a window decreases,
 *    on each ACK.
 *  - A subflow with an RTO counts with its threshold until it has grown to it again: others do not take its place.
 *  - A reduction that the endpoint undoes restores the window of that subflow alone.
 *  - Times of losses are compared modulo 2^32 µs, 71 minutes: a loss that long ago may count as a recent one.
 *  - All subflows that share a queue are taken to share the same one.
 */
#ifndef MPCC_COUPLED_CUBIC_H
#define MPCC_COUPLED_CUBIC_H

#include "../slow_start/hystart.h"
#include "cubic_curve.h"

/*
 * Constants of two kinds. Tuned: chosen on the tuning half of the draws of experiments/start, and judged on the other half
 * (docs/notes/starting.md). Representation: a unit or a bound of a field.
 */

/* The sum of the evidence. */
#define MPCC_COUPLED_CUBIC_WEIGHT_FOR     1 /* of an observation for sharing (tuned) */
#define MPCC_COUPLED_CUBIC_WEIGHT_AGAINST 2 /* (tuned) */
#define MPCC_COUPLED_CUBIC_SCORE_SHARES   5 /* from which on a subflow shares its queue (tuned) */
#define MPCC_COUPLED_CUBIC_SCORE_MAX      8 /* (tuned) */
#define MPCC_COUPLED_CUBIC_WAIT_RTTS      3 /* in which the RTT must fall (tuned) */

/* What a subflow comes down to after the loss of another one, in the unit of MPCC_CUBIC_SCALE: 0.8 (tuned). */
#ifndef MPCC_COUPLED_CUBIC_FOLLOW
#define MPCC_COUPLED_CUBIC_FOLLOW 820
#endif

/* Representation. */
#define MPCC_COUPLED_CUBIC_TICK_SHIFT 22 /* a tick is 2^22 ns, 4 ms: a jiffy of Linux */
#define MPCC_COUPLED_CUBIC_TICK_MASK  ((1U << 21) - 1) /* ticks wrap after 2.4 h */
#define MPCC_COUPLED_CUBIC_TICK_US    4194
#define MPCC_COUPLED_CUBIC_EPOCH_MAX  61000 /* ticks, 256 s: W(t) is beyond all windows */
#define MPCC_COUPLED_CUBIC_MAX        ((1U << 20) - 1) /* segments: largest sum of windows */
#define MPCC_COUPLED_CUBIC_QUEUE_SHIFT                                                             \
	8 /* queues: a unit is 2^8 eighths of a microsecond, so that 2 s fit 16 bits */

/* A curve, as published: one word, so that its parts always belong together. */
struct mpcc_coupled_cubic_curve {
	u64 origin : 20; /* W(K), segments; 0: no loss has shown it yet */
	u64 window : 20; /* W(0), segments */
	u64 start : 21; /* tick, wraps; of an event its number */
	u64 event : 1; /* not 0: the epoch starts with a loss, else with a change of members */
	u64 shares : 1; /* not 0: the publishing subflow shares its queue */
};

struct mpcc_coupled_cubic_avoidance {
	struct mpcc_coupled_cubic_curve curve; /* as published */
	u32 k : 20; /* K: from the epoch's start until W(t) is flat, 1/1024 s */
	u32 score : 4; /* sum of the evidence */
	u32 shares : 1; /* not 0: the evidence says that this subflow shares its queue */
	u32 pending : 1; /* not 0: an observation waits for a lower RTT */
	u32 counted : 1; /* not 0: `observed` and `members` are of this group */
	u32 due : 1; /* not 0: the group was read since the window has last grown */
	u32 running : 1; /* not 0: congestion avoidance since the last own reduction */
	u32 reducing : 1; /* not 0: the window comes down from `before` */
	u32 tick : 21; /* when the group was last read, wraps */
	u32 rtt_min; /* smallest RTT sample, µs; 0: none yet */
	u32 rounds; /* RTTs of the epoch, Q16, saturates */
	u32 total; /* sum of the windows that follow the curve, segments */
	u32 before; /* own window before the last event, segments */
	u32 observed; /* µs, wraps: the last event of other subflows, or since when the members are these */
	u32 target_srtt8; /* smoothed RTT that shows a shared queue, eighths of a microsecond; valid while `pending` */
	u16 peak; /* queue at the last own loss, in the unit of MPCC_COUPLED_CUBIC_QUEUE_SHIFT; 0: no loss yet */
	u16 acked; /* segments that have not grown the window yet */
	u16 members; /* bit i: slot i is another member of the group */
	u16 set; /* bit i: the window of slot i is a part of `total` */
};

#define mpcc_coupled_cubic(s) mpcc_avoidance_state(s, struct mpcc_coupled_cubic_avoidance)

/* Both words of mpcc_slot.avoidance: the curve of the subflow. */
#define mpcc_coupled_cubic_word(slot) (*(u64 *)(slot)->avoidance)
_Static_assert(sizeof(struct mpcc_coupled_cubic_curve) == 8 &&
		       !(__builtin_offsetof(struct mpcc_slot, avoidance) % 8),
	       "a curve is one aligned word");

/* The curve that a subflow has published. */
MPCC_INLINE struct mpcc_coupled_cubic_curve mpcc_coupled_cubic_of(const struct mpcc_slot *slot)
{
	struct mpcc_coupled_cubic_curve curve;
	u64 word = MPCC_READ(mpcc_coupled_cubic_word(slot));

	__builtin_memcpy(&curve, &word, sizeof(curve));
	return curve;
}

/* Publishes the curve. */
MPCC_INLINE void mpcc_coupled_cubic_publish(struct mpcc_coupled_cubic_avoidance *v,
					    struct mpcc_slot *slot, bool shares)
{
	u64 word;

	v->curve.shares = shares;
	__builtin_memcpy(&word, &v->curve, sizeof(word));
	if (MPCC_READ(mpcc_coupled_cubic_word(slot)) != word)
		MPCC_WRITE(mpcc_coupled_cubic_word(slot), word);
}

/* Whether a subflow shares its queue: by evidence, or because the network has assigned its group. */
MPCC_INLINE bool mpcc_coupled_cubic_shares(const struct mpcc_coupled_cubic_avoidance *v, u8 group)
{
	return v->shares || (group && group <= MPCC_GROUP_MAX);
}

/* The number of the tick. */
MPCC_INLINE u32 mpcc_coupled_cubic_tick(const struct mpcc_tcp *tcp)
{
	return tcp->now >> MPCC_COUPLED_CUBIC_TICK_SHIFT & MPCC_COUPLED_CUBIC_TICK_MASK;
}

/* Ticks from `then` to `tick`. */
MPCC_WRAPS MPCC_INLINE u32 mpcc_coupled_cubic_since(u32 tick, u32 then)
{
	return (tick - then) & MPCC_COUPLED_CUBIC_TICK_MASK;
}

/* A group, as the subflow in slot `me` sees it. */
struct mpcc_coupled_cubic_group {
	u32 me;
	u32 group;
	u32 shares; /* 1: the subflow shares its queue */
	u32 tick;
	u32 now; /* µs, wraps */
	/* Results. */
	u32 others; /* sum of the windows of the others in `set`, segments */
	u32 members; /* bit i: slot i is another member */
	u32 set; /* bit i: slot i shares with this one, or is this one */
	u32 newest; /* slot of the newest curve of another one in `set`; MPCC_SUBFLOWS: none */
	u32 loss_age; /* µs since the last loss of another member; ~0: none */
};

/* Reads a group. Without branches, which the verifier would follow separately. */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_coupled_cubic_read(const struct mpcc_connection *c,
						     struct mpcc_coupled_cubic_group *g)
{
	u32 others = 0, members = 0, set = 0, newest = ~0U, loss_age = ~0U, used;

	if (!c || !g)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	{
		const struct mpcc_slot *slot = &c->slot[i];
		struct mpcc_coupled_cubic_curve curve = mpcc_coupled_cubic_of(slot);
		u32 mine = i == MPCC_SLOT(g->me), other = 1 - mine;
		u32 shares = mine | (g->shares & (u32)curve.shares);
		u32 ssthresh = MPCC_READ(slot->ssthresh), loss = MPCC_READ(slot->last_loss);
		u32 cwnd = MPCC_READ(slot->account.cwnd), age;

		if (!mpcc_in_group(c, i, g->group))
			continue;
		/* Infinite in the first slow start. */
		ssthresh = mpcc_select(mpcc_is_zero(ssthresh >> 21), ssthresh, 0);
		others += (cwnd + ssthresh - mpcc_at_most(ssthresh, cwnd)) * (shares & other);
		members |= other << i;
		set |= shares << i;
		/* The slot in the lowest bits: the minimum names it. */
		age = mpcc_coupled_cubic_since(g->tick, curve.start) << 4 | i;
		newest = mpcc_at_most(mpcc_select(shares & other, age, ~0U), newest);
		age = mpcc_select(mpcc_is_zero(loss) | mine, ~0U, g->now - loss);
		loss_age = mpcc_at_most(age, loss_age);
		MPCC_UNKNOWN(others);
		MPCC_UNKNOWN(members);
		MPCC_UNKNOWN(set);
		MPCC_UNKNOWN(newest);
		MPCC_UNKNOWN(loss_age);
	}
	g->others = others;
	g->members = members;
	g->set = set;
	g->newest = newest == ~0U ? MPCC_SUBFLOWS : newest & (MPCC_SUBFLOWS - 1);
	g->loss_age = loss_age;
	return 0;
}

/* The queue, in the unit of MPCC_COUPLED_CUBIC_QUEUE_SHIFT. */
MPCC_INLINE u32 mpcc_coupled_cubic_queue(const struct mpcc_coupled_cubic_avoidance *v,
					 const struct mpcc_tcp *tcp)
{
	u64 base8 = (u64)v->rtt_min * 8;

	return tcp->srtt8 > base8 ? (tcp->srtt8 - (u32)base8) >> MPCC_COUPLED_CUBIC_QUEUE_SHIFT : 0;
}

/* Whether `passed` µs are less than `eighths`/8 RTTs. */
MPCC_INLINE bool mpcc_coupled_cubic_within(const struct mpcc_tcp *tcp, u32 passed, u32 eighths)
{
	return (u64)passed * 64 < (u64)tcp->srtt8 * eighths;
}

/* An observation. */
MPCC_INLINE void mpcc_coupled_cubic_observe(struct mpcc_coupled_cubic_avoidance *v, bool shares)
{
	v->pending = false;
	v->score = shares ? mpcc_min(v->score + MPCC_COUPLED_CUBIC_WEIGHT_FOR,
				     MPCC_COUPLED_CUBIC_SCORE_MAX) :
			    mpcc_minus(v->score, MPCC_COUPLED_CUBIC_WEIGHT_AGAINST);
	if (v->shares ? !v->score : v->score >= MPCC_COUPLED_CUBIC_SCORE_SHARES)
		v->shares = !v->shares;
}

/* An event of other subflows. `others`: number of other members. `own`: µs since the last own loss. */
MPCC_INLINE void mpcc_coupled_cubic_other_loss(struct mpcc_coupled_cubic_avoidance *v,
					       const struct mpcc_tcp *tcp, u32 others, u32 own)
{
	bool full = mpcc_coupled_cubic_queue(v, tcp) * 4 >= v->peak * 3U;
	u32 falls;

	if (!v->peak || mpcc_below_ssthresh(tcp) || v->pending)
		return;
	if (v->shares) {
		mpcc_coupled_cubic_observe(v, full);
	} else if (mpcc_coupled_cubic_within(tcp, own, 12)) {
		mpcc_coupled_cubic_observe(v, true);
	} else if (!full) {
		mpcc_coupled_cubic_observe(v, false);
	} else {
		/* If all windows are equal, one reduction lowers the RTT by the part (1 − β)/(others + 1). Half of this part. */
		falls = (u64)tcp->srtt8 * (MPCC_CUBIC_SCALE - MPCC_CUBIC_BETA) /
			(2 * MPCC_CUBIC_SCALE * (others + 1));
		v->target_srtt8 = tcp->srtt8 - falls;
		v->pending = true;
	}
}

/* Ends the observation that waits for a lower RTT, if the RTT has reached `target_srtt8` or the time is over. */
MPCC_WRAPS MPCC_INLINE void mpcc_coupled_cubic_check(struct mpcc_coupled_cubic_avoidance *v,
						     const struct mpcc_tcp *tcp)
{
	u32 passed = mpcc_hystart_clock(tcp) - v->observed;

	if (!v->pending)
		return;
	if (!mpcc_coupled_cubic_within(tcp, passed, 8 * MPCC_COUPLED_CUBIC_WAIT_RTTS))
		mpcc_coupled_cubic_observe(v, false);
	else if (tcp->srtt8 <= v->target_srtt8)
		mpcc_coupled_cubic_observe(v, true);
}

/*
 * The next ACK reads the group. Inverts the top bit of `tick`, so that it differs from the current tick for an hour. A separate flag would
 * cost a second comparison on each ACK.
 */
MPCC_INLINE void mpcc_coupled_cubic_read_next(struct mpcc_coupled_cubic_avoidance *v)
{
	v->tick ^= (MPCC_COUPLED_CUBIC_TICK_MASK + 1) / 2;
}

/* An epoch starts on this curve. */
MPCC_INLINE void mpcc_coupled_cubic_begin(struct mpcc_coupled_cubic_avoidance *v,
					  struct mpcc_coupled_cubic_curve curve)
{
	u32 origin = curve.origin, window = curve.window;

	curve.shares = v->curve.shares;
	v->curve = curve;
	v->k = mpcc_cubic_k(mpcc_minus(origin, window));
	v->rounds = 0;
}

/* An epoch starts now at the sum `window`, without a reduction. */
MPCC_INLINE void mpcc_coupled_cubic_continue(struct mpcc_coupled_cubic_avoidance *v, u32 tick,
					     u32 origin, u32 window)
{
	struct mpcc_coupled_cubic_curve curve = {
		.origin = origin,
		.window = window,
		.start = tick,
	};

	mpcc_coupled_cubic_begin(v, curve);
}

/* The subflows that share are others than before: scales the curve. `others`: the newest curve of the others that share. */
MPCC_INLINE void mpcc_coupled_cubic_scale(struct mpcc_coupled_cubic_avoidance *v,
					  const struct mpcc_coupled_cubic_group *g, u32 cwnd,
					  struct mpcc_coupled_cubic_curve others)
{
	u32 alone = 1U << MPCC_SLOT(g->me), origin = v->curve.origin, before = v->total;
	u32 total = mpcc_min(g->others + cwnd, MPCC_COUPLED_CUBIC_MAX);

	if ((v->set & ~alone) == 0 && others.origin) {
		origin = others.origin;
		before = g->others;
	}
	origin = mpcc_min((u64)origin * total / mpcc_max(before, 1), MPCC_COUPLED_CUBIC_MAX);
	v->set = g->set;
	mpcc_coupled_cubic_continue(v, g->tick, origin, total);
}

/* Follows the other subflows that share. Returns whether one of them had a loss since the last call. */
MPCC_WRAPS MPCC_INLINE bool mpcc_coupled_cubic_follow(const struct mpcc_connection *c,
						      struct mpcc_coupled_cubic_avoidance *v,
						      const struct mpcc_coupled_cubic_group *g,
						      u32 cwnd)
{
	struct mpcc_coupled_cubic_curve others = {};
	bool event = false;
	u32 ahead;

	if (g->newest < MPCC_SUBFLOWS) {
		others = mpcc_coupled_cubic_of(&c->slot[MPCC_SLOT(g->newest)]);
		ahead = mpcc_coupled_cubic_since(others.start, v->curve.start);
		if ((v->set >> MPCC_SLOT(g->newest) & 1) && ahead &&
		    ahead < MPCC_COUPLED_CUBIC_TICK_MASK / 2) {
			mpcc_coupled_cubic_begin(v, others);
			event = others.event;
		}
	}
	if (g->set != v->set)
		mpcc_coupled_cubic_scale(v, g, cwnd, others);
	v->total = mpcc_min(g->others + cwnd, MPCC_COUPLED_CUBIC_MAX);
	return event;
}

/*
 * An ACK of the subflow in slot `me`: processes losses of other subflows and computes the sum of the windows. Returns the number of
 * acknowledged segments that grow the window: 0 while the window comes down.
 *
 * `v` is a copy of the subflow's state: the BPF verifier then verifies this function separately.
 */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_coupled_cubic_on_ack(struct mpcc_connection *c,
						       struct mpcc_coupled_cubic_avoidance *v,
						       struct mpcc_tcp *tcp, u32 me, u32 acked)
{
	struct mpcc_coupled_cubic_group g = {};
	u32 cwnd, loss, goal;

	if (!c || !v || !tcp)
		return acked;
	cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1);
	g.me = MPCC_SLOT(me);
	g.group = MPCC_READ(c->slot[MPCC_SLOT(me)].group);
	g.shares = mpcc_coupled_cubic_shares(v, g.group);
	g.tick = mpcc_coupled_cubic_tick(tcp);
	g.now = mpcc_hystart_clock(tcp);
	mpcc_coupled_cubic_read(c, &g);

	if (!v->counted || v->members != g.members) {
		v->counted = true;
		v->members = g.members;
		v->pending = false;
		v->observed = g.now;
	}
	mpcc_coupled_cubic_check(v, tcp);
	loss = g.now - g.loss_age;
	/* Losses of others within one RTT are one event. */
	if (g.loss_age != ~0U && loss - v->observed < 1U << 31 &&
	    !mpcc_coupled_cubic_within(tcp, loss - v->observed, 8)) {
		u32 own = MPCC_READ(c->slot[MPCC_SLOT(me)].last_loss);

		v->observed = loss;
		mpcc_coupled_cubic_other_loss(v, tcp, __builtin_popcount(g.members),
					      own ? g.now - own : ~0U);
	}

	if (mpcc_coupled_cubic_follow(c, v, &g, cwnd) && !mpcc_below_ssthresh(tcp)) {
		v->before = cwnd;
		v->reducing = true;
	}
	mpcc_coupled_cubic_publish(v, &c->slot[MPCC_SLOT(me)],
				   mpcc_coupled_cubic_shares(v, g.group));
	if (!v->reducing)
		return acked;
	goal = mpcc_max((u64)v->before * MPCC_COUPLED_CUBIC_FOLLOW / MPCC_CUBIC_SCALE,
			MPCC_SSTHRESH_MIN);
	tcp->ssthresh = mpcc_min(tcp->ssthresh, goal);
	tcp->cwnd = mpcc_min(tcp->cwnd,
			     mpcc_max(goal, mpcc_minus(tcp->cwnd, acked / 2 + (acked & 1))));
	if (tcp->cwnd <= goal)
		v->reducing = false;
	return 0;
}

MPCC_INLINE u32 mpcc_coupled_cubic_adjust(struct mpcc_connection *c, struct mpcc_subflow *s,
					  struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s), copy;
	u32 tick = mpcc_coupled_cubic_tick(tcp);

	if (v->tick == tick && !v->reducing)
		return acked;
	v->tick = tick;
	v->due = true;
	if (!mpcc_own_slot(c, s)) {
		v->total = mpcc_at_most(tcp->cwnd, MPCC_COUPLED_CUBIC_MAX);
		return acked;
	}
	copy = *v;
	acked = mpcc_coupled_cubic_on_ack(c, &copy, tcp, s->slot, acked);
	*v = copy;
	return acked;
}

/* Records an ACK's RTT sample. */
MPCC_INLINE void mpcc_coupled_cubic_sample(struct mpcc_connection *c, struct mpcc_subflow *s,
					   const struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);

	(void)c, (void)acked;
	if (tcp->rtt_us && (!v->rtt_min || tcp->rtt_us < v->rtt_min))
		v->rtt_min = tcp->rtt_us;
}

/* The growth for each acknowledged segment, Q40, of a subflow with this state. `t`: ticks since the start of the epoch. */
MPCC_SEPARATE u64 mpcc_coupled_cubic_growth(const struct mpcc_coupled_cubic_avoidance *v, u32 t)
{
	u32 ahead, total, time, origin;
	u64 target, reno;

	if (!v)
		return 0;
	ahead = (u64)v->rtt_min * 1024 / 1000000; /* 1/1024 s */
	time = (u64)mpcc_min(t, MPCC_COUPLED_CUBIC_EPOCH_MAX) * 4398 >> MPCC_CUBIC_TIME_SHIFT; /* 2^22 · 2^20 / 10^9 */
	total = mpcc_max(v->total, 1);
	/* Without a W(K) the curve begins at the sum. */
	origin = mpcc_max((u32)v->curve.origin, (u32)v->curve.window);
	target = mpcc_cubic_window(v->k, origin, time + ahead);
	reno = ((u64)v->curve.window << MPCC_ONE_SHIFT) + (MPCC_CUBIC_ALPHA >> 16) * v->rounds;
	return mpcc_cubic_increase(target < reno ? reno : target, total, !v->curve.origin);
}

MPCC_WRAPS MPCC_INLINE void mpcc_coupled_cubic_avoid(struct mpcc_connection *c,
						     struct mpcc_subflow *s, struct mpcc_tcp *tcp,
						     u32 acked, struct mpcc_note *note)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);
	struct mpcc_coupled_cubic_avoidance copy; /* as in mpcc_coupled_cubic_adjust */
	u32 tick, t, cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1);

	(void)c, (void)note;
	acked = v->acked = mpcc_min(v->acked + mpcc_min(acked, 0xffff), 0xffff);
	if (!v->due)
		return;
	/* A window of them grows the windows to the curve; RTTs below 4 ms have more. */
	acked = mpcc_min(acked, cwnd);
	v->due = false;
	v->acked = 0;
	tick = mpcc_coupled_cubic_tick(tcp);
	/* Alone, the epoch starts when recovery has ended, as Linux's. */
	if (!v->running && !(v->set & (v->set - 1)))
		mpcc_coupled_cubic_continue(v, tick, v->curve.origin, v->total);
	v->running = true;
	t = mpcc_coupled_cubic_since(tick, v->curve.start);
	if (t > MPCC_COUPLED_CUBIC_EPOCH_MAX) {
		t = MPCC_COUPLED_CUBIC_EPOCH_MAX;
		v->curve.start = tick - t; /* before it wraps */
	}
	v->rounds = mpcc_at_most(v->rounds + (acked << 12) / cwnd * 16, 0x7fffffff);
	copy = *v;
	mpcc_grow(s, tcp, mpcc_coupled_cubic_growth(&copy, t), acked);
}

/*
 * A loss of the subflow in slot `me`. Returns the window to come down from: before the event, which another subflow may have started.
 *
 * `v` is a copy, as in mpcc_coupled_cubic_on_ack.
 */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_coupled_cubic_on_loss(struct mpcc_connection *c,
							struct mpcc_coupled_cubic_avoidance *v,
							const struct mpcc_tcp *tcp, u32 me)
{
	struct mpcc_coupled_cubic_curve curve = {};
	struct mpcc_coupled_cubic_group g = {};
	u32 cwnd, passed;
	bool shared;

	if (!c || !v || !tcp)
		return 0;
	cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1);
	g.me = MPCC_SLOT(me);
	g.group = MPCC_READ(c->slot[MPCC_SLOT(me)].group);
	g.shares = mpcc_coupled_cubic_shares(v, g.group);
	g.tick = mpcc_coupled_cubic_tick(tcp);
	g.now = mpcc_hystart_clock(tcp);
	mpcc_coupled_cubic_read(c, &g);
	if (mpcc_coupled_cubic_follow(c, v, &g, cwnd))
		v->before = cwnd;
	shared = g.set & (g.set - 1);
	passed = mpcc_coupled_cubic_since(g.tick, v->curve.start) * MPCC_COUPLED_CUBIC_TICK_US;
	if (shared && v->curve.event && mpcc_coupled_cubic_within(tcp, passed, 8)) {
		cwnd = mpcc_max(cwnd, v->before);
	} else {
		curve.event = true;
		curve.start = g.tick;
		curve.origin = mpcc_cubic_converge(v->total, v->curve.origin);
		curve.window = mpcc_cubic_reduced(cwnd) +
			       (u64)mpcc_minus(v->total, cwnd) *
				       MPCC_COUPLED_CUBIC_FOLLOW / MPCC_CUBIC_SCALE;
		mpcc_coupled_cubic_begin(v, curve);
		v->before = cwnd;
	}
	mpcc_coupled_cubic_publish(v, &c->slot[MPCC_SLOT(me)], g.shares);
	return cwnd;
}

MPCC_INLINE u32 mpcc_coupled_cubic_ssthresh(struct mpcc_connection *c, struct mpcc_subflow *s,
					    const struct mpcc_tcp *tcp)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s), copy;
	u32 cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1), before = cwnd;

	v->peak = mpcc_min(mpcc_max(mpcc_coupled_cubic_queue(v, tcp), 1), 0xffff);
	if (mpcc_own_slot(c, s)) {
		if (v->pending)
			mpcc_coupled_cubic_observe(v, true);
		copy = *v;
		before = mpcc_coupled_cubic_on_loss(c, &copy, tcp, s->slot);
		*v = copy;
	} else {
		v->total = mpcc_min(cwnd, MPCC_COUPLED_CUBIC_MAX);
		v->curve.origin = mpcc_cubic_converge(v->total, v->curve.origin);
	}
	v->running = false;
	v->reducing = false;
	v->acked = 0;
	mpcc_coupled_cubic_read_next(v);
	return mpcc_min(mpcc_cubic_reduced(before), mpcc_max(cwnd, MPCC_SSTHRESH_MIN));
}

/* Nothing is known of the new group. The subflow keeps its part of its curve. */
MPCC_INLINE void mpcc_coupled_cubic_move(struct mpcc_subflow *s)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);

	v->score = 0;
	v->shares = false;
	v->pending = false;
	v->counted = false;
	v->reducing = false;
	v->set = 0;
	mpcc_coupled_cubic_read_next(v);
}

/* An RTO: the path may have changed (RFC 9438, 4.8). */
MPCC_INLINE void mpcc_coupled_cubic_set_state(struct mpcc_subflow *s, const struct mpcc_tcp *tcp,
					      u8 state)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);

	(void)tcp;
	if (state != MPCC_STATE_LOSS)
		return;
	v->rtt_min = 0;
	v->reducing = false;
	if (!(v->set & (v->set - 1)))
		v->curve.origin = 0;
}

/* Transmission resumes: the window of a subflow alone does not grow for idle time (Linux: cubictcp_cwnd_event). */
MPCC_WRAPS MPCC_INLINE void mpcc_coupled_cubic_tx_start(struct mpcc_subflow *s,
							const struct mpcc_tcp *tcp)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);
	u32 passed = mpcc_coupled_cubic_since(mpcc_coupled_cubic_tick(tcp), v->curve.start);
	u32 idle = (u64)tcp->idle_ms * MPCC_NS_PER_MS >> MPCC_COUPLED_CUBIC_TICK_SHIFT;

	if (v->running && !(v->set & (v->set - 1)))
		v->curve.start += mpcc_min(idle, passed);
}

static const struct mpcc_avoidance_ops mpcc_coupled_cubic_avoidance_ops = {
	.name = "coupled_cubic",
	.move = mpcc_coupled_cubic_move,
	.sample = mpcc_coupled_cubic_sample,
	.adjust = mpcc_coupled_cubic_adjust,
	.avoid = mpcc_coupled_cubic_avoid,
	.ssthresh = mpcc_coupled_cubic_ssthresh,
	.set_state = mpcc_coupled_cubic_set_state,
	.tx_start = mpcc_coupled_cubic_tx_start,
};

#endif
