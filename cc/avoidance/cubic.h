/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CUBIC (RFC 9438): after a reduction the window follows a cubic function of the elapsed time, first up to the window of the
 * loss, flat there, and then beyond it:
 *
 *     W(t) = C · (t − K)³ + W_max,   K = ∛((W_max − cwnd_epoch) / C),   C = 0.4 segments/s³
 *
 * The window of a Reno flow with the same losses, W_est, is its lower bound: it dominates at small windows and short
 * RTTs. A reduction is to β = 0.7. Each subflow runs by itself; nothing is coupled. HyStart is included, as in Linux, unless
 * the slow start replaces it.
 *
 * Linux's tcp_cubic.c is the model where it differs from the RFC, so that a simulation matches Linux hosts:
 *  - The growth in an RTT is at least 1 % of a segment, also where the RFC has none (W(t) below the window), and 5 %
 *    of the window until a loss has shown a W_max.
 *  - W_est is approached within an RTT where the RFC jumps to it, and α stays 3(1 − β)/(1 + β) where the RFC
 *    has 1 from W_max on.
 *  - An undo restores the window, not the epoch (RFC 9438, 4.9.1 restores both).
 *  - An RTO resets W_max, the epoch and the smallest RTT; the next epoch starts from its window (4.8).
 *  - The RTT in the target W(t + RTT) is the smallest one seen. Time in which the application limits the window
 *    counts, unless nothing is in flight.
 *
 * Departures from Linux: W(t), W_est and the increase have fractions, where Linux has whole segments and a whole
 * number of ACKs for each segment of growth (the window that they are compared with is whole in both); they are
 * computed on each ACK, not once a jiffy or 1/32 s, which delays Linux's W_est at RTTs of a few
 * milliseconds; α is 0.529, not 8/15; RTT samples are used also in the first second of an epoch, and not in recovery.
 *
 * With MPCC_LINUX_CUBIC defined, the backend runs the kernel's own CUBIC and HyStart in place of these (bpf/cubic.h).
 */
#ifndef MPCC_CUBIC_H
#define MPCC_CUBIC_H

#include "../slow_start/hystart.h"
#include "cubic_curve.h"

#define MPCC_CUBIC_EPOCH_MAX (1ULL << 39) /* ns, 550 s: more than that and the largest K, 138 s */

struct mpcc_cubic_avoidance {
	u64 epoch_start; /* ns, of mpcc_tcp.now; valid while `running`. An epoch: congestion avoidance between two reductions */
	u64 reno; /* W_est, the window that Reno would have, segments in Q40 */
	u32 k; /* K: from the epoch's start until W(t) is flat, 1/1024 s */
	u32 origin; /* W(K), segments */
	u32 w_max : 24; /* window before the last reduction, segments; 0: none yet */
	u32 running : 1; /* not 0: in an epoch */
	u32 rtt_min; /* smallest RTT sample, µs; 0: none yet */
};

#define mpcc_cubic(s) mpcc_avoidance_state(s, struct mpcc_cubic_avoidance)

/* Time since the epoch began, and the RTT ahead, in 1/1024 s. */
MPCC_INLINE u32 mpcc_cubic_time(const struct mpcc_cubic_avoidance *cubic,
				const struct mpcc_tcp *tcp)
{
	u64 ns = tcp->now > cubic->epoch_start ? tcp->now - cubic->epoch_start : 0;

	if (ns > MPCC_CUBIC_EPOCH_MAX)
		ns = MPCC_CUBIC_EPOCH_MAX;
	ns += (u64)cubic->rtt_min * MPCC_NS_PER_US;
	return (ns << MPCC_CUBIC_TIME_SHIFT) / MPCC_NS_PER_S;
}

/* The first ACK in congestion avoidance after a reduction or slow start. */
MPCC_INLINE void mpcc_cubic_begin(struct mpcc_cubic_avoidance *cubic, const struct mpcc_tcp *tcp,
				  u32 cwnd)
{
	cubic->running = true;
	cubic->epoch_start = tcp->now;
	cubic->reno = (u64)cwnd << MPCC_ONE_SHIFT;
	if (cubic->w_max > cwnd) {
		cubic->k = mpcc_cubic_k(cubic->w_max - cwnd);
		cubic->origin = cubic->w_max;
	} else {
		cubic->k = 0;
		cubic->origin = cwnd;
	}
}

/* Records an ACK's RTT sample. */
MPCC_INLINE void mpcc_cubic_sample(struct mpcc_connection *c, struct mpcc_subflow *s,
				   const struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_cubic_avoidance *cubic = mpcc_cubic(s);

	(void)c, (void)acked;
	if (tcp->rtt_us && (!cubic->rtt_min || tcp->rtt_us < cubic->rtt_min))
		cubic->rtt_min = tcp->rtt_us;
}

MPCC_INLINE void mpcc_cubic_exit(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	mpcc_hystart_ack(mpcc_hystart(s), tcp, mpcc_cubic(s)->rtt_min, acked);
}

MPCC_INLINE void mpcc_cubic_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	struct mpcc_cubic_avoidance *cubic = mpcc_cubic(s);
	u32 cwnd = mpcc_max(mpcc_min(tcp->cwnd, MPCC_CWND_MAX), 1);
	u64 target;

	(void)c, (void)note;
	if (!cubic->running)
		mpcc_cubic_begin(cubic, tcp, cwnd);

	cubic->reno += MPCC_CUBIC_ALPHA / cwnd * mpcc_min(acked, MPCC_CWND_MAX);
	if (cubic->reno > (u64)MPCC_CWND_MAX << MPCC_ONE_SHIFT)
		cubic->reno = (u64)MPCC_CWND_MAX << MPCC_ONE_SHIFT;

	target = mpcc_cubic_window(cubic->k, cubic->origin, mpcc_cubic_time(cubic, tcp));
	if (target < cubic->reno)
		target = cubic->reno;
	mpcc_grow(s, tcp, mpcc_cubic_increase(target, cwnd, !cubic->w_max), acked);
}

MPCC_INLINE u32 mpcc_cubic_ssthresh(struct mpcc_connection *c, struct mpcc_subflow *s,
				    const struct mpcc_tcp *tcp)
{
	struct mpcc_cubic_avoidance *cubic = mpcc_cubic(s);
	u32 cwnd = mpcc_min(tcp->cwnd, MPCC_CWND_MAX);

	(void)c;
	cubic->w_max = mpcc_cubic_converge(cwnd, cubic->w_max);
	cubic->running = false;
	return mpcc_cubic_reduced(cwnd);
}

MPCC_INLINE void mpcc_cubic_begin_hystart(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	mpcc_hystart_begin(mpcc_hystart(s), tcp);
}

/* The next ACK starts a round: in Linux the ACKs of a recovery pass the round's end. */
MPCC_INLINE void mpcc_cubic_resume_hystart(struct mpcc_subflow *s)
{
	mpcc_hystart(s)->remaining = 0;
}

/* An RTO: the path may have changed (RFC 9438, 4.8; Linux: bictcp_reset). */
MPCC_INLINE void mpcc_cubic_set_state(struct mpcc_subflow *s, const struct mpcc_tcp *tcp, u8 state)
{
	struct mpcc_cubic_avoidance *cubic = mpcc_cubic(s);

	(void)tcp;
	if (state != MPCC_STATE_LOSS)
		return;
	cubic->rtt_min = 0;
	cubic->w_max = 0;
	cubic->running = false;
}

/* Transmission resumes: the window does not grow for idle time (Linux: cubictcp_cwnd_event). */
MPCC_INLINE void mpcc_cubic_tx_start(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	struct mpcc_cubic_avoidance *cubic = mpcc_cubic(s);

	if (!cubic->running || cubic->epoch_start > tcp->now)
		return;
	cubic->epoch_start += (u64)tcp->idle_ms * MPCC_NS_PER_MS;
	if (cubic->epoch_start > tcp->now)
		cubic->epoch_start = tcp->now;
}

#ifdef MPCC_LINUX_CUBIC

/* Leaves the growth to the kernel's CUBIC. */
MPCC_INLINE void mpcc_cubic_leave(struct mpcc_connection *c, struct mpcc_subflow *s,
				  struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	(void)c, (void)s, (void)tcp;
	note->rest = acked;
}

static const struct mpcc_avoidance_ops mpcc_cubic_avoidance_ops = {
	.name = "cubic",
	.avoid = mpcc_cubic_leave,
};

#else

static const struct mpcc_avoidance_ops mpcc_cubic_avoidance_ops = {
	.name = "cubic",
	.sample = mpcc_cubic_sample,
	.begin = mpcc_cubic_begin_hystart,
	.resume = mpcc_cubic_resume_hystart,
	.exit = mpcc_cubic_exit,
	.avoid = mpcc_cubic_avoid,
	.ssthresh = mpcc_cubic_ssthresh,
	.set_state = mpcc_cubic_set_state,
	.tx_start = mpcc_cubic_tx_start,
};

#endif /* MPCC_LINUX_CUBIC */
#endif
