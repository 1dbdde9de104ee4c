/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Coupled CUBIC's group (coupled_cubic.h has the rules): the state of a subflow, the curve that it publishes, what it reads of the others,
 * and the evidence of a shared queue.
 */
#ifndef MPCC_COUPLED_CUBIC_GROUP_H
#define MPCC_COUPLED_CUBIC_GROUP_H

#include "../slow_start/hystart.h"
#include "cubic_curve.h"

/*
 * Constants of two kinds. Tuned: chosen on networks of the tuning half of experiments/start, and judged on others
 * (docs/notes/starting.md). Representation: a unit or a bound of a field.
 */

/* Evidence. */
#define MPCC_COUPLED_CUBIC_LOOK_RTTS 4 /* time in which RTTs are compared (tuned) */
#define MPCC_COUPLED_CUBIC_SHARES    6 /* sum of the evidence from which two share (tuned) */
#define MPCC_COUPLED_CUBIC_SCORE_MAX 12 /* twice that: as long until they do not */

/* What a subflow comes down to after the loss of another one, in the unit of MPCC_CUBIC_SCALE: 3/4 (tuned). */
#define MPCC_COUPLED_CUBIC_FOLLOW 768

/* Least window that grows to an even number without sharing, segments: two are a sixth of it (tuned). */
#define MPCC_COUPLED_CUBIC_EVEN 12

/* Representation. */
#define MPCC_COUPLED_CUBIC_TICK_SHIFT 22 /* a tick is 2^22 ns, 4 ms: a jiffy of Linux */
#define MPCC_COUPLED_CUBIC_TICK_US    4194
#define MPCC_COUPLED_CUBIC_TICK_MASK  ((1U << 18) - 1) /* ticks wrap after 18 min */
#define MPCC_COUPLED_CUBIC_LOOK_MASK  ((1U << 14) - 1) /* ticks of `looked`, 69 s */
#define MPCC_COUPLED_CUBIC_EPOCH_MAX  61000 /* ticks, 256 s: W(t) is beyond all windows */
#define MPCC_COUPLED_CUBIC_MAX        ((1U << 20) - 1) /* segments: largest sum of windows */

/* A curve, as published: one word, so that its parts always belong together. */
struct mpcc_coupled_cubic_curve {
	u64 origin : 20; /* W(K), segments; 0: no loss has shown it yet */
	u64 window : 20; /* W(0), segments */
	u64 start : 18; /* tick, wraps; of an event its number */
	u64 event : 1; /* not 0: the epoch starts with a loss, else with a change of members */
	u64 shares : 1; /* not 0: the evidence says that the subflow shares a queue with its partner */
	u64 partner : 4; /* slot of the subflow that it compares itself with; its own: none */
};

struct mpcc_coupled_cubic_avoidance {
	struct mpcc_coupled_cubic_curve curve; /* as published */
	u32 k : 20; /* K: from the epoch's start until W(t) is flat, 1/1024 s */
	u32 score : 4; /* sum of the evidence */
	u32 due : 1; /* not 0: the group was read since the window has last grown */
	u32 running : 1; /* not 0: congestion avoidance since the last own reduction */
	u32 reducing : 1; /* not 0: the window comes down from `before` */
	u32 looking : 1; /* not 0: `looked`, `srtt8` and `partner_srtt8` are valid */
	u32 tick : 18; /* when the group was last read, wraps */
	u32 looked : 14; /* tick since which the RTTs are compared, wraps */
	u32 rtt_min; /* smallest RTT sample, µs; 0: none yet */
	u32 rounds; /* RTTs of the epoch, Q16, saturates */
	u32 total; /* sum of the windows that follow the curve, segments */
	u32 before; /* own window before the last event, segments */
	u32 srtt8; /* own smoothed RTT at `looked`, eighths of a microsecond */
	u32 partner_srtt8; /* the partner's */
	u32 peak8; /* longest queue, which ages, eighths of a microsecond */
	u16 acked; /* segments that have not grown the window yet */
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
MPCC_INLINE void mpcc_coupled_cubic_publish(const struct mpcc_coupled_cubic_avoidance *v,
					    struct mpcc_slot *slot)
{
	u64 word;

	__builtin_memcpy(&word, &v->curve, sizeof(word));
	if (MPCC_READ(mpcc_coupled_cubic_word(slot)) != word)
		MPCC_WRITE(mpcc_coupled_cubic_word(slot), word);
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
	u32 tick;
	/* Results. */
	u32 members; /* bit i: slot i is another member */
	u32 linked; /* bit i: slot i shares with its partner, by evidence */
	u64 partners; /* four bits for each slot: its partner */
	u32 set; /* bit i: slot i shares with this one, or is this one */
	u32 others; /* sum of the windows of the others in `set`, segments */
	u32 newest; /* slot of the newest curve of another one in `set`; MPCC_SUBFLOWS: none */
};

/* Reads who is in the group, and who shares with whom. Without branches: the verifier would follow each. */
MPCC_SEPARATE u32 mpcc_coupled_cubic_members(const struct mpcc_connection *c,
					     struct mpcc_coupled_cubic_group *g)
{
	u32 members = 0, linked = 0, used;
	u64 partners = 0;

	if (!c || !g)
		return 0;
	used = mpcc_used_slots(c);
	MPCC_FOR_EACH_SLOT(i, used)
	{
		struct mpcc_coupled_cubic_curve curve = mpcc_coupled_cubic_of(&c->slot[i]);

		if (!mpcc_in_group(c, i, g->group))
			continue;
		members |= 1U << i;
		linked |= (u32)curve.shares << i;
		partners |= (u64)curve.partner << 4 * i;
		MPCC_UNKNOWN(members);
		MPCC_UNKNOWN(linked);
		MPCC_UNKNOWN(partners);
	}
	g->members = members & ~(1U << MPCC_SLOT(g->me));
	g->linked = linked;
	g->partners = partners;
	return 0;
}

/*
 * Who shares with the subflow: those that are linked with it, and with these. A chain of links may run against the order of the slots;
 * three rounds follow all but the oddest ones, which the next changes of partners shorten.
 */
MPCC_SEPARATE u32 mpcc_coupled_cubic_linked(const struct mpcc_coupled_cubic_group *g)
{
	u32 set;

	if (!g)
		return 0;
	set = 1U << MPCC_SLOT(g->me);
	for (u32 i = 0; i < 3 * MPCC_SUBFLOWS; i++) {
		u32 slot = MPCC_SLOT(i), partner = g->partners >> 4 * slot & (MPCC_SUBFLOWS - 1);
		u32 either = (set >> slot | set >> partner) & g->linked >> slot & 1;

		set |= either << slot | either << partner;
		MPCC_UNKNOWN(set);
	}
	return set & (g->members | 1U << MPCC_SLOT(g->me));
}

/* Reads the windows and curves of those that share. Without branches, as above. */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_coupled_cubic_windows(const struct mpcc_connection *c,
							struct mpcc_coupled_cubic_group *g)
{
	u32 total = 0, newest = ~0U, others;

	if (!c || !g)
		return 0;
	others = g->set & ~(1U << MPCC_SLOT(g->me));
	MPCC_FOR_EACH_SLOT(i, others)
	{
		const struct mpcc_slot *slot = &c->slot[i];
		struct mpcc_coupled_cubic_curve curve = mpcc_coupled_cubic_of(slot);
		u32 ssthresh = MPCC_READ(slot->ssthresh), cwnd = MPCC_READ(slot->account.cwnd);
		u32 shares = others >> i & 1, age;

		/* Infinite in the first slow start. */
		ssthresh = mpcc_select(mpcc_is_zero(ssthresh >> 21), ssthresh, 0);
		total += (cwnd + ssthresh - mpcc_at_most(ssthresh, cwnd)) * shares;
		/* The slot in the lowest bits: the minimum names it. */
		age = mpcc_coupled_cubic_since(g->tick, curve.start) << 4 | i;
		newest = mpcc_at_most(mpcc_select(shares, age, ~0U), newest);
		MPCC_UNKNOWN(total);
		MPCC_UNKNOWN(newest);
	}
	g->others = total;
	g->newest = newest == ~0U ? MPCC_SUBFLOWS : newest & (MPCC_SUBFLOWS - 1);
	return 0;
}

/* Reads the group. In an assigned one all share. */
MPCC_INLINE void mpcc_coupled_cubic_read(const struct mpcc_connection *c,
					 struct mpcc_coupled_cubic_group *g, u32 me,
					 const struct mpcc_tcp *tcp)
{
	g->me = MPCC_SLOT(me);
	g->group = MPCC_READ(c->slot[MPCC_SLOT(me)].group);
	g->tick = mpcc_coupled_cubic_tick(tcp);
	mpcc_coupled_cubic_members(c, g);
	if (g->group && g->group <= MPCC_GROUP_MAX)
		g->set = g->members | 1U << g->me;
	else
		g->set = mpcc_coupled_cubic_linked(g);
	mpcc_coupled_cubic_windows(c, g);
}

/* Whether `passed` µs are less than `eighths`/8 RTTs. */
MPCC_INLINE bool mpcc_coupled_cubic_within(const struct mpcc_tcp *tcp, u32 passed, u32 eighths)
{
	return (u64)passed * 64 < (u64)tcp->srtt8 * eighths;
}

/*
 * The next partner: the next of the other members after the last one, if possible one that this subflow does not share with yet. The own
 * slot if there is no other member. Without branches, as above; clang 16 has no __builtin_ctz for BPF.
 */
MPCC_SEPARATE u32 mpcc_coupled_cubic_next(const struct mpcc_coupled_cubic_group *g, u32 last)
{
	u32 apart, all, next;

	if (!g)
		return 0;
	apart = g->members & ~g->set;
	all = apart ? apart : g->members;
	next = MPCC_SLOT(g->me);
	for (u32 i = MPCC_SUBFLOWS; i; i--) {
		u32 slot = MPCC_SLOT(last + i);

		next = mpcc_select(all >> slot & 1, slot, next);
		MPCC_UNKNOWN(next);
	}
	return next;
}

/* An observation: whether the RTTs of the two have changed together. */
MPCC_INLINE void mpcc_coupled_cubic_observe(struct mpcc_coupled_cubic_avoidance *v,
					    const struct mpcc_coupled_cubic_group *g, bool together)
{
	v->score = together ? mpcc_min(v->score + 1, MPCC_COUPLED_CUBIC_SCORE_MAX) :
			      mpcc_minus(v->score, 1);
	if (v->score >= MPCC_COUPLED_CUBIC_SHARES)
		v->curve.shares = true;
	if (v->score)
		return;
	v->curve.shares = false;
	v->curve.partner = mpcc_coupled_cubic_next(g, v->curve.partner);
}

/* The size of a change, modulo 2^32. */
MPCC_WRAPS MPCC_INLINE u32 mpcc_coupled_cubic_size(u32 change)
{
	return change >> 31 ? -change : change;
}

/* The partner's slot. The verifier needs the mask, which the compiler would leave out for a field of four bits. */
MPCC_INLINE const struct mpcc_slot *
mpcc_coupled_cubic_partner(const struct mpcc_connection *c,
			   const struct mpcc_coupled_cubic_avoidance *v)
{
	u32 i = v->curve.partner;

	MPCC_OPAQUE(i);
	return &c->slot[MPCC_SLOT(i)];
}

/* Compares the RTTs of the subflow and of its partner. Once in LOOK_RTTS. */
MPCC_WRAPS MPCC_INLINE void mpcc_coupled_cubic_look(const struct mpcc_connection *c,
						    struct mpcc_coupled_cubic_avoidance *v,
						    const struct mpcc_coupled_cubic_group *g,
						    const struct mpcc_tcp *tcp)
{
	const struct mpcc_slot *partner = mpcc_coupled_cubic_partner(c, v);
	u32 passed = (g->tick - v->looked) & MPCC_COUPLED_CUBIC_LOOK_MASK;
	u32 base8 = mpcc_min(v->rtt_min, MPCC_SRTT8_MAX / 8) * 8, own, other, apart;

	if (!(g->members >> MPCC_SLOT(v->curve.partner) & 1)) {
		v->score = 0;
		v->looking = false;
		v->curve.shares = false;
		v->curve.partner = mpcc_coupled_cubic_next(g, v->curve.partner);
		partner = mpcc_coupled_cubic_partner(c, v);
	} else if (v->looking && mpcc_coupled_cubic_within(tcp, passed * MPCC_COUPLED_CUBIC_TICK_US,
							   8 * MPCC_COUPLED_CUBIC_LOOK_RTTS)) {
		return;
	}
	if (v->looking && MPCC_READ(partner->flight)) {
		own = tcp->srtt8 - v->srtt8;
		other = MPCC_READ(partner->srtt8) - v->partner_srtt8;
		apart = mpcc_coupled_cubic_size(own - other);
		own = mpcc_coupled_cubic_size(own);
		if (own && own >= v->peak8 / 4)
			mpcc_coupled_cubic_observe(v, g, apart <= own / 8 * 5);
		partner = mpcc_coupled_cubic_partner(c, v);
	}
	v->peak8 = mpcc_max(v->peak8 - v->peak8 / 16, mpcc_minus(tcp->srtt8, base8));
	v->looking = !mpcc_below_ssthresh(tcp);
	v->looked = g->tick & MPCC_COUPLED_CUBIC_LOOK_MASK;
	v->srtt8 = tcp->srtt8;
	v->partner_srtt8 = MPCC_READ(partner->srtt8);
}

#endif
