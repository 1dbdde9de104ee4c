/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wVegas, weighted Vegas: each subflow keeps α_r segments in the queue of its path, and those of a connection share
 * ten by their rates. It slows down before losses occur, and traffic moves to the path of the shorter queue.
 *
 * Once an RTT, with rtt the mean of the RTT samples of the round, base the smallest sample ever, and
 * diff = w·(rtt − base)/rtt, the segments waiting in queues:
 *
 *     slow start, diff > γ:  it ends, w = min(w, w·base/rtt + 1)
 *     else, diff ≥ α_r:      α_r = max(2, 10 · x_r/Σ x),  x = w/rtt
 *           diff > α_r:      w −= 1
 *           diff < α_r:      w += 1
 *           then, with the smallest rtt − base of a round so far: if this one is at least twice that, w = w·base/(2·rtt),
 *           so that the queue drains and base can be measured; and the smallest is reset
 *
 * Source: Xu, Cao, Dong, draft-xu-mptcp-congestion-control-05; Cao, Xu, Fu, "Delay-based congestion control for
 * multipath TCP", ICNP 2012. As in the authors' implementation for Linux: diff and α_r are whole segments, rounded down,
 * so that the window rests within a range of one segment; a window that has grown keeps ssthresh at 3/4 of
 * it, so that slow start restores it after it was drained; base is reset when transmission
 * restarts after an idle time; with at most two samples in a round, and after an RTO until all losses are repaired, it is Reno.
 *
 * Departures, and why:
 *  - A round ends when the segments in flight at its start, and one more, have been acknowledged, not at a sequence
 *    number: this differs by retransmissions only (as in slow_start/hystart.h).
 *  - An empty queue, rtt = base, is not twice a smallest delay of 0: the window is not halved. In whole microseconds,
 *    and on an idle path, this occurs.
 *  - The weight uses current windows and smoothed RTTs of all subflows with a sample. The authors' code uses each subflow's rate of
 *    its last round with diff ≥ α_r, and skips subflows without such a round.
 *  - Missing segments without a reduction (Linux: Disorder) do not reset wVegas's state.
 *  - In a round with few samples the window grows as Reno's. In the authors' code it grows by the last ACK only.
 *  - A window grows only when it limits the sender.
 *
 * Groups: the weights are of a group, which keeps the ten segments in queues together. A subflow that moves to another
 * group has the smallest α_r until the end of its round, and then its share of that group; the other subflows of both groups
 * get theirs in their next round with diff ≥ α_r.
 *
 * Fixed point: all in integers, exact, rounded down; the weight from rates in Q14 with an error of at most 0.1 %.
 */
#ifndef MPCC_WVEGAS_H
#define MPCC_WVEGAS_H

#include "reno.h"

#define MPCC_WVEGAS_GAMMA     1 /* segments in the queue that end slow start */
#define MPCC_WVEGAS_ALPHA     10 /* segments in queues, all subflows of a connection together */
#define MPCC_WVEGAS_ALPHA_MIN 2 /* segments: the smallest share, and the first */
#define MPCC_WVEGAS_SAMPLES   2 /* RTT samples: a round with no more than these is Reno's */
#define MPCC_WVEGAS_CWND_MIN  2 /* segments */

struct mpcc_wvegas_avoidance {
	u64 rtt_sum; /* of this round's RTT samples, µs */
	u32 samples; /* in this round */
	u32 acked; /* in this round, segments */
	u32 remaining; /* segments to be acknowledged before the next round */
	u32 alpha; /* α_r, segments to keep in the queue */
	u32 queue_least; /* smallest queueing delay of a round, µs; 0: none yet */
	u32 rtt_min; /* base, µs; 0: no sample yet */
};

#define mpcc_wvegas(s) mpcc_avoidance_state(s, struct mpcc_wvegas_avoidance)

MPCC_INLINE void mpcc_wvegas_round(struct mpcc_wvegas_avoidance *v, const struct mpcc_tcp *tcp)
{
	v->rtt_sum = 0;
	v->samples = 0;
	v->acked = 0;
	v->remaining = mpcc_min(tcp->flight, MPCC_CWND_MAX) + 1;
}

/* A subflow starts, or its window was reduced. */
MPCC_INLINE void mpcc_wvegas_init(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	struct mpcc_wvegas_avoidance *v = mpcc_wvegas(s);

	v->alpha = MPCC_WVEGAS_ALPHA_MIN;
	v->queue_least = 0;
	mpcc_wvegas_round(v, tcp);
}

MPCC_INLINE void mpcc_wvegas_move(struct mpcc_subflow *s)
{
	mpcc_wvegas(s)->alpha = MPCC_WVEGAS_ALPHA_MIN;
}

/* The window was reset after an idle time: the path may have changed. */
MPCC_INLINE void mpcc_wvegas_restart(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	mpcc_wvegas(s)->rtt_min = 0;
	mpcc_wvegas_init(s, tcp);
}

/* A reduction begins or ends. */
MPCC_INLINE void mpcc_wvegas_set_state(struct mpcc_subflow *s, const struct mpcc_tcp *tcp, u8 state)
{
	if (mpcc_max(s->state, state) >= MPCC_STATE_CWR)
		mpcc_wvegas_init(s, tcp);
}

/* α_r for this subflow's share of its group's rate. */
MPCC_INLINE u32 mpcc_wvegas_alpha(const struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	u32 w, t;
	u64 mine;

	if (!c || !mpcc_has_slot(s) || !mpcc_measured(c, MPCC_SLOT(s->slot), s->group, &w, &t))
		return MPCC_WVEGAS_ALPHA;
	mine = (u64)w << MPCC_RATE_SHIFT;
	return mpcc_max(MPCC_WVEGAS_ALPHA * mine / mpcc_group_rate(c, s->group, t, w),
			MPCC_WVEGAS_ALPHA_MIN);
}

/* The window after a round in congestion avoidance. The mean RTT is `rtt`, of which `queue` is queueing delay, µs. */
MPCC_INLINE void mpcc_wvegas_end_round(const struct mpcc_connection *c, struct mpcc_subflow *s,
				       struct mpcc_tcp *tcp, u32 rtt, u32 queue)
{
	struct mpcc_wvegas_avoidance *v = mpcc_wvegas(s);
	u32 cwnd = mpcc_min(tcp->cwnd, MPCC_CWND_MAX);
	u32 diff = (u64)cwnd * queue / rtt;

	if (diff >= v->alpha)
		v->alpha = mpcc_wvegas_alpha(c, s);
	if (diff > v->alpha)
		cwnd--;
	else if (diff < v->alpha && tcp->cwnd_limited && cwnd < tcp->cwnd_clamp)
		cwnd++;

	if (!v->queue_least || queue < v->queue_least)
		v->queue_least = queue;
	/* Slow start restores the window after it was drained. */
	tcp->ssthresh = mpcc_max(mpcc_min(tcp->ssthresh, cwnd), cwnd / 2 + cwnd / 4);
	if (queue && queue / 2 >= v->queue_least) {
		cwnd = (u64)cwnd * (rtt - queue) / (2ULL * rtt);
		v->queue_least = 0;
	}
	tcp->cwnd = mpcc_max(cwnd, MPCC_WVEGAS_CWND_MIN);
}

/*
 * Each ACK: records the RTT sample, and at the end of a round changes the window. Returns the acknowledged segments that grow
 * the window as in slow start or Reno.
 */
MPCC_INLINE u32 mpcc_wvegas_adjust(struct mpcc_connection *c, struct mpcc_subflow *s,
				   struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_wvegas_avoidance *v = mpcc_wvegas(s);
	bool slow = mpcc_below_ssthresh(tcp);
	u32 in_round, samples, rtt, queue;
	u64 sum;

	if (s->state >= MPCC_STATE_CWR)
		return acked;
	if (tcp->rtt_us && (!v->rtt_min || tcp->rtt_us < v->rtt_min))
		v->rtt_min = tcp->rtt_us;
	v->rtt_sum += tcp->rtt_us;
	v->samples += tcp->rtt_us != 0;
	v->acked += mpcc_min(acked, ~v->acked);
	v->remaining = mpcc_minus(v->remaining, acked);
	if (v->remaining)
		return slow ? acked : 0;

	in_round = v->acked;
	samples = v->samples;
	sum = v->rtt_sum;
	mpcc_wvegas_round(v, tcp);
	if (samples <= MPCC_WVEGAS_SAMPLES) /* one segment, whatever the flight was */
		return slow ? acked : mpcc_min(in_round, tcp->cwnd);
	rtt = sum / samples;
	queue = rtt - v->rtt_min;
	if (!slow) {
		mpcc_wvegas_end_round(c, s, tcp, rtt, queue);
		return 0;
	}
	if ((u64)mpcc_min(tcp->cwnd, MPCC_CWND_MAX) * queue / rtt <= MPCC_WVEGAS_GAMMA)
		return acked;
	tcp->cwnd = mpcc_min(tcp->cwnd, (u64)tcp->cwnd * v->rtt_min / rtt + 1);
	tcp->cwnd = mpcc_max(tcp->cwnd, MPCC_WVEGAS_CWND_MIN);
	tcp->ssthresh = tcp->cwnd;
	return 0;
}

static const struct mpcc_avoidance_ops mpcc_wvegas_avoidance_ops = {
	.name = "wvegas",
	.init = mpcc_wvegas_init,
	.move = mpcc_wvegas_move,
	.adjust = mpcc_wvegas_adjust,
	.avoid = mpcc_reno_avoid,
	.set_state = mpcc_wvegas_set_state,
	.restart = mpcc_wvegas_restart,
};

#endif
