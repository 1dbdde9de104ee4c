/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NMCC, normalized multiflow congestion control: for each acknowledged segment
 *
 *     cwnd_i += 1 / (m² · cwnd_i),   m² = Σ Ω_j / max Ω_j
 *
 * where Ω is how fast a subflow's rate would grow if it were alone: 1/rtt² in congestion avoidance, cwnd/rtt² in slow
 * start. All subflows together gain rate as fast as the fastest of them would alone, each in proportion,
 * so that no path is given up. The reduction is Reno's (IV-B.3).
 *
 * Source: Thomas, Xylomenos, Polyzos, "Multipath Congestion Control with Network Assistance", IV-B.1, equations 4, 7
 * and 9, and Algorithm 1. Slow start is in slow_start/nmcc.h.
 *
 * The sum is over the subflows of one group (IV-A) that send and have an RTT sample. Before the first sample, m² is their
 * number. A subflow alone has m² = 1, which is Reno.
 *
 * Departures, and why:
 *  - A subflow is in the phase that it publishes, by its own m². Algorithm 1 uses one m², the latest, for the phases of all
 *    subflows. Both values come from the same slots, at most one ACK apart.
 *  - In recovery a subflow counts with 1/rtt²: congestion avoidance follows. After an RTO it does not: endpoints
 *    repair the losses in slow start.
 *  - m² is computed when a window of the group has changed and at least once a window of acknowledged
 *    segments, not on each ACK (mpcc_expired).
 *
 * Fixed point. With k the subflow of the largest Ω, chosen exactly, and a = cwnd or 1,
 *
 *     m² = Σ (a_j/a_k) · (rtt_k/rtt_j)²
 *
 * in which every term is at most 1 and that of k is 1. Two factors of each, rtt_k/rtt_j ≤ 2^10 and (a_j/a_k) ·
 * (rtt_k/rtt_j), are kept in Q29, the sum in Q20: each rounding is downwards, and the error of m² is at most 2·10⁻⁵, over
 * windows of 1 to 2^20 segments, RTTs of 10 µs to 60 s and 16 subflows. (rtt² itself needs 58 bits, and cwnd/rtt² in
 * integers is 0.)
 */
#ifndef MPCC_NMCC_AVOIDANCE_H
#define MPCC_NMCC_AVOIDANCE_H

#include "reno.h"

#define MPCC_M2_SHIFT    20
#define MPCC_M2_ONE      (1U << MPCC_M2_SHIFT)
#define MPCC_OMEGA_SHIFT 29

struct mpcc_nmcc_avoidance {
	u64 increase; /* for each acknowledged segment, Q40; 0: to be computed from m2 */
	struct mpcc_cache cache; /* of `m2` */
	u32 m2; /* m², Q20 */
	u32 reserved;
};

#define mpcc_nmcc(s) mpcc_avoidance_state(s, struct mpcc_nmcc_avoidance)

/* Word of mpcc_slot.avoidance. */
#define MPCC_NMCC_WEIGHT 0 /* Ω · rtt²: the window in slow start, 1 after it */

MPCC_INLINE void mpcc_nmcc_init(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	(void)tcp;
	mpcc_nmcc(s)->m2 = MPCC_M2_ONE;
}

MPCC_INLINE void mpcc_nmcc_publish(struct mpcc_connection *c, const struct mpcc_subflow *s,
				   const struct mpcc_tcp *tcp, bool slow_start)
{
	bool reducing = s->state == MPCC_STATE_CWR || s->state == MPCC_STATE_RECOVERY;
	struct mpcc_slot *slot = mpcc_own_slot(c, s);

	if (slot)
		MPCC_WRITE(slot->avoidance[MPCC_NMCC_WEIGHT],
			   slow_start && !reducing ? mpcc_published_cwnd(tcp) : 1);
}

/* Reads Ω of the subflow in slot i as a/t². False if it is not in the group or has no RTT sample. */
MPCC_INLINE bool mpcc_nmcc_omega(const struct mpcc_connection *c, u32 i, u8 group, u32 *a, u32 *t)
{
	*a = MPCC_READ(c->slot[i].avoidance[MPCC_NMCC_WEIGHT]);
	*t = MPCC_READ(c->slot[i].srtt8);
	return mpcc_in_group(c, i, group) && *a && *t;
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
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	if (mpcc_nmcc_omega(c, i, group, &a, &t) && mpcc_rate_per_rtt_above(a, t, a_k, t_k)) {
		a_k = a;
		t_k = t;
	}
	MPCC_FOR_EACH_SLOT(i, used)
	{
		if (!a_k)
			sum += mpcc_in_group(c, i, group) ? MPCC_M2_ONE : 0;
		else if (mpcc_nmcc_omega(c, i, group, &a, &t))
			sum += mpcc_nmcc_term(a, t, a_k, t_k);
		MPCC_UNKNOWN(sum);
	}
	/* Bounded, because a slot that changes during the loops can make the sum any number. */
	if (sum < MPCC_M2_ONE)
		return MPCC_M2_ONE;
	return sum < MPCC_SUBFLOWS * MPCC_M2_ONE ? sum : MPCC_SUBFLOWS * MPCC_M2_ONE;
}

MPCC_INLINE void mpcc_nmcc_sample(struct mpcc_connection *c, struct mpcc_subflow *s,
				  const struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_nmcc_avoidance *nmcc = mpcc_nmcc(s);

	if (!mpcc_own_slot(c, s))
		return;
	if (mpcc_expired(c, s, &nmcc->cache, tcp->cwnd, acked)) {
		nmcc->increase = 0;
		nmcc->m2 = mpcc_nmcc_m2(c, s->group);
	}
}

/* 1 / (m² · cwnd) in Q40, rounded up; Reno's where m² = 1. */
MPCC_INLINE u64 mpcc_nmcc_increase(u32 cwnd, u32 m2)
{
	return ((mpcc_one_per(cwnd) << MPCC_M2_SHIFT) + m2 - 1) / m2;
}

MPCC_INLINE void mpcc_nmcc_avoid(struct mpcc_connection *c, struct mpcc_subflow *s,
				 struct mpcc_tcp *tcp, u32 acked, struct mpcc_note *note)
{
	struct mpcc_nmcc_avoidance *nmcc = mpcc_nmcc(s);

	(void)note;
	if (!mpcc_own_slot(c, s)) {
		mpcc_reno_grow(s, tcp, acked);
		return;
	}
	if (!nmcc->increase)
		nmcc->increase = mpcc_nmcc_increase(mpcc_max(tcp->cwnd, 1), nmcc->m2);
	mpcc_grow(s, tcp, nmcc->increase, acked);
}

static const struct mpcc_avoidance_ops mpcc_nmcc_avoidance_ops = {
	.name = "nmcc",
	.init = mpcc_nmcc_init,
	.publish = mpcc_nmcc_publish,
	.sample = mpcc_nmcc_sample,
	.avoid = mpcc_nmcc_avoid,
};

#endif
