/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NMCC, normalized multiflow congestion control: for each acknowledged segment
 *
 *     cwnd_i += 1 / (m² · cwnd_i),   m² = Σ Ω_j / max Ω_j
 *
 * where Ω is how fast a subflow's rate would grow if it were alone: 1/rtt² in congestion avoidance, cwnd/rtt² in slow
 * start. All subflows together then gain rate as fast as the one that gains fastest would alone, each in proportion,
 * so that no path is given up. The reduction is Reno's (IV-B.3).
 *
 * Source: Thomas, Xylomenos, Polyzos, "Multipath Congestion Control with Network Assistance", IV-B.1, equations 4, 7
 * and 9, and Algorithm 1. Slow start is in slow_start/nmcc.h.
 *
 * Which subflows count: those of one group (IV-A), present, with an RTT sample. Before there is any, m² is their
 * number. A subflow alone has m² = 1, and is Reno.
 *
 * Departures, and why:
 *  - A subflow is in the phase that it shows, by its own m²; Algorithm 1 judges all by one m², its last. The two
 *    are of the same slots, an ACK apart.
 *  - In recovery a subflow counts with 1/rtt²: it goes on in congestion avoidance. After an RTO it does not: endpoints
 *    repair what is lost in slow start.
 *  - m² is worked out anew when a window of the connection has changed and at least once a window of acknowledged
 *    segments, not on each ACK.
 *
 * Fixed point. With k the subflow of the largest Ω, chosen exactly, and a = cwnd or 1,
 *
 *     m² = Σ (a_j/a_k) · (rtt_k/rtt_j)²
 *
 * in which every term is at most 1 and that of k is 1. Two factors of each, rtt_k/rtt_j ≤ 2^10 and (a_j/a_k) ·
 * (rtt_k/rtt_j), are kept in Q29, the sum in Q20: each rounding is downwards, m² is off by 2·10⁻⁵ at the most, over
 * windows of 1 to 2^20 segments, RTTs of 10 µs to 60 s and 16 subflows. (rtt² itself needs 58 bits, and cwnd/rtt² in
 * integers is 0.)
 */
#ifndef MPCC_NMCC_AVOIDANCE_H
#define MPCC_NMCC_AVOIDANCE_H

#include "reno.h"

#define MPCC_M2_SHIFT    20
#define MPCC_M2_ONE      (1U << MPCC_M2_SHIFT)
#define MPCC_OMEGA_SHIFT 29

/* Shows the others what this subflow counts with, beside its RTT. */
MPCC_INLINE void mpcc_nmcc_show(struct mpcc_connection *c, const struct mpcc_subflow *s,
				const struct mpcc_tcp *tcp, bool slow_start)
{
	bool reducing = s->state == MPCC_STATE_CWR || s->state == MPCC_STATE_RECOVERY;
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	if (slot)
		MPCC_WRITE(slot->nmcc_weight, slow_start && !reducing ? mpcc_shown_cwnd(tcp) : 1);
}

/* Ω of a subflow as a/t², where it counts: of this group, with an RTT sample. */
MPCC_INLINE bool mpcc_nmcc_counts(const struct mpcc_connection *c, u32 i, u8 group, u32 *a, u32 *t)
{
	*a = MPCC_READ(c->slot[i].nmcc_weight);
	*t = MPCC_READ(c->slot[i].srtt8);
	return mpcc_coupled(c, i, group) && *a && *t;
}

/* (a/a_k) · (t_k/t)², which is at most 1, in Q20. */
MPCC_INLINE u64 mpcc_nmcc_term(u32 a, u32 t, u32 a_k, u32 t_k)
{
	u64 ratio = ((u64)t_k << MPCC_OMEGA_SHIFT) / t;

	return a * ratio / a_k * ratio >> (2 * MPCC_OMEGA_SHIFT - MPCC_M2_SHIFT);
}

/* m² of a group, Q20; without any RTT sample, the number of its subflows. */
MPCC_SEPARATE u32 mpcc_nmcc_m2(const struct mpcc_connection *c, u32 group)
{
	u32 a_k = 0, t_k = 1, a, t, used;
	u64 sum = 0;

	if (!c)
		return MPCC_M2_ONE;
	used = MPCC_READ(c->used) & MPCC_EVERY_SLOT;
	for (u32 i = 0; i < MPCC_SUBFLOWS && used >> i; i++)
		if (mpcc_nmcc_counts(c, i, group, &a, &t) &&
		    mpcc_rate_per_rtt_above(a, t, a_k, t_k)) {
			a_k = a;
			t_k = t;
		}
	for (u32 i = 0; i < MPCC_SUBFLOWS && used >> i; i++) {
		if (!a_k)
			sum += mpcc_coupled(c, i, group) ? MPCC_M2_ONE : 0;
		else if (mpcc_nmcc_counts(c, i, group, &a, &t))
			sum += mpcc_nmcc_term(a, t, a_k, t_k);
		MPCC_UNKNOWN(sum);
	}
	/* A subflow that changes while it is looked at can make the sum anything. */
	if (sum < MPCC_M2_ONE)
		return MPCC_M2_ONE;
	return sum < MPCC_SUBFLOWS * MPCC_M2_ONE ? sum : MPCC_SUBFLOWS * MPCC_M2_ONE;
}

/* On each ACK, before the window grows: works m² out where it may be another. */
MPCC_INLINE void mpcc_nmcc_estimate(struct mpcc_connection *c, struct mpcc_subflow *s,
				    const struct mpcc_tcp *tcp, u32 acked)
{
	if (!mpcc_own_slot(c, s))
		return;
	if (s->increase_epoch != mpcc_epoch(c, s->group) || s->increase_left < acked) {
		s->increase_epoch = mpcc_epoch(c, s->group);
		s->increase_left = tcp->cwnd;
		s->increase = 0;
		s->m2 = mpcc_nmcc_m2(c, s->group);
	}
	s->increase_left = mpcc_minus(s->increase_left, acked);
}

/* 1 / (m² · cwnd) in Q40, rounded up; Reno's where m² = 1. */
MPCC_INLINE u64 mpcc_nmcc_increase(u32 cwnd, u32 m2)
{
	return ((mpcc_one_per(cwnd) << MPCC_M2_SHIFT) + m2 - 1) / m2;
}

MPCC_INLINE void mpcc_nmcc_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				 struct mpcc_tcp *tcp, u32 acked)
{
	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_avoid(s, tcp, acked);
		return;
	}
	if (!s->increase)
		s->increase = mpcc_nmcc_increase(mpcc_max(tcp->cwnd, 1), s->m2);
	mpcc_grow(s, tcp, s->increase, acked);
}

#endif
