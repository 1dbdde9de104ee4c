/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bridge to Linux's own CUBIC (net/ipv4/tcp_cubic.c), which follows the slow start of pairs with `cubic`. HyStart is a part of
 * it. Its state, struct bictcp, is in icsk_ca_priv.
 */
#ifndef LISA_CUBIC_H
#define LISA_CUBIC_H

#include "state.h"

extern void cubictcp_init(struct sock *sk) __ksym __weak;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) __ksym __weak;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) __ksym __weak;
extern void cubictcp_state(struct sock *sk, u8 new_state) __ksym __weak;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
extern void cubictcp_cwnd_event_tx_start(struct sock *sk) __ksym __weak;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym __weak;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) __ksym __weak;

/* Since Linux 7.1 CA_EVENT_TX_START has a callback of its own, and CUBIC has only that one. */
#define HAS_TX_START bpf_core_field_exists(struct tcp_congestion_ops, cwnd_event_tx_start)

/*
 * Passes an ACK's sample to CUBIC, before the ACK may grow the window. Linux does this in pkts_acked; that callback would look up
 * the socket and its connection a second time. Samples of ACKs that acknowledge nothing new, and of ACKs during a reduction, are
 * therefore missing: HyStart is over by then, and CUBIC itself discards samples for a second after a reduction. Without SACK there
 * is no RACK, and the smoothed RTT replaces the sample.
 */
static __always_inline void sample_cubic(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct ack_sample sample = {
		.pkts_acked = acked,
		.rtt_us = tp->rack.rtt_us ? tp->rack.rtt_us : tp->srtt_us >> 3,
	};

	if (sample.rtt_us)
		cubictcp_acked(sk, &sample);
}

/* The same in slow start, which HyStart may end. Debits are settled before, because the exit would make them void. */
static __always_inline void sample_cubic_in_slow_start(struct sock *sk, struct mpcc_connection *c,
						       struct mpcc_subflow *s, u32 acked,
						       struct mpcc_note *note)
{
	struct tcp_sock *tp = tcp_of(sk);
	struct mpcc_tcp tcp = fetch(sk);

	mpcc_settle(PAIR, c, s, &tcp, tcp.flight + acked, note);
	store(tp, &tcp);
	sample_cubic(sk, acked);
	if (mpcc_replaces_hystart(PAIR))
		store(tp, &tcp); /* undoes HyStart's exit */
	else if (tp->snd_cwnd >= tp->snd_ssthresh)
		mpcc_exit_slow_start(PAIR, c, s, note);
}

#endif
