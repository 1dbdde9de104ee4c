/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CSS, coupled slow start: the subflows leave slow start when the sum of their windows reaches the window at which a single TCP
 * would leave it, and after the same number of rounds as that TCP, whatever the number of subflows. Initial slow start only.
 *
 * Source: Wang, Xue, Yue, Han, Xu, Hong, "Coupled Slow-Start: Improving the Efficiency and Friendliness of MPTCP's
 * Slow-Start", III. C is con_ssthresh, the window at which a single TCP would leave slow start.
 *
 *  - Algorithm 1, coupled ssthresh. On an ACK, when Σ w_j/rtt_j > C/baseRTT, baseRTT being the smallest RTT, each
 *    subflow in initial slow start sets ssthresh to its window; once a connection. A loss ends the initial slow start of its
 *    own subflow only.
 *  - Algorithm 2, linked smooth growth. A window grows α_i-fold in a round trip, with α = 1.5 at first. A join with
 *    the initial window IW beside windows of W in all keeps the number of rounds, at a smaller α:
 *
 *        rounds = log_α(C / W),   α' = (C / (W + IW))^(1/rounds),   α_i = α'^(rtt_i / baseRTT)
 *
 *    so that log2 α' = log2 α · log2(C / (W + IW)) / log2(C / W).
 *  - Algorithm 3, byte counting. An ACK adds min(2, (α_i − 1) · acknowledged segments).
 *
 * Not specified in the paper:
 *  - W + IW ≥ C: no window is left to grow into, and α' = 1.
 *  - α_i is 2 at most, slow start's own. Windows grow by at least one segment in a round trip, as in congestion avoidance: with
 *    α' = 1 they would never grow if different RTTs keep the sum below the threshold.
 *  - A subflow that joins after the others have left slow start is in its own initial slow start. It takes its α' like any
 *    other and leaves at C at the latest: C limits each ssthresh, as in the paper's evaluation.
 *  - After its initial slow start a subflow's slow start (RTO) is that of any TCP. A subflow that ran another algorithm before has
 *    completed its initial slow start.
 *  - A subflow without an RTT sample is left out of sums, and grows by α' itself.
 *  - A backup subflow (RFC 8684, 3.3.8) joins when it first starts to send. It returns from later standby without another join: its
 *    window is a part of α' already.
 *
 * Groups: each group leaves slow start where a single TCP would, at its own C, once. A subflow that moves to another group in its
 * initial slow start joins it as a new subflow does, with its window in place of IW; late, if that group has left slow start. A
 * subflow after its initial slow start adds its window to the sum and does not change α'. A move transfers no state of the former
 * group, and the subflows that stay keep their α'.
 *
 * C is the setting con_ssthresh; else the first subflow's ssthresh if its endpoint has one (Algorithm 1, line 1);
 * else 65 535 bytes in segments of 1 448. It is fixed when the first subflow starts.
 *
 * Departures, and why:
 *  - A subflow whose ACK finds the threshold exceeded publishes a flag; each other subflow sets its ssthresh on its own next ACK,
 *    because a subflow cannot write another one's window or threshold. No window grows in between.
 *  - Each slot publishes α' plus 2^-32, so that 0 means "not set": on machines that reorder stores, another CPU may see a new subflow
 *    before its α'. The smallest α' of the group is the latest, because α' never rises. It belongs to a group, not to the
 *    connection. Two simultaneous joins count as one.
 *  - α_i is computed on a subflow's first ACK after the join, with the RTTs of that moment.
 *  - Segments are counted, not bytes. Growth of an ACK beyond ssthresh is dropped, one segment at most.
 *  - The paper's α of 1.5 is kept where, as in Linux, every TCP counts segments and doubles.
 *
 * Fixed point: logarithm.h. log2 α' is kept in Q32, α_i − 1 in Q40. The error of α_i is 1.2·10⁻⁶ on a grid over the whole range
 * and below 0.1 % everywhere (docs/algorithms/css.md has the worst cases). The sum in Algorithm 1 is in Q14, rounded down by less
 * than 0.001 segments.
 */
#ifndef MPCC_CSS_H
#define MPCC_CSS_H

#include "../logarithm.h"
#include "uncoupled.h"

#define MPCC_CSS_C         45 /* segments: 65 535 bytes, of 1 448 */
#define MPCC_CSS_C_MIN     2 /* segments: RFC 5681, equation 4 */
#define MPCC_CSS_LOG_ALPHA 2512394810U /* log2 1.5 in Q32 */
#define MPCC_CSS_ACK_MAX   2 /* segments: Algorithm 3, line 3 */
#define MPCC_CSS_NO_C                                                                              \
	0x7fffffffU /* Linux: TCP_INFINITE_SSTHRESH; from there on the endpoint has no threshold */

#define MPCC_CSS_CON_SSTHRESH 0 /* the setting */

struct mpcc_css_slow_start {
	struct mpcc_hystart hystart;
	u64 growth; /* α_i − 1, Q40 */
	u32 log_alpha; /* the log2 α' that `growth` was computed from, Q32; ~0: none */
	u8 late; /* not 0: joined, or returned from standby, after the others had left slow start */
	u8 joined; /* group of the last join, plus 1; 0: none yet */
	u16 reserved;
};

#define mpcc_css(s) mpcc_slow_start_state(s, struct mpcc_css_slow_start)

/* Words of mpcc_slot.slow_start. */
#define MPCC_CSS_ALPHA  0 /* log2 α' as last read by this subflow, Q32, plus 1; 0: not set yet */
#define MPCC_CSS_EXITED 1 /* not 0: the threshold was exceeded on an ACK of the group */

/* State of a group, read from its slots. */
struct mpcc_css_group {
	u32 windows; /* W: Σ w_j, segments */
	u32 base; /* baseRTT, eighths of a microsecond; 0: no sample */
	u32 log_alpha; /* log2 α' of the latest join, Q32 */
	u32 exited; /* not 0: the threshold was exceeded on an ACK of the group */
};

/* Reads a group. Returns Σ w_j · baseRTT/rtt_j, segments in Q14; 0: no RTT sample. */
MPCC_WRAPS MPCC_SEPARATE u64 mpcc_css_read(const struct mpcc_connection *c, u8 group,
					   struct mpcc_css_group *result)
{
	struct mpcc_css_group seen = { .log_alpha = MPCC_CSS_LOG_ALPHA };
	u32 used, base = ~0U;
	u64 rate = 0;

	if (!c || !result)
		return 0;
	used = mpcc_used_slots(c);
	/* Minimum of (value - 1): an unset value, 0, becomes the largest number. A branch would multiply the verifier's states. */
	MPCC_FOR_EACH_SLOT(i, used)
	{
		const struct mpcc_slot *slot = &c->slot[i];
		u32 alpha, exited;

		if (!mpcc_in_group(c, i, group))
			continue;
		alpha = MPCC_READ(slot->slow_start[MPCC_CSS_ALPHA]);
		exited = MPCC_READ(slot->slow_start[MPCC_CSS_EXITED]);
		if (MPCC_READ(slot->group) != group)
			continue; /* moved meanwhile: both words belong to its new group */
		seen.windows += MPCC_READ(slot->account.cwnd);
		seen.exited |= exited;
		seen.log_alpha = mpcc_min(seen.log_alpha, alpha - 1);
		base = mpcc_min(base, MPCC_READ(slot->srtt8) - 1);
	}
	seen.base = base + 1;
	MPCC_FOR_EACH_SLOT(i, used)
	{
		u32 t = MPCC_READ(c->slot[i].srtt8);

		if (t && mpcc_in_group(c, i, group))
			rate += ((u64)MPCC_READ(c->slot[i].account.cwnd) << MPCC_RATE_SHIFT) *
				seen.base / t;
	}
	*result = seen;
	return rate;
}

/* C, segments. Fixed when the first subflow starts. */
MPCC_INLINE u32 mpcc_css_c(struct mpcc_connection *c, const struct mpcc_tcp *tcp, bool fresh)
{
	u32 con_ssthresh = MPCC_READ(c->slow_start);

	if (con_ssthresh)
		return con_ssthresh;
	con_ssthresh = mpcc_slow_start_setting(c, MPCC_CSS_CON_SSTHRESH);
	if (!con_ssthresh)
		con_ssthresh = fresh && tcp->ssthresh < MPCC_CSS_NO_C ? tcp->ssthresh : MPCC_CSS_C;
	con_ssthresh = mpcc_min(mpcc_max(con_ssthresh, MPCC_CSS_C_MIN), MPCC_CWND_MAX);
	MPCC_WRITE(c->slow_start, con_ssthresh);
	return con_ssthresh;
}

/* Algorithm 2: log2 α' in Q32, rounded to the nearest, after a window of `iw` joined windows of `windows` in all. */
MPCC_INLINE u32 mpcc_css_join_alpha(u32 log_alpha, u32 threshold, u32 windows, u32 iw)
{
	u64 before, after;
	u32 shift;

	if (!windows)
		return log_alpha; /* the first subflow */
	if (windows + iw >= threshold)
		return 0;
	before = mpcc_log2_ratio(threshold, windows);
	after = mpcc_log2_ratio(threshold, windows + iw);
	/* 20 · 2^40 · 2^-13 · 2^32 fits 64 bits; a small logarithm keeps all of its bits. */
	shift = after >> 32 ? 13 : 0;
	before >>= shift;
	return (log_alpha * (after >> shift) + before / 2) / before;
}

/*
 * The subflow enters its group; its slot is not in it yet. If it returns from standby to the group that it joined last, α' is that of
 * this join, which its slot still has.
 */
MPCC_INLINE void mpcc_css_join(struct mpcc_connection *c, struct mpcc_subflow *s,
			       struct mpcc_tcp *tcp)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	struct mpcc_css_group group = {};
	u32 log_alpha;

	if (!slot)
		return;
	mpcc_css_read(c, s->group, &group);
	log_alpha = group.log_alpha;
	if (s->initial) {
		struct mpcc_css_slow_start *css = mpcc_css(s);
		u32 threshold = mpcc_css_c(c, tcp, false);

		tcp->ssthresh = mpcc_min(tcp->ssthresh, threshold);
		log_alpha = mpcc_css_join_alpha(log_alpha, threshold, group.windows,
						mpcc_published_cwnd(tcp));
		css->log_alpha = ~0U; /* no α_i yet */
		css->late = !!group.exited;
	}
	if (mpcc_css(s)->joined != s->group + 1)
		MPCC_WRITE(slot->slow_start[MPCC_CSS_ALPHA], log_alpha + 1);
	mpcc_css(s)->joined = s->group + 1;
	/* Copied, so that the group still has it when the other subflows have left. */
	MPCC_WRITE(slot->slow_start[MPCC_CSS_EXITED], group.exited);
}

MPCC_INLINE void mpcc_css_init(struct mpcc_connection *c, struct mpcc_subflow *s,
			       struct mpcc_tcp *tcp, bool fresh, struct mpcc_note *note)
{
	(void)note;
	if (!mpcc_own_slot(c, s))
		return;
	mpcc_css_c(c, tcp, fresh);
	if (!tcp->backup) /* a backup joins when it starts to send */
		mpcc_css_join(c, s, tcp);
}

MPCC_INLINE void mpcc_css_move(struct mpcc_connection *c, struct mpcc_subflow *s,
			       struct mpcc_tcp *tcp, struct mpcc_note *note)
{
	(void)note;
	mpcc_css_join(c, s, tcp);
}

/*
 * α_i − 1 in Q40, at most 1. `base`: smallest published RTT; 0: none. It may exceed `srtt8`, because this subflow may not have
 * published its RTT.
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

/* Algorithm 1, and the α' of joins since the last ACK. */
MPCC_INLINE void mpcc_css_exit(struct mpcc_connection *c, struct mpcc_subflow *s,
			       struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_css_slow_start *css = mpcc_css(s);
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	struct mpcc_css_group group = {};
	u64 rate;

	(void)acked;
	if (!slot || !s->initial)
		return;
	rate = mpcc_css_read(c, s->group, &group);
	if (rate > (u64)MPCC_READ(c->slow_start) << MPCC_RATE_SHIFT)
		group.exited = true;
	MPCC_WRITE(slot->slow_start[MPCC_CSS_ALPHA], group.log_alpha + 1);
	MPCC_WRITE(slot->slow_start[MPCC_CSS_EXITED], group.exited);
	if (group.exited && !css->late) {
		tcp->ssthresh = tcp->cwnd;
		return;
	}
	if (css->log_alpha != group.log_alpha) {
		css->growth = mpcc_css_growth(group.log_alpha, tcp->srtt8, group.base);
		if (tcp->srtt8)
			css->log_alpha = group.log_alpha;
	}
}

/* Algorithm 3. */
MPCC_INLINE u32 mpcc_css_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked)
{
	struct mpcc_css_slow_start *css = mpcc_css(s);
	u64 growth, least;

	if (!s->initial || !mpcc_has_slot(s))
		return mpcc_double(tcp, acked);
	growth = css->growth;
	least = mpcc_one_per(mpcc_max(tcp->cwnd, 1));
	growth = (growth > least ? growth : least) * mpcc_min(acked, MPCC_CWND_MAX);
	if (growth > MPCC_CSS_ACK_MAX * MPCC_ONE)
		growth = MPCC_CSS_ACK_MAX * MPCC_ONE;
	mpcc_grow(s, tcp, growth, 1);
	tcp->cwnd = mpcc_min(tcp->cwnd, tcp->ssthresh);
	return 0;
}

static const struct mpcc_slow_start_ops mpcc_css_slow_start_ops = {
	.name = "css",
	.setting = { { "con_ssthresh", "segments", 0, MPCC_CWND_MAX, 0,
		       "window at which a single TCP would leave slow start; 0: the first "
		       "subflow's own threshold, "
		       "else 45 (65 535 bytes)" } },
	.counts_bytes = true,
	.init = mpcc_css_init,
	.move = mpcc_css_move,
	.exit = mpcc_css_exit,
	.grow = mpcc_css_grow,
};

#endif
