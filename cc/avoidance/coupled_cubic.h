/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Coupled CUBIC: the subflows that share a queue follow one curve of CUBIC together (cubic_curve.h); others follow one each. Whether
 * subflows share a queue is found from their RTTs.
 *
 * One curve: with w the sum of the windows that share, each acknowledged segment grows its own window by the increase of w for one
 * segment. The subflow that has a loss starts a new epoch of the curve, for all: it publishes the curve in one word, with the time of the
 * loss as the number of the event. The others adopt the newest curve that a member has published, and come down: to 3/4 of their windows,
 * by half a segment for each acknowledged one. The subflow with the loss comes down to β = 0.7.
 *
 * Same event: a loss within one RTT of the start of the epoch. The lost segment was sent before that reduction (RFC 9002, 7.3.1). The
 * subflow then comes down to 0.7 of its window before the event, and the epoch goes on.
 *
 * Change of members: the curve is scaled by the change of the sum, and a new epoch starts without a reduction. A subflow that ceases to
 * share takes its part of the curve with it. One that begins to share adopts the curve of the others, with its own window added.
 *
 * Evidence: RTTs behind one queue change together. Each subflow compares itself with one other subflow, its partner. A change of its own
 * smoothed RTT within four RTTs, by at least a quarter of its longest queue, is one observation: for sharing (+1) if the partner's RTT has
 * changed by the same amount, within 5/8 of it, else against (−1). The sum is within 0 and 12. The two share a queue from a sum of 6 until
 * a sum of 0, and at 0 the next subflow becomes the partner. Subflows that share with the same subflow share with each other.
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
 *  - A window that shares, or of at least 12 segments beside other subflows, grows when it then has an even number of them. Receivers
 *    acknowledge each second segment, and the last one of an odd number only with the next burst, which then overflows a full queue. (A TCP
 *    receiver acknowledges it when the application has read all data; that of an MPTCP connection waits for data of other subflows.)
 *  - A subflow with an RTO counts with its threshold until it has grown to it again: others do not take its place.
 *  - A reduction that the endpoint undoes restores the window of that subflow alone.
 */
#ifndef MPCC_COUPLED_CUBIC_H
#define MPCC_COUPLED_CUBIC_H

#include "coupled_cubic_group.h"

/*
 * The next ACK reads the group. Inverts the top bit of `tick`, so that it differs from the current tick for 9 minutes. A separate flag would
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
	curve.partner = v->curve.partner;
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
	u32 cwnd, goal;

	if (!c || !v || !tcp)
		return acked;
	cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1);
	mpcc_coupled_cubic_read(c, &g, me, tcp);
	mpcc_coupled_cubic_look(c, v, &g, tcp);
	if (mpcc_coupled_cubic_follow(c, v, &g, cwnd) && !mpcc_below_ssthresh(tcp)) {
		v->before = cwnd;
		v->reducing = true;
	}
	mpcc_coupled_cubic_publish(v, &c->slot[MPCC_SLOT(me)]);
	if (!v->reducing)
		return acked;
	goal = mpcc_max((u64)v->before * MPCC_COUPLED_CUBIC_FOLLOW / MPCC_CUBIC_SCALE,
			MPCC_SSTHRESH_MIN);
	tcp->ssthresh = mpcc_min(tcp->ssthresh, goal);
	tcp->cwnd =
		mpcc_min(tcp->cwnd, mpcc_max(goal, mpcc_minus(tcp->cwnd, acked / 2 + (acked & 1))));
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
	time = (u64)mpcc_min(t, MPCC_COUPLED_CUBIC_EPOCH_MAX) * 4398 >>
	       MPCC_CUBIC_TIME_SHIFT; /* 2^22 · 2^20 / 10^9 */
	total = mpcc_max(v->total, 1);
	/* Without a W(K) the curve begins at the sum. */
	origin = mpcc_max((u32)v->curve.origin, (u32)v->curve.window);
	target = mpcc_cubic_window(v->k, origin, time + ahead);
	reno = ((u64)v->curve.window << MPCC_ONE_SHIFT) + (MPCC_CUBIC_ALPHA >> 16) * v->rounds;
	return mpcc_cubic_increase(target < reno ? reno : target, total, !v->curve.origin);
}

/* Grows the window, when it then has an even number of segments (above). What is left, less than two segments, is kept for the next call. */
MPCC_INLINE void mpcc_coupled_cubic_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u64 growth)
{
	const struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);
	bool shares = v->set & (v->set - 1);
	u32 whole;

	growth += s->growth;
	whole = growth >> MPCC_ONE_SHIFT;
	if (whole && ((tcp->cwnd ^ whole) & 1) &&
	    (shares || (tcp->cwnd >= MPCC_COUPLED_CUBIC_EVEN && v->curve.partner != s->slot)))
		whole--;
	s->growth = growth - ((u64)whole << MPCC_ONE_SHIFT);
	if (tcp->cwnd < tcp->cwnd_clamp)
		tcp->cwnd = mpcc_min(tcp->cwnd + whole, tcp->cwnd_clamp);
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
		v->curve.event = false;
	}
	v->rounds = mpcc_at_most(v->rounds + (acked << 12) / cwnd * 16, 0x7fffffff);
	copy = *v;
	mpcc_coupled_cubic_grow(s, tcp, mpcc_coupled_cubic_growth(&copy, t) * acked);
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
	mpcc_coupled_cubic_read(c, &g, me, tcp);
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
		curve.window = mpcc_cubic_reduced(cwnd) + (u64)mpcc_minus(v->total, cwnd) *
								  MPCC_COUPLED_CUBIC_FOLLOW /
								  MPCC_CUBIC_SCALE;
		mpcc_coupled_cubic_begin(v, curve);
		v->before = cwnd;
	}
	mpcc_coupled_cubic_publish(v, &c->slot[MPCC_SLOT(me)]);
	return cwnd;
}

MPCC_INLINE u32 mpcc_coupled_cubic_ssthresh(struct mpcc_connection *c, struct mpcc_subflow *s,
					    const struct mpcc_tcp *tcp)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s), copy;
	u32 cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1), before = cwnd;

	if (mpcc_own_slot(c, s)) {
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
	v->curve.shares = false;
	v->curve.partner = s->slot; /* none */
	v->looking = false;
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
	v->peak8 = 0;
	v->looking = false;
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
