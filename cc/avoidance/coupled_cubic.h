/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Coupled CUBIC: the subflows that share a queue follow one curve of CUBIC together (cubic_curve.h); others follow one each. Whether a
 * subflow shares its queue is found from losses and RTTs.
 *
 * Together: with w the sum of the windows that share, each acknowledged segment grows its own window by the increase of w for one
 * segment. A loss of any subflow is a reduction of all: that subflow's to β = 0.7, the others' to 0.8 of their windows, by half a segment
 * for each acknowledged one. Losses within two RTTs of a reduction are the same event.
 *
 * Evidence: each loss of another subflow is one observation. It counts +1 for a shared queue in two cases:
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
 *  - W_est grows by α each smoothed RTT of the epoch, not by ACKs: the sum of the windows has no ACKs of its own.
 *  - The group is read, and the window grows, once in 4 ms, as Linux computes W(t) once a jiffy; while a window decreases,
 *    on each ACK.
 *  - A reduction that the endpoint undoes restores the window of that subflow alone.
 *  - Times are compared modulo 2^32 µs, 71 minutes: a loss that long ago may count as a recent one.
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

/* Events. */
#define MPCC_COUPLED_CUBIC_GOAL_5THS                                                               \
	4 /* fifths of its window that a subflow comes down to after the loss of another one (tuned) */
#define MPCC_COUPLED_CUBIC_EVENT_RTTS                                                              \
	2 /* after a reduction, in which a loss is the same event (tuned) */
#define MPCC_COUPLED_CUBIC_WAIT_RTTS 3 /* in which the RTT must fall (tuned) */

/* Representation. */
#define MPCC_COUPLED_CUBIC_EPOCH_MAX_MS 256000 /* W(t) is beyond all windows */
#define MPCC_COUPLED_CUBIC_TICK_SHIFT                                                              \
	22 /* the group is read once in 2^22 ns, 4 ms: a jiffy of Linux */
#define MPCC_COUPLED_CUBIC_TICKS (1U << 12) /* values of `tick` */
#define MPCC_COUPLED_CUBIC_QUEUE_SHIFT                                                             \
	8 /* queues: a unit is 2^8 eighths of a microsecond, so that 2 s fit 16 bits */

struct mpcc_coupled_cubic_avoidance {
	u32 epoch_start; /* ms, wraps; valid while `running` */
	u32 k : 20; /* K: from the epoch's start until W(t) is flat, 1/1024 s */
	u32 tick : 12; /* in the unit of MPCC_COUPLED_CUBIC_TICK_SHIFT, wraps: when the group was last read */
	u32 origin; /* W(K), segments; 0: none */
	u32 rtt_min; /* smallest RTT sample, µs; 0: none yet */
	u32 total : 24; /* sum of the windows that follow the curve, segments */
	u32 running : 1; /* not 0: in an epoch: congestion avoidance between two reductions */
	u32 lost : 1; /* not 0: a loss has shown a W(K) */
	u32 shares : 1; /* not 0: the evidence says that this subflow shares its queue */
	u32 pending : 1; /* not 0: an observation waits for a lower RTT */
	u32 counted : 1; /* not 0: `other_losses` and `shared_losses` are of this group */
	u32 due : 1; /* not 0: the group was read since the window has last grown */
	u32 goal : 24; /* window to come down to, segments; 0: none */
	u32 score : 8; /* sum of the evidence */
	u32 last_loss; /* µs, wraps; of this subflow */
	u32 last_reduction; /* µs, wraps; of this subflow, by its own loss or another one's */
	u32 deadline; /* µs, wraps: end of the observation; valid while `pending` */
	u32 target_srtt8; /* smoothed RTT that shows a shared queue, eighths of a microsecond; valid while `pending` */
	u16 other_losses; /* losses of all other subflows, wraps */
	u16 shared_losses; /* losses of other subflows that share a queue, wraps */
	u16 peak; /* queue at the last own loss, in the unit of MPCC_COUPLED_CUBIC_QUEUE_SHIFT; 0: no loss yet */
	u16 acked; /* segments that have not grown the window yet */
};

#define mpcc_coupled_cubic(s) mpcc_avoidance_state(s, struct mpcc_coupled_cubic_avoidance)

/* Words of mpcc_slot.avoidance. */
#define MPCC_COUPLED_CUBIC_LOSSES 0 /* losses of this subflow, 16 bits */
#define MPCC_COUPLED_CUBIC_SHARED                                                                  \
	1 /* bit 0: it shares its queue; above it the losses while it did, 15 bits */

/* Whether a subflow shares its queue: by evidence, or because the network has assigned its group. */
MPCC_INLINE bool mpcc_coupled_cubic_shares(const struct mpcc_coupled_cubic_avoidance *v, u8 group)
{
	return v->shares || (group && group <= MPCC_GROUP_MAX);
}

/* Sums over the subflows of a group, for one of them. */
struct mpcc_coupled_cubic_group {
	u32 total; /* sum of the windows that follow one curve with this subflow, segments */
	u32 others; /* number of other subflows */
	u32 losses; /* losses of other subflows, 16 bits, wraps */
	u32 shared_losses; /* losses of other subflows that share a queue, 16 bits, wraps */
};

/* Reads the subflows of a group for the subflow in slot `me`. `shares`: it shares its queue. */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_coupled_cubic_read(const struct mpcc_connection *c, u8 group,
						     u32 me, bool shares,
						     struct mpcc_coupled_cubic_group *result)
{
	u32 total = 0, count = 0, losses = 0, shared_losses = 0, used;

	if (!c || !result)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	{
		const struct mpcc_slot *slot = &c->slot[i];
		u32 shared = MPCC_READ(slot->avoidance[MPCC_COUPLED_CUBIC_SHARED]);
		u32 mine = i == MPCC_SLOT(me), other = 1 - mine;

		if (!mpcc_in_group(c, i, group))
			continue;
		/* Without branches, which the verifier would follow separately. */
		total += MPCC_READ(slot->account.cwnd) * (mine | (shares & shared & 1));
		losses += MPCC_READ(slot->avoidance[MPCC_COUPLED_CUBIC_LOSSES]) * other;
		shared_losses += (shared >> 1) * other;
		count += other;
		MPCC_UNKNOWN(total);
		MPCC_UNKNOWN(count);
		MPCC_UNKNOWN(losses);
		MPCC_UNKNOWN(shared_losses);
	}
	*result = (struct mpcc_coupled_cubic_group){
		.total = total,
		.others = count,
		.losses = losses & 0xffff,
		.shared_losses = shared_losses & 0xffff,
	};
	return 0;
}

/* The queue, in the unit of MPCC_COUPLED_CUBIC_QUEUE_SHIFT. */
MPCC_INLINE u32 mpcc_coupled_cubic_queue(const struct mpcc_coupled_cubic_avoidance *v,
					 const struct mpcc_tcp *tcp)
{
	u64 base8 = (u64)v->rtt_min * 8;

	return tcp->srtt8 > base8 ? (tcp->srtt8 - (u32)base8) >> MPCC_COUPLED_CUBIC_QUEUE_SHIFT : 0;
}

/* Whether less than `eighths`/8 RTTs have passed since `then`. */
MPCC_WRAPS MPCC_INLINE bool mpcc_coupled_cubic_recent(const struct mpcc_tcp *tcp, u32 then,
						      u32 eighths)
{
	u32 passed = mpcc_hystart_clock(tcp) - then;

	return (u64)passed * 64 < (u64)tcp->srtt8 * eighths;
}

/* Whether a loss now is the same event as the last reduction. */
MPCC_INLINE bool mpcc_coupled_cubic_is_same(const struct mpcc_coupled_cubic_avoidance *v,
					    const struct mpcc_tcp *tcp)
{
	return v->lost &&
	       mpcc_coupled_cubic_recent(tcp, v->last_reduction, 8 * MPCC_COUPLED_CUBIC_EVENT_RTTS);
}

/* An observation. */
MPCC_INLINE void mpcc_coupled_cubic_observe(struct mpcc_coupled_cubic_avoidance *v, bool shares)
{
	v->pending = false;
	v->score = shares ? mpcc_min(v->score + MPCC_COUPLED_CUBIC_WEIGHT_FOR,
				     MPCC_COUPLED_CUBIC_SCORE_MAX) :
			    mpcc_minus(v->score, MPCC_COUPLED_CUBIC_WEIGHT_AGAINST);
	if (v->shares ? !v->score : v->score >= MPCC_COUPLED_CUBIC_SCORE_SHARES) {
		/* Another sum of windows: a new epoch, without the W(K) of the old one. */
		v->shares = !v->shares;
		v->running = false;
		v->origin = 0;
	}
}

/* A loss of another subflow. `others`: number of other subflows. */
MPCC_WRAPS MPCC_INLINE void mpcc_coupled_cubic_other_loss(struct mpcc_coupled_cubic_avoidance *v,
							  const struct mpcc_tcp *tcp, u32 others)
{
	bool full = mpcc_coupled_cubic_queue(v, tcp) * 4 >= v->peak * 3U;
	u32 falls;

	if (!v->peak || mpcc_below_ssthresh(tcp) || v->pending)
		return;
	if (v->shares) {
		mpcc_coupled_cubic_observe(v, full);
	} else if (mpcc_coupled_cubic_recent(tcp, v->last_loss, 12)) {
		mpcc_coupled_cubic_observe(v, true);
	} else if (!full) {
		mpcc_coupled_cubic_observe(v, false);
	} else {
		/* If all windows are equal, one reduction lowers the RTT by the part (1 − β)/(others + 1). Half of this part. */
		falls = (u64)tcp->srtt8 * (MPCC_CUBIC_SCALE - MPCC_CUBIC_BETA) /
			(2 * MPCC_CUBIC_SCALE * (others + 1));
		v->target_srtt8 = tcp->srtt8 - falls;
		v->deadline =
			mpcc_hystart_clock(tcp) + MPCC_COUPLED_CUBIC_WAIT_RTTS * (tcp->srtt8 / 8);
		v->pending = true;
	}
}

/* Ends the observation that waits for a lower RTT, if the RTT has reached `target_srtt8` or the deadline has passed. */
MPCC_WRAPS MPCC_INLINE void mpcc_coupled_cubic_check(struct mpcc_coupled_cubic_avoidance *v,
						     const struct mpcc_tcp *tcp)
{
	if (!v->pending)
		return;
	if ((mpcc_hystart_clock(tcp) - v->deadline) >> 31 == 0)
		mpcc_coupled_cubic_observe(v, false);
	else if (tcp->srtt8 <= v->target_srtt8)
		mpcc_coupled_cubic_observe(v, true);
}

/*
 * The next ACK reads the group. Inverts the top bit of `tick`, so that it differs from the current tick for 8 s. A separate flag would cost a
 * second comparison on each ACK.
 */
MPCC_INLINE void mpcc_coupled_cubic_read_next(struct mpcc_coupled_cubic_avoidance *v)
{
	v->tick ^= MPCC_COUPLED_CUBIC_TICKS / 2;
}

/* A reduction of the sum of the windows. */
MPCC_INLINE void mpcc_coupled_cubic_reduce(struct mpcc_coupled_cubic_avoidance *v,
					   const struct mpcc_tcp *tcp)
{
	v->origin = mpcc_cubic_converge(v->total, v->lost ? v->origin : 0);
	v->lost = true;
	v->running = false;
	v->acked = 0;
	mpcc_coupled_cubic_read_next(v);
	v->last_reduction = mpcc_hystart_clock(tcp);
}

/* Publishes whether the subflow shares its queue. */
MPCC_INLINE void mpcc_coupled_cubic_publish(struct mpcc_slot *slot, bool shares)
{
	u32 word = MPCC_READ(slot->avoidance[MPCC_COUPLED_CUBIC_SHARED]);

	if ((word & 1) != shares)
		MPCC_WRITE(slot->avoidance[MPCC_COUPLED_CUBIC_SHARED], word ^ 1);
}

/* Whether a sum of losses has increased. It decreases when a subflow closes. */
MPCC_WRAPS MPCC_INLINE bool mpcc_coupled_cubic_grown(u32 sum, u32 before)
{
	return ((sum - before - 1) & 0xffff) < 0x7fff;
}

/*
 * An ACK of the subflow in slot `me`: processes losses of other subflows and computes the sum of the windows. Returns the number of
 * acknowledged segments that grow the window: 0 while the window decreases to `goal`.
 *
 * `v` is a copy of the subflow's state: the BPF verifier then verifies this function separately.
 */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_coupled_cubic_on_ack(struct mpcc_connection *c,
						       struct mpcc_coupled_cubic_avoidance *v,
						       struct mpcc_tcp *tcp, u32 me, u32 acked)
{
	struct mpcc_coupled_cubic_group seen = {};
	u32 cwnd;
	u8 group;
	bool shares;

	if (!c || !v || !tcp)
		return acked;
	me = MPCC_SLOT(me);
	group = MPCC_READ(c->slot[me].group);
	cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1);
	mpcc_coupled_cubic_read(c, group, me, mpcc_coupled_cubic_shares(v, group), &seen);
	mpcc_coupled_cubic_check(v, tcp);
	if (v->counted && mpcc_coupled_cubic_grown(seen.losses, v->other_losses))
		mpcc_coupled_cubic_other_loss(v, tcp, seen.others);
	shares = mpcc_coupled_cubic_shares(v, group);
	if (v->counted && mpcc_coupled_cubic_grown(seen.shared_losses, v->shared_losses) &&
	    shares && !mpcc_below_ssthresh(tcp) && !mpcc_coupled_cubic_is_same(v, tcp)) {
		mpcc_coupled_cubic_reduce(v, tcp);
		v->goal = mpcc_max(cwnd * MPCC_COUPLED_CUBIC_GOAL_5THS / 5, MPCC_SSTHRESH_MIN);
		tcp->ssthresh = mpcc_min(tcp->ssthresh, v->goal);
	}
	v->other_losses = seen.losses;
	v->shared_losses = seen.shared_losses;
	v->counted = true;
	v->total = mpcc_max(mpcc_min(seen.total, MPCC_CWND_MAX), cwnd);
	mpcc_coupled_cubic_publish(&c->slot[me], shares);
	if (!v->goal)
		return acked;
	tcp->cwnd = mpcc_min(tcp->cwnd,
			     mpcc_max(v->goal, mpcc_minus(tcp->cwnd, acked / 2 + (acked & 1))));
	if (tcp->cwnd <= v->goal)
		v->goal = 0;
	return 0;
}

MPCC_INLINE u32 mpcc_coupled_cubic_adjust(struct mpcc_connection *c, struct mpcc_subflow *s,
					  struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s), copy;
	u32 tick = tcp->now >> MPCC_COUPLED_CUBIC_TICK_SHIFT & (MPCC_COUPLED_CUBIC_TICKS - 1);

	if (v->tick == tick && !v->goal)
		return acked;
	v->tick = tick;
	v->due = true;
	if (!mpcc_own_slot(c, s)) {
		v->total = mpcc_at_most(tcp->cwnd, MPCC_CWND_MAX);
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

MPCC_INLINE u32 mpcc_coupled_cubic_ms(const struct mpcc_tcp *tcp)
{
	return tcp->now / MPCC_NS_PER_MS;
}

/*
 * The growth for each acknowledged segment, Q40, of a subflow with this state. `t`: time of the epoch, 1/1024 s. `srtt8`: its smoothed
 * RTT, eighths of a microsecond.
 */
MPCC_SEPARATE u64 mpcc_coupled_cubic_growth(const struct mpcc_coupled_cubic_avoidance *v, u32 t,
					    u32 srtt8)
{
	u32 ahead, total;
	u64 rounds, target, reno;

	if (!v)
		return 0;
	ahead = (u64)v->rtt_min * 1024 / 1000000; /* 1/1024 s */
	total = mpcc_max(v->total, 1);
	/* RTTs of the epoch in Q16: t · 10^6 / 2^10 µs, and srtt8 / 8 µs. */
	rounds = ((u64)t * 15625 << 15) / mpcc_max(srtt8, 1);
	if (rounds > (u64)MPCC_CWND_MAX << 16)
		rounds = (u64)MPCC_CWND_MAX << 16;
	target = mpcc_cubic_window(v->k, v->origin, t + ahead);
	reno = mpcc_cubic_window(v->k, v->origin, 0) + (MPCC_CUBIC_ALPHA >> 16) * rounds;
	return mpcc_cubic_increase(target < reno ? reno : target, total, !v->lost);
}

MPCC_WRAPS MPCC_INLINE void mpcc_coupled_cubic_avoid(struct mpcc_connection *c,
						     struct mpcc_subflow *s, struct mpcc_tcp *tcp,
						     u32 acked, struct mpcc_note *note)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);
	struct mpcc_coupled_cubic_avoidance copy; /* as in mpcc_coupled_cubic_adjust */
	u32 now = mpcc_coupled_cubic_ms(tcp), t;

	(void)c, (void)note;
	acked = v->acked = mpcc_min(v->acked + mpcc_min(acked, 0xffff), 0xffff);
	if (!v->due)
		return;
	/* A window of them grows the windows to the curve; RTTs below 4 ms have more. */
	acked = mpcc_min(acked, tcp->cwnd);
	v->due = false;
	v->acked = 0;
	if (!v->running) {
		v->running = true;
		v->epoch_start = now;
		v->k = v->origin > v->total ? mpcc_cubic_k(v->origin - v->total) : 0;
		v->origin = mpcc_max(v->origin, v->total);
	}
	t = mpcc_min(now - v->epoch_start, MPCC_COUPLED_CUBIC_EPOCH_MAX_MS) * 1024 / 1000;
	copy = *v;
	mpcc_grow(s, tcp, mpcc_coupled_cubic_growth(&copy, t, tcp->srtt8), acked);
}

MPCC_WRAPS MPCC_INLINE u32 mpcc_coupled_cubic_ssthresh(struct mpcc_connection *c,
						       struct mpcc_subflow *s,
						       const struct mpcc_tcp *tcp)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u32 cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1), goal = v->goal, word;
	bool shares = mpcc_coupled_cubic_shares(v, s->group);

	v->goal = 0;
	v->peak = mpcc_min(mpcc_max(mpcc_coupled_cubic_queue(v, tcp), 1), 0xffff);
	v->last_loss = mpcc_hystart_clock(tcp);
	if (!slot || !v->total)
		v->total = cwnd;
	if (slot) {
		word = MPCC_READ(slot->avoidance[MPCC_COUPLED_CUBIC_LOSSES]);
		MPCC_WRITE(slot->avoidance[MPCC_COUPLED_CUBIC_LOSSES], (word + 1) & 0xffff);
		if (v->pending)
			mpcc_coupled_cubic_observe(v, true);
	}
	if (slot && shares) {
		if (mpcc_coupled_cubic_is_same(v, tcp))
			return mpcc_max(goal ? mpcc_min(goal, cwnd) : cwnd, MPCC_SSTHRESH_MIN);
		word = MPCC_READ(slot->avoidance[MPCC_COUPLED_CUBIC_SHARED]);
		MPCC_WRITE(slot->avoidance[MPCC_COUPLED_CUBIC_SHARED], (word + 2) & 0xffff);
	}
	mpcc_coupled_cubic_reduce(v, tcp);
	return mpcc_cubic_reduced(cwnd);
}

/* Nothing is known of the new group. */
MPCC_INLINE void mpcc_coupled_cubic_move(struct mpcc_subflow *s)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);

	v->score = 0;
	v->shares = false;
	v->pending = false;
	v->counted = false;
	v->running = false;
	v->origin = 0;
	v->goal = 0;
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
	v->origin = 0;
	v->lost = false;
	v->running = false;
	v->goal = 0;
}

/* Transmission resumes: the window does not grow for idle time (Linux: cubictcp_cwnd_event). */
MPCC_WRAPS MPCC_INLINE void mpcc_coupled_cubic_tx_start(struct mpcc_subflow *s,
							const struct mpcc_tcp *tcp)
{
	struct mpcc_coupled_cubic_avoidance *v = mpcc_coupled_cubic(s);
	u32 passed = mpcc_coupled_cubic_ms(tcp) - v->epoch_start;

	if (v->running)
		v->epoch_start += mpcc_min(tcp->idle_ms, passed);
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
