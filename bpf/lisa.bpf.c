// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The algorithms of cc/ as a Linux congestion control (tcp_congestion_ops by struct_ops).
 *
 * Each callback fetches the endpoint's fields, calls cc/ and writes the window back. Callbacks of one
 * socket never run at the same time. Those of two subflows of one connection do, and meet in the connection's entry in
 * the map `connections`, as cc/connection.h describes.
 *
 * Subflows for which there is no room run alone. A socket without MPTCP gets the algorithm that it would have without this
 * one (plain.h). An MPTCP connection that falls back to TCP later runs alone.
 */
#include "state.h"
#include "entries.h"
#include "events.h"
#include "cubic.h"
#include "plain.h"
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("struct_ops")
void BPF_PROG(lisa_init, struct sock *sk)
{
	struct lisa_connection *connection = NULL;
	struct tcp_sock *tp = tcp_of(sk);
	bool fresh = tp->data_segs_out == 0, mptcp = has_mptcp(sk);
	struct sock *mptcp_sock = NULL;
	struct lisa_socket *private;
	struct mpcc_note note = {};
	struct lisa_key key = {};
	u8 slot = MPCC_NO_SLOT;
	struct mpcc_tcp tcp;

	/*
	 * MPTCP resets a join that it cannot finish before the kernel calls `init` (subflow_finish_connect in tcp_finish_connect). The
	 * socket may be destroyed already, and then `release` never follows.
	 */
	if (sk->__sk_common.skc_state == TCP_CLOSE)
		return;
	add_namespace(sk);
	if (!mptcp && !settings.keeps_plain) {
		/* The other algorithm's `init` runs inside. So does `release` on kernels that call it without an `init` before. */
		if (return_plain(sk)) {
			COUNT(sk, plain_returned);
			return;
		}
		COUNT(sk, plain_refused);
	}
	if (OVER_CUBIC) {
		cubictcp_init(sk);
		bpf_sk_storage_get(&sockets, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	}
	private = private_of(sk);
	if (!private)
		return;
	/* After cubictcp_init, which may set ssthresh (tcp_cubic.initial_ssthresh). */
	tcp = fetch(sk);
	tcp.backup = is_backup(tp, tcp.flight);
	if (mptcp)
		mptcp_sock = identify(sk, &key);
	if (mptcp_sock) {
		connection = attach(sk, mptcp_sock, &key, is_join(sk), &slot);
		COUNT(sk, subflows_opened);
	} else {
		COUNT(sk, plain_opened);
	}
	__builtin_memset(private, 0, sizeof(*private));
	private->key = key;
	private->subflow.slot = slot;
	/* A socket that changes its algorithm may be in loss recovery. */
	private->subflow.state =
		BPF_CORE_READ_BITFIELD((struct inet_connection_sock *)sk, icsk_ca_state);
	if (!connection) {
		mpcc_init(PAIR, NULL, &private->subflow, &tcp, fresh, &note);
		store(tp, &tcp);
		return;
	}
	record_addresses(sk, &key, slot);
	mpcc_init(PAIR, &connection->coupled, &private->subflow, &tcp, fresh, &note);
	store(tp, &tcp);
	if (note.what & MPCC_NOTE_TAKEN)
		COUNT(sk, credits_taken);
	emit_start(sk, private, &connection->coupled);
}

SEC("struct_ops")
void BPF_PROG(lisa_cong_avoid, struct sock *sk, u32 ack, u32 acked)
{
	struct lisa_socket *private = private_of(sk);
	struct tcp_sock *tp = tcp_of(sk);
	struct mpcc_note note = {};
	struct mpcc_connection *c;
	struct mpcc_tcp tcp;

	if (!private) {
		if (OVER_CUBIC) {
			sample_cubic(sk, acked);
			cubictcp_cong_avoid(sk, ack, acked);
		}
		return;
	}
	c = connection_of(private);
	if (OVER_CUBIC && !mpcc_has_no_room(&private->subflow)) {
		if (tp->snd_cwnd < tp->snd_ssthresh)
			sample_cubic_in_slow_start(sk, c, &private->subflow, acked, &note);
		else
			sample_cubic(sk, acked);
	}
	tcp = fetch(sk);
	tcp.backup = is_backup(tp, tcp.flight);
	mpcc_on_ack(PAIR, c, &private->subflow, &tcp, acked, &note);
	store(tp, &tcp);
	if (OVER_CUBIC && note.rest) {
		cubictcp_cong_avoid(sk, ack, note.rest);
		tcp.cwnd = tp->snd_cwnd;
		mpcc_publish_change(PAIR, c, &private->subflow, &tcp);
	}
	report(sk, private, c, &note);
	emit(sk, private, c, LISA_EVENT_ACK);
}

SEC("struct_ops")
u32 BPF_PROG(lisa_ssthresh, struct sock *sk)
{
	struct lisa_socket *private = private_of(sk);
	struct mpcc_tcp tcp = fetch(sk);
	struct mpcc_note note = {};
	struct mpcc_connection *c;
	u32 ssthresh = 0;

	if (OVER_CUBIC)
		ssthresh = cubictcp_recalc_ssthresh(sk);
	if (!private)
		return ssthresh;
	c = connection_of(private);
	if (OVER_CUBIC)
		mpcc_ssthresh(PAIR, c, &private->subflow, &tcp, &note);
	else
		ssthresh = mpcc_ssthresh(PAIR, c, &private->subflow, &tcp, &note);
	report(sk, private, c, &note);
	emit_loss(sk, private, c, ssthresh);
	return ssthresh;
}

SEC("struct_ops")
u32 BPF_PROG(lisa_undo_cwnd, struct sock *sk)
{
	struct lisa_socket *private = private_of(sk);
	struct mpcc_tcp tcp = fetch(sk);
	u32 cwnd = 0;

	if (private)
		cwnd = mpcc_undo(&private->subflow, &tcp);
	return OVER_CUBIC ? tcp_reno_undo_cwnd(sk) : cwnd;
}

SEC("struct_ops")
void BPF_PROG(lisa_set_state, struct sock *sk, u8 state)
{
	struct lisa_socket *private = private_of(sk);
	struct mpcc_tcp tcp = fetch(sk);
	struct mpcc_note note = {};
	struct mpcc_connection *c;

	if (OVER_CUBIC)
		cubictcp_state(sk, state);
	if (!private || !private->subflow.ready)
		return;
	c = connection_of(private);
	tcp.backup = is_backup(tcp_of(sk), tcp.flight);
	mpcc_set_state(PAIR, c, &private->subflow, &tcp, state, &note);
	report(sk, private, c, &note);
}

static __always_inline void cwnd_event(struct sock *sk, u32 what)
{
	struct lisa_socket *private = private_of(sk);
	struct mpcc_note note = {};
	struct mpcc_connection *c;
	struct mpcc_tcp tcp;

	if (!private || !private->subflow.ready)
		return;
	c = connection_of(private);
	tcp = fetch(sk);
	tcp.idle_ms = idle_ms(tcp_of(sk));
	mpcc_cwnd_event(PAIR, c, &private->subflow, &tcp, what, &note);
	store(tcp_of(sk), &tcp);
	report(sk, private, c, &note);
}

SEC("struct_ops")
void BPF_PROG(lisa_cwnd_event, struct sock *sk, u32 what)
{
	if (OVER_CUBIC && !HAS_TX_START)
		cubictcp_cwnd_event(sk, what);
	if (what == MPCC_EVENT_TX_START || what == MPCC_EVENT_CWND_RESTART)
		cwnd_event(sk, what);
}

/* Not loaded before Linux 7.1. The kernel keeps 15 characters of a program's name. */
SEC("struct_ops")
void BPF_PROG(lisa_tx_start, struct sock *sk)
{
	if (OVER_CUBIC)
		cubictcp_cwnd_event_tx_start(sk);
	cwnd_event(sk, MPCC_EVENT_TX_START);
}

SEC("struct_ops")
void BPF_PROG(lisa_release, struct sock *sk)
{
	struct lisa_socket *private = private_of(sk);
	struct mpcc_note note = {};
	struct mpcc_connection *c;
	struct lisa_subflow_key key;

	if (!private || !private->subflow.ready)
		return;
	__builtin_memset(&key, 0, sizeof(key));
	key.connection = private->key;
	key.slot = private->subflow.slot;
	if (key.connection.token || key.connection.socket)
		COUNT(sk, subflows_closed);
	else
		COUNT(sk, plain_closed);
	c = connection_of(private);
	emit(sk, private, c, LISA_EVENT_CLOSE);
	if (c) {
		bool last;

		check_deletion(sk, bpf_map_delete_elem(&subflows, &key));
		last = mpcc_release(PAIR, c, &private->subflow, &note);
		report(sk, private, c, &note);
		if (last)
			delete_connection(sk, &key.connection);
	}
	private->subflow.ready = false;
	if (OVER_CUBIC)
		check_deletion(sk, bpf_sk_storage_delete(&sockets, sk));
}

/* The name is set before it is loaded. */
SEC(".struct_ops")
struct tcp_congestion_ops lisa = {
	.init = (void *)lisa_init,
	.cong_avoid = (void *)lisa_cong_avoid,
	.ssthresh = (void *)lisa_ssthresh,
	.undo_cwnd = (void *)lisa_undo_cwnd,
	.set_state = (void *)lisa_set_state,
	.cwnd_event = (void *)lisa_cwnd_event,
	.cwnd_event_tx_start = (void *)lisa_tx_start,
	.release = (void *)lisa_release,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "lisa",
};
