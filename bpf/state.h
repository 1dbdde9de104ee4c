/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State shared by the callbacks: settings, a socket's private state, and the fields of struct tcp_sock that cc/ reads and
 * writes.
 */
#ifndef LISA_STATE_H
#define LISA_STATE_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#define MPCC_LINUX_CUBIC /* in cc/: the kernel has its own CUBIC and HyStart */
#include "contract.h"

/* Set before the object is loaded. */
const volatile struct lisa_settings settings;

/* Set before the object is loaded, and whenever the settings change. */
struct lisa_limits limits SEC(".data.limits");

/* 1: coupling is switched off; 0: on. Written by `lisa kernel off` and `on`. */
u32 uncoupled SEC(".data.switch");

/* The private state of sockets whose icsk_ca_priv holds that of Linux's CUBIC. The kernel frees it with the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lisa_socket);
} sockets SEC(".maps");

#define PAIR ((struct mpcc_pair){ settings.pair.slow_start, settings.pair.avoidance })

/*
 * Whether Linux's own CUBIC follows slow start (cubic.h). A constant for the verifier, as the pair is: where it is false, the kernel
 * need not have the functions of CUBIC.
 */
#define OVER_CUBIC (settings.pair.avoidance == MPCC_AVOIDANCE_cubic)

static __always_inline struct tcp_sock *tcp_of(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

/* Private state of a socket. NULL (over CUBIC only) if there was no memory for it: the socket then runs CUBIC alone. */
static __always_inline struct lisa_socket *private_of(struct sock *sk)
{
	if (OVER_CUBIC)
		return bpf_sk_storage_get(&sockets, sk, NULL, 0);
	return (struct lisa_socket *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* Whether the window limits the sender (tcp_is_cwnd_limited). In slow start it may grow to twice its largest flight. */
static __always_inline bool cwnd_limited(struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Segments in flight (tcp_packets_in_flight). */
static __always_inline u32 flight_of(struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

extern void *bpf_rdonly_cast(const void *object, u32 type) __ksym __weak; /* Linux 6.2 */

/*
 * Whether the subflow is a backup, by its own endpoint's flag or by the peer's: mptcp_subflow_get_send treats both alike. 0 while
 * anything is in flight, when cc/ does not need it. `flight` and the result are hidden from the verifier, which would otherwise
 * verify the rest of the callback once for each case.
 *
 * The kernel replaces bpf_rdonly_cast by nothing. Three calls of bpf_probe_read_kernel took 50 ns of the 300 of an ACK.
 */
static __always_inline u8 is_backup(struct tcp_sock *tp, u32 flight)
{
	struct mptcp_subflow_context *subflow;
	u64 result = 0;

	MPCC_UNKNOWN(flight);
	if (!flight && tp->is_mptcp) {
		subflow = ((struct inet_connection_sock *)tp)->icsk_ulp_data;
		if (bpf_ksym_exists(bpf_rdonly_cast)) {
			subflow = bpf_rdonly_cast(
				subflow, bpf_core_type_id_kernel(struct mptcp_subflow_context));
			result = BPF_CORE_READ_BITFIELD(subflow, backup) |
				 BPF_CORE_READ_BITFIELD(subflow, request_bkup);
		} else {
			result = BPF_CORE_READ_BITFIELD_PROBED(subflow, backup) |
				 BPF_CORE_READ_BITFIELD_PROBED(subflow, request_bkup);
		}
	}
	MPCC_UNKNOWN(result);
	return result;
}

/*
 * The endpoint's fields. RACK stores the RTT of the most recently sent segment that the ACK acknowledges. Linux itself passes the
 * same sample to congestion control (ack_sample.rtt_us). An ACK that may answer a retransmission does not change RACK's RTT.
 * `backup` is 0: the callbacks that publish set it.
 */
static __always_inline struct mpcc_tcp fetch(struct sock *sk)
{
	struct tcp_sock *tp = tcp_of(sk);

	return (struct mpcc_tcp){
		.cwnd = tp->snd_cwnd,
		.cwnd_clamp = tp->snd_cwnd_clamp,
		.ssthresh = tp->snd_ssthresh,
		.srtt8 = tp->srtt_us,
		.flight = flight_of(tp),
		.cwnd_limited = cwnd_limited(tp),
		.paced = sk->sk_pacing_status,
		.rtt_us = tp->rack.rtt_us,
		.now = tp->tcp_mstamp * 1000,
		.uncoupled = MPCC_READ(uncoupled),
	};
}

/* Time since the last transmission, milliseconds (tcp_jiffies32 - lsndtime). */
static __always_inline u32 idle_ms(struct tcp_sock *tp)
{
	u32 jiffies = (u32)bpf_jiffies64() - tp->lsndtime;

	return (u64)jiffies * 1000 / (settings.hz ? settings.hz : 1000);
}

static __always_inline void store(struct tcp_sock *tp, const struct mpcc_tcp *tcp)
{
	if (tp->snd_cwnd != tcp->cwnd)
		tp->snd_cwnd = tcp->cwnd;
	if (tp->snd_ssthresh != tcp->ssthresh)
		tp->snd_ssthresh = tcp->ssthresh;
}

#endif
