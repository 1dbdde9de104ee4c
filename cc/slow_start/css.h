/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CSS, coupled slow start: all subflows together leave slow start where one TCP would, and grow so that they get
 * there when it would, however many they are. Initial slow start only.
 *
 * Source: Wang, Xue, Yue, Han, Xu, Hong, "Coupled Slow-Start: Improving the Efficiency and Friendliness of MPTCP's
 * Slow-Start", III. C is con_ssthresh, the window in which one TCP would leave slow start.
 *
 *  - Algorithm 1, coupled ssthresh. On an ACK, when Σ w_j/rtt_j > C/baseRTT, baseRTT being the least RTT, each
 *    subflow in its initial slow start sets ssthresh to its window; once a connection. A loss ends the initial slow
 *    start of its own subflow alone.
 *  - Algorithm 2, linked smooth growth. A window grows α_i-fold in a round trip, with α = 1.5 at first. A join with
 *    the initial window IW beside windows of W in all leaves as many rounds as there were, for less:
 *
 *        rounds = log_α(C / W),   α' = (C / (W + IW))^(1/rounds),   α_i = α'^(rtt_i / baseRTT)
 *
 *    so that log2 α' = log2 α · log2(C / (W + IW)) / log2(C / W).
 *  - Algorithm 3, byte counting. An ACK adds min(2, (α_i − 1) · acknowledged segments).
 *
 * What the paper leaves open:
 *  - W + IW ≥ C: no window is left to grow into, and α' = 1.
 *  - α_i is 2 at the most, slow start's own, and windows grow by one segment in a round trip at the least, as in
 *    congestion avoidance: with α' = 1 they would stay as they are if different RTTs keep the sum below the threshold.
 *  - A subflow that joins later, when the others have left slow start, is in its own initial slow start. It takes its
 *    α' like any, and leaves at C by itself, if not before: C bounds each ssthresh, as in the paper's evaluation.
 *  - After its initial slow start a subflow's slow start (RTO) is every TCP's. A subflow that had another algorithm
 *    before is past its initial slow start.
 *  - RTTs: those without a sample are left out of sums; one without it grows by α' itself.
 *
 * Groups: each leaves slow start where one TCP would, at C of its own, once. A subflow that moves to another group in its
 * initial slow start joins it as a new one does, with the window that it has for IW; late, where that group has left. One
 * that is past it counts with its window and no more. Neither brings along what was found in the group that it leaves,
 * and those that stay keep the α' that they have learnt.
 *
 * C is the connection's setting; else the first subflow's ssthresh where its endpoint has one (Algorithm 1, line 1);
 * else 65 535 bytes in segments of 1 448.
 *
 * Departures, and why:
 *  - Whoever finds the threshold exceeded shows it in its slot; each other subflow sets its ssthresh on its own next
 *    ACK: nobody can write another's. Its window cannot have changed in between.
 *  - α' is shown in the slots, and the least in the group is the latest, for it only ever falls. So it is no
 *    connection's, but a group's. Two joins at the same moment count as one.
 *  - α_i is worked out on a subflow's first ACK after the join, with the RTTs of that moment.
 *  - Segments are counted, not bytes. What an ACK grows a window beyond its ssthresh is dropped, one segment at most.
 *  - A path's α of 1.5 is the paper's also where, as in Linux, every TCP counts segments and doubles.
 *
 * Fixed point: logarithm.h. log2 α' is kept in Q32, α_i − 1 in Q40. α_i is off by 1.2·10⁻⁶ over a grid of the whole range
 * and by less than 0.1 % anywhere (the worst cases are in docs/algorithms/css.md). The sum in Algorithm 1 is in Q14, rounded down by less than 0.001 segments.
 */
#ifndef MPCC_CSS_H
#define MPCC_CSS_H

#include "../logarithm.h"
#include "uncoupled.h"

#define MPCC_CSS_C         45 /* segments: 65 535 bytes, of 1 448 */
#define MPCC_CSS_LOG_ALPHA 2512394766U /* log2 1.5 in Q32 */
#define MPCC_CSS_ACK_MAX   2 /* segments: Algorithm 3, line 3 */
#define MPCC_CSS_NO_C                                                                              \
	0x7fffffffU /* Linux: TCP_INFINITE_SSTHRESH; from there on an endpoint has none */
#define MPCC_CSS_S_SHIFT 14

/* What the subflows of a group show each other. */
struct mpcc_css_view {
	u32 windows; /* W: Σ w_j, segments */
	u32 base; /* the least RTT, eighths of a microsecond; 0: no sample */
	u32 log_alpha; /* log2 α' of the latest join, Q32 */
	u32 over; /* not 0: somebody has found the threshold exceeded */
};

/* Looks at a group. Returns Σ w_j · baseRTT/rtt_j, segments in Q14; 0: no RTT sample. */
MPCC_WRAPS MPCC_SEPARATE u64 mpcc_css_look(const struct mpcc_connection *c, u8 group,
					   struct mpcc_css_view *seen)
{
	struct mpcc_css_view view = { .log_alpha = MPCC_CSS_LOG_ALPHA };
	u32 used, base = ~0U;
	u64 rate = 0;

	if (!c || !seen)
		return 0;
	used = MPCC_READ(c->used) & MPCC_EVERY_SLOT;
	/* (Nothing here is compared that the BPF verifier might know: an RTT of 0, no sample, less 1 is above all.) */
	for (u32 i = 0; i < MPCC_SUBFLOWS && used >> i; i++) {
		const struct mpcc_slot *slot = &c->slot[i];
		u32 log_alpha, over;

		if (!mpcc_coupled(c, i, group))
			continue;
		log_alpha = MPCC_READ(slot->css_log_alpha);
		over = MPCC_READ(slot->css_over);
		if (MPCC_READ(slot->group) != group)
			continue; /* what it shows now is of another group */
		view.windows += MPCC_READ(slot->account.cwnd);
		view.over |= over;
		view.log_alpha = mpcc_min(view.log_alpha, log_alpha);
		base = mpcc_min(base, MPCC_READ(slot->srtt8) - 1);
	}
	view.base = base + 1;
	for (u32 i = 0; i < MPCC_SUBFLOWS && used >> i; i++) {
		u32 t = MPCC_READ(c->slot[i].srtt8);

		if (t && mpcc_coupled(c, i, group))
			rate += ((u64)MPCC_READ(c->slot[i].account.cwnd) << MPCC_CSS_S_SHIFT) *
				view.base / t;
	}
	*seen = view;
	return rate;
}

/* con_ssthresh, segments. */
MPCC_INLINE u32 mpcc_css_threshold(const struct mpcc_connection *c)
{
	u32 threshold = MPCC_READ(c->con_ssthresh);

	return threshold ? mpcc_min(threshold, MPCC_CWND_MAX) : MPCC_CSS_C;
}

/* Algorithm 2: log2 α' in Q32, rounded to the nearest, after one more window of `iw` beside those of `windows`. */
MPCC_INLINE u32 mpcc_css_joined(u32 log_alpha, u32 threshold, u32 windows, u32 iw)
{
	u64 before, after;
	u32 shift;

	if (!windows)
		return log_alpha; /* the first */
	if (windows + iw >= threshold)
		return 0;
	before = mpcc_log2_ratio(threshold, windows);
	after = mpcc_log2_ratio(threshold, windows + iw);
	shift = after >> 32 ? 13 :
			      0; /* 20 · 2^40 · 2^-13 · 2^32 fits, and a small one keeps its bits */
	before >>= shift;
	return (log_alpha * (after >> shift) + before / 2) / before;
}

/*
 * A subflow joins the group s->group, in which its slot is not yet. `initial`: it is in its initial slow start, and
 * not past it.
 */
MPCC_INLINE void mpcc_css_join(struct mpcc_connection *c, struct mpcc_subflow *s,
			       struct mpcc_tcp *tcp, bool initial)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	struct mpcc_css_view view = {};
	u32 threshold;

	if (!slot)
		return;
	mpcc_css_look(c, s->group, &view);
	slot->css_log_alpha = view.log_alpha;
	slot->css_over = view.over; /* once a group, whoever leaves it */
	if (!initial)
		return;
	if (!MPCC_READ(c->con_ssthresh) && tcp->ssthresh < MPCC_CSS_NO_C)
		MPCC_WRITE(c->con_ssthresh, tcp->ssthresh);
	threshold = mpcc_css_threshold(c);
	tcp->ssthresh = mpcc_min(tcp->ssthresh, threshold);
	slot->css_log_alpha =
		mpcc_css_joined(view.log_alpha, threshold, view.windows, mpcc_shown_cwnd(tcp));
	s->css.log_alpha = ~0U; /* no α_i yet */
	s->css.initial = true;
	s->css.late = view.over;
}

/*
 * α_i − 1 in Q40, at most 1. The least RTT is that of the slots: where this subflow's own is not in them yet, it may
 * be below or there may be none, 0.
 */
MPCC_INLINE u64 mpcc_css_growth(u32 log_alpha, u32 srtt8, u32 base)
{
	u64 x = log_alpha;

	srtt8 = mpcc_min(srtt8, MPCC_SRTT8_MAX);
	if (base && srtt8 > base)
		x = x * srtt8 / base;
	if (x >= MPCC_EXP_ONE)
		return MPCC_ONE;
	return mpcc_exp2_less_1(x) << (MPCC_ONE_SHIFT - MPCC_EXP_SHIFT);
}

/* On each ACK in slow start, before it grows the window: Algorithm 1, and what a join has changed. */
MPCC_INLINE void mpcc_css_ack(struct mpcc_connection *c, struct mpcc_subflow *s,
			      struct mpcc_tcp *tcp)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	struct mpcc_css_view view = {};
	u64 rate;

	if (!slot || !s->css.initial)
		return;
	rate = mpcc_css_look(c, s->group, &view);
	if (rate > (u64)mpcc_css_threshold(c) << MPCC_CSS_S_SHIFT)
		view.over = true;
	MPCC_WRITE(slot->css_log_alpha, view.log_alpha);
	MPCC_WRITE(slot->css_over, view.over);
	if (view.over && !s->css.late) {
		tcp->ssthresh = tcp->cwnd;
		return;
	}
	if (s->css.log_alpha != view.log_alpha) {
		s->css.growth = mpcc_css_growth(view.log_alpha, tcp->srtt8, view.base);
		if (tcp->srtt8)
			s->css.log_alpha = view.log_alpha;
	}
}

/* The subflow has left slow start, or lost something. */
MPCC_INLINE void mpcc_css_left(struct mpcc_subflow *s)
{
	s->css.initial = false;
}

/* Algorithm 3 in initial slow start. Returns the acknowledged segments that slow start did not use. */
MPCC_INLINE u32 mpcc_css_slow_start(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	u64 growth, least;

	if (!s->css.initial)
		return mpcc_slow_start(tcp, acked);
	growth = s->css.growth;
	least = mpcc_one_per(mpcc_max(tcp->cwnd, 1));
	growth = (growth > least ? growth : least) * mpcc_min(acked, MPCC_CWND_MAX);
	if (growth > MPCC_CSS_ACK_MAX * MPCC_ONE)
		growth = MPCC_CSS_ACK_MAX * MPCC_ONE;
	mpcc_grow(s, tcp, growth, 1);
	tcp->cwnd = mpcc_min(tcp->cwnd, tcp->ssthresh);
	return 0;
}

#endif
