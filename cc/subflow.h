/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One subflow: what its endpoint knows (Linux: struct tcp_sock), what its algorithm keeps (Linux:
 * icsk_ca_priv, 104 bytes), and what a callback tells.
 */
#ifndef MPCC_SUBFLOW_H
#define MPCC_SUBFLOW_H

#include "connection.h"

/*
 * The endpoint's fields that an algorithm reads. It writes `cwnd`, and `ssthresh` where it ends slow start by
 * itself. The last two are for those that Linux has by itself: its BPF program leaves them 0.
 */
struct mpcc_tcp {
	u32 cwnd; /* segments */
	u32 cwnd_clamp; /* segments: the largest window that the endpoint allows */
	u32 ssthresh; /* segments */
	u32 srtt8; /* smoothed RTT in eighths of a microsecond (tcp_sock.srtt_us); 0: no sample */
	u32 flight; /* segments in flight now, after the ACK being processed */
	u32 cwnd_limited; /* not 0: the window is what holds the sender back (tcp_is_cwnd_limited) */
	u32 rtt_us; /* the RTT sample of the ACK being processed, at least 1 µs; 0: it has none */
	u32 idle_ms; /* at MPCC_EVENT_TX_START: since the last transmission (tcp_sock.lsndtime) */
	u64 now; /* ns since any moment that stays the same; never goes back (tcp_sock.tcp_mstamp) */
};

/* An endpoint's congestion state, in Linux's numbers (enum tcp_ca_state). */
enum mpcc_state {
	MPCC_STATE_OPEN = 0,
	MPCC_STATE_DISORDER = 1,
	MPCC_STATE_CWR = 2,
	MPCC_STATE_RECOVERY = 3,
	MPCC_STATE_LOSS = 4,
};

/* What happens to a window besides ACKs, in Linux's numbers (enum tcp_ca_event). */
enum mpcc_event {
	MPCC_EVENT_TX_START = 0, /* the first transmission with nothing in flight */
	MPCC_EVENT_CWND_RESTART = 1, /* the window was reset after idling (RFC 5681, 4.1) */
};

/* What CUBIC keeps. An epoch: congestion avoidance between two reductions. */
struct mpcc_cubic {
	u64 epoch_start; /* ns, in the time of mpcc_tcp.now; good while running */
	u64 reno; /* W_est, the window that Reno would have, segments in Q40 */
	u32 k; /* K: from the epoch's start to where W(t) is flat, 1/1024 s */
	u32 origin; /* W(K), segments */
	u32 w_max; /* the window before the last reduction, segments; 0: none yet */
	u32 running; /* not 0: in an epoch */
};

/* What HyStart keeps. */
struct mpcc_hystart {
	u32 round_start; /* µs, wraps */
	u32 last_ack; /* the latest of the train, µs, wraps */
	u32 round_min; /* least RTT sample of this round, µs */
	u32 left : 24; /* segments to be acknowledged before the next round */
	u32 samples : 7; /* in this round, counted to MPCC_HYSTART_SAMPLES */
	u32 ended : 1; /* not 0: it ended slow start; it looks again after an RTO only */
};

/* What HyStart++ keeps. */
struct mpcc_hystartpp {
	u32 left; /* segments to be acknowledged before the next round */
	u32 last_min; /* least RTT sample of the last round, µs; 0: none, in all three */
	u32 round_min; /* of this round */
	u32 baseline; /* of this round when growth was slowed; not 0: it is slow */
	u8 samples; /* in this round, counted to MPCC_HYSTARTPP_SAMPLES */
	u8 rounds; /* completed while growth was slow */
	u8 over; /* not 0: past its initial slow start */
	u8 reserved;
};

/* What OLIA keeps. */
struct mpcc_olia {
	s64 change; /* for each acknowledged segment, Q40; good while */
	u32 epoch; /* the connection's windows are those of this epoch, */
	u32 left; /* and for this many more segments: about an RTT */
	u64 known; /* not 0: worked out at least once */
};

/* What wVegas keeps. */
struct mpcc_wvegas {
	u64 rtt_sum; /* of this round's RTT samples, µs */
	u32 samples; /* in this round */
	u32 acked; /* in this round, segments */
	u32 left; /* segments to be acknowledged before the next round */
	u32 alpha; /* the queue to keep, segments */
	u32 queue_least; /* least queueing delay of a round, µs; 0: none yet */
};

/* What CSS keeps. */
struct mpcc_css {
	u64 growth; /* α_i − 1, Q40 */
	u32 log_alpha; /* the log2 α' that it is for, Q32; else ~0 */
	u8 initial; /* not 0: in its initial slow start */
	u8 late; /* not 0: it joined when the others had left theirs */
	u16 reserved;
};

/* What NMCC's slow start keeps. */
struct mpcc_nmcc {
	u32 reference; /* the window that TCP alone would have had when the round started, Q8; 0: none yet */
	u32 ratio; /* of that to the window, Q20 */
	u32 acked; /* segments in this round */
	u32 srtt8; /* RTT since the last RTO, eighths of a microsecond, or MPCC_NMCC_; 0: there was no RTO */
	u32 seen; /* the endpoint's RTT at its last sample, since the last RTO */
};

/* Private to the subflow: nobody else reads or writes it. All zero before init. */
struct mpcc_subflow {
	u64 growth; /* fraction of a segment that the window has grown by, Q40 */
	union { /* of congestion avoidance; all zero suits each */
		struct { /* LIA, Balia, NMCC */
			u64 increase; /* for each acknowledged segment, Q40; good while */
			u32 increase_epoch; /* the connection's windows are those of this epoch */
			u32 increase_left; /* and for this many more segments: about an RTT */
			u32 m2; /* NMCC's m², Q20 */
		};
		struct mpcc_cubic cubic;
		struct mpcc_olia olia;
		struct mpcc_wvegas wvegas;
	};
	union { /* of slow start; all zero suits each */
		struct { /* CUBIC brings HyStart along */
			struct mpcc_css css;
			struct mpcc_hystart hystart;
		};
		struct mpcc_hystartpp hystartpp;
		struct mpcc_nmcc nmcc;
	};
	u32 ignore; /* acknowledged segments that shall not grow the window (LISA) */
	u32 rtt_min; /* least RTT sample, µs; 0: none yet (CUBIC, HyStart, wVegas) */
	u32 cwnd_before_loss; /* segments, for undo */
	u8 ready; /* init has run */
	u8 slot; /* in the connection, or MPCC_NO_SLOT */
	u8 group;
	u8 state; /* enum mpcc_state */
};

_Static_assert(sizeof(struct mpcc_tcp) == 40 && sizeof(struct mpcc_subflow) == 88, "no padding");

/* What a callback did that is worth telling; `what` is 0 nearly always. */
struct mpcc_note {
	u32 what; /* MPCC_NOTE_ bits */
	u16 settled; /* bit i: the credit that the subflow in slot i had taken here was paid */
	u16 voided; /* bit i: it was not, and will not be */
	u32 credit; /* segments taken, or paid */
	u32 ignored; /* settled: acknowledged segments that will not grow the window */
	u32 sum_before; /* settled: Σ cwnd of the group without the initial windows that the credits made */
	u32 sum_after; /* settled: Σ cwnd of the group with them, and without what was paid */
	u32 rest; /* acknowledged segments that Linux's own congestion avoidance is to grow the window by */
};

#define MPCC_NOTE_TAKEN   (1U << 0) /* this new subflow took a credit */
#define MPCC_NOTE_SETTLED (1U << 1) /* this subflow paid what was taken from it */
#define MPCC_NOTE_VOID                                                                             \
	(1U << 2) /* it did not: it left slow start or its group, restarted or closed */
#define MPCC_NOTE_WITHDRAWN                                                                        \
	(1U << 3) /* this subflow closed or left the group before its lender paid */
#define MPCC_NOTE_LEFT_SLOW_START (1U << 4)
#define MPCC_NOTE_LOSS            (1U << 5)
#define MPCC_NOTE_MOVED           (1U << 6) /* to the group that was asked for */

MPCC_INLINE bool mpcc_in_slow_start(const struct mpcc_tcp *tcp)
{
	return tcp->cwnd < tcp->ssthresh;
}

/* The subflow's own slot, or NULL for one that runs alone. */
MPCC_INLINE struct mpcc_slot *mpcc_own_slot(struct mpcc_connection *c, const struct mpcc_subflow *s)
{
	struct mpcc_slot *slot = NULL;

	if (c && s->slot != MPCC_NO_SLOT)
		slot = &c->slot[MPCC_SLOT(s->slot)];
	MPCC_OPAQUE(slot);
	return slot;
}

/* The window as the others see it. */
MPCC_INLINE u32 mpcc_shown_cwnd(const struct mpcc_tcp *tcp)
{
	return mpcc_min(tcp->cwnd, MPCC_CWND_MAX);
}

/* Shows the others where this subflow stands, with this RTT. */
MPCC_INLINE void mpcc_publish(struct mpcc_connection *c, const struct mpcc_subflow *s,
			      const struct mpcc_tcp *tcp, bool slow_start, u32 srtt8)
{
	struct mpcc_slot *slot = mpcc_own_slot(c, s);
	u32 cwnd = mpcc_shown_cwnd(tcp);
	u8 phase = s->state >= MPCC_STATE_CWR ? MPCC_RECOVERY :
		   slow_start                 ? MPCC_SLOW_START :
						MPCC_AVOIDANCE;

	if (!slot)
		return;
	if (MPCC_READ(slot->account.cwnd) != cwnd) {
		MPCC_WRITE(slot->account.cwnd, cwnd);
		mpcc_next_epoch(c, s->group);
	}
	MPCC_WRITE(slot->srtt8, mpcc_min(srtt8, MPCC_SRTT8_MAX));
	MPCC_WRITE(slot->flight, tcp->flight);
	MPCC_WRITE(slot->ssthresh, tcp->ssthresh);
	MPCC_WRITE(slot->group, s->group);
	MPCC_WRITE(slot->phase, phase);
}

/* Takes note of an ACK's RTT sample. */
MPCC_INLINE void mpcc_sample(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	if (tcp->rtt_us && (!s->rtt_min || tcp->rtt_us < s->rtt_min))
		s->rtt_min = tcp->rtt_us;
}

/* Grows the window by `acked` times `increase` (Q40), keeping what is less than a segment. */
MPCC_INLINE void mpcc_grow(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u64 increase, u32 acked)
{
	u64 growth = s->growth + increase * mpcc_min(acked, MPCC_CWND_MAX);
	u32 whole = growth >> MPCC_ONE_SHIFT;

	s->growth = growth & (MPCC_ONE - 1);
	if (tcp->cwnd < tcp->cwnd_clamp)
		tcp->cwnd = mpcc_min(tcp->cwnd + whole, tcp->cwnd_clamp);
}

#endif
