/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wVegas, weighted Vegas: each subflow keeps α_r segments in the queue of its path, and those of a connection share
 * ten by their rates. It slows down before there is a loss, and traffic moves to the path of the shorter queue.
 *
 * Once an RTT, with rtt the mean of the RTT samples since the last time, base the least sample ever, and
 * diff = w·(rtt − base)/rtt, the segments that wait in queues:
 *
 *     slow start, diff > γ:  it ends, w = min(w, w·base/rtt + 1)
 *     else, diff ≥ α_r:      α_r = max(2, 10 · x_r/Σ x),  x = w/rtt
 *           diff > α_r:      w −= 1
 *           diff < α_r:      w += 1
 *           then, with the least rtt − base of a round so far: if this one is twice as much, w = w·base/(2·rtt),
 *           so that the queue drains and base can be seen; and the least starts afresh
 *
 * Source: Xu, Cao, Dong, draft-xu-mptcp-congestion-control-05; Cao, Xu, Fu, "Delay-based congestion control for
 * multipath TCP", ICNP 2012. As in the authors' implementation for Linux: diff and α_r are whole segments, rounded down,
 * so that there is a range of one segment in which the window stays; a window that has grown keeps ssthresh at 3/4 of
 * it, from where it is found again by slow start after it was drained; base is forgotten when sending
 * restarts after idling; with two samples or less in a round, and after an RTO until all is repaired, it is Reno.
 *
 * Departures, and why:
 *  - A round is over when what was in flight at its start, and one segment more, has been acknowledged, not at a sequence
 *    number: the same but for retransmissions (as in slow_start/hystart.h).
 *  - An empty queue, rtt = base, is not twice the least of nothing: the window is not halved. In whole microseconds,
 *    and on an idle path, this does happen.
 *  - The rates of the weight are those of now, smoothed RTTs and present windows of all subflows with a sample. There,
 *    each kept that of its last round with diff ≥ α_r, and those that had none did not count.
 *  - Missing segments alone (Linux: Disorder), which may be reordered, do not start it afresh, only a reduction does.
 *  - With few samples a round grows as much as Reno does in it, not what its last ACK alone would.
 *  - A window grows only when it is what limits the sender.
 *
 * Groups: the weights are of a group, which keeps the ten segments in queues together. A subflow that moves to another
 * one has the least α_r until the end of its round, and then the share that it has there; those that it leaves and comes
 * to find theirs in their next round with diff ≥ α_r.
 *
 * Fixed point: all in integers, exact, rounded down; the weight from rates in Q14 with 0.1 % of error at the most.
 */
#ifndef MPCC_WVEGAS_H
#define MPCC_WVEGAS_H

#include "lia.h"

#define MPCC_WVEGAS_GAMMA     1 /* segments in the queue that end slow start */
#define MPCC_WVEGAS_ALPHA     10 /* segments in queues, all subflows of a connection together */
#define MPCC_WVEGAS_ALPHA_MIN 2 /* segments, one subflow; what it starts with */
#define MPCC_WVEGAS_SAMPLES   2 /* so many in a round are too few */
#define MPCC_WVEGAS_CWND_MIN  2 /* segments */

MPCC_INLINE void mpcc_wvegas_round(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	struct mpcc_wvegas *v = &s->wvegas;

	v->rtt_sum = 0;
	v->samples = 0;
	v->acked = 0;
	v->left = mpcc_min(tcp->flight, MPCC_CWND_MAX) + 1;
}

/* A subflow starts, or was reduced. */
MPCC_INLINE void mpcc_wvegas_begin(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	s->wvegas.alpha = MPCC_WVEGAS_ALPHA_MIN;
	s->wvegas.queue_least = 0;
	mpcc_wvegas_round(s, tcp);
}

/* It moves to another group: α_r is worked out anew with the first segments in the queue. */
MPCC_INLINE void mpcc_wvegas_move(struct mpcc_subflow *s)
{
	s->wvegas.alpha = MPCC_WVEGAS_ALPHA_MIN;
}

/* Sending restarts after idling: the path may be another one. */
MPCC_INLINE void mpcc_wvegas_restart(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	s->rtt_min = 0;
	mpcc_wvegas_begin(s, tcp);
}

/* α_r for the share that this subflow has of the connection's rate. */
MPCC_INLINE u32 mpcc_wvegas_alpha(const struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	u32 w, t;
	u64 mine;

	if (!c || s->slot == MPCC_NO_SLOT ||
	    !mpcc_lia_counts(c, MPCC_SLOT(s->slot), s->group, &w, &t))
		return MPCC_WVEGAS_ALPHA;
	mine = (u64)w << MPCC_LIA_S_SHIFT;
	return mpcc_max(MPCC_WVEGAS_ALPHA * mine / mpcc_lia_sum(c, s->group, t, w),
			MPCC_WVEGAS_ALPHA_MIN);
}

/* The window after a round in congestion avoidance: a mean RTT of `rtt`, and `queue` of it in queues, µs. */
MPCC_INLINE void mpcc_wvegas_adjust(const struct mpcc_connection *c, struct mpcc_subflow *s,
				    struct mpcc_tcp *tcp, u32 rtt, u32 queue)
{
	struct mpcc_wvegas *v = &s->wvegas;
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
	/* The window is found again by slow start. */
	tcp->ssthresh = mpcc_max(mpcc_min(tcp->ssthresh, cwnd), cwnd / 2 + cwnd / 4);
	if (queue && queue / 2 >= v->queue_least) {
		cwnd = (u64)cwnd * (rtt - queue) / (2ULL * rtt);
		v->queue_least = 0;
	}
	tcp->cwnd = mpcc_max(cwnd, MPCC_WVEGAS_CWND_MIN);
}

/* On each ACK. Returns the acknowledged segments that are to grow the window as in any TCP. */
MPCC_INLINE u32 mpcc_wvegas_ack(const struct mpcc_connection *c, struct mpcc_subflow *s,
				struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_wvegas *v = &s->wvegas;
	bool slow = mpcc_in_slow_start(tcp);
	u32 in_round, samples, rtt, queue;
	u64 sum;

	if (s->state >= MPCC_STATE_CWR)
		return acked;
	mpcc_sample(s, tcp);
	v->rtt_sum += tcp->rtt_us;
	v->samples += tcp->rtt_us != 0;
	v->acked += mpcc_min(acked, ~v->acked);
	v->left = mpcc_minus(v->left, acked);
	if (v->left)
		return slow ? acked : 0;

	in_round = v->acked;
	samples = v->samples;
	sum = v->rtt_sum;
	mpcc_wvegas_round(s, tcp);
	if (samples <= MPCC_WVEGAS_SAMPLES) /* one segment, whatever was in flight */
		return slow ? acked : mpcc_min(in_round, tcp->cwnd);
	rtt = sum / samples;
	queue = rtt - s->rtt_min;
	if (!slow) {
		mpcc_wvegas_adjust(c, s, tcp, rtt, queue);
		return 0;
	}
	if ((u64)mpcc_min(tcp->cwnd, MPCC_CWND_MAX) * queue / rtt <= MPCC_WVEGAS_GAMMA)
		return acked;
	tcp->cwnd = mpcc_min(tcp->cwnd, (u64)tcp->cwnd * s->rtt_min / rtt + 1);
	tcp->cwnd = mpcc_max(tcp->cwnd, MPCC_WVEGAS_CWND_MIN);
	tcp->ssthresh = tcp->cwnd;
	return 0;
}

#endif
