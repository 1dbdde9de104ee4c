/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stages of an algorithm. A slow start and a congestion avoidance each define the stages that they need and leave the others
 * NULL, as Linux's struct tcp_congestion_ops does. callbacks.h calls them; an ACK passes through
 *
 *     sample → exit → grow → avoid
 *
 * `c` is NULL, and mpcc_own_slot(c, s) with it, for a subflow that runs alone.
 */
#ifndef MPCC_STAGES_H
#define MPCC_STAGES_H

#include "group.h"

/* A setting of a slow start or a congestion avoidance. Its value is in mpcc_connection.setting. */
struct mpcc_setting {
	const char *
		name; /* as in `lisa kernel load --set NAME=VALUE` and in scenarios; NULL: no setting */
	const char *unit;
	u32 min; /* smallest value */
	u32 max; /* largest value */
	u32 standard; /* value if none is given */
	const char *about;
};

#define MPCC_SETTINGS_EACH (MPCC_SETTINGS / 2)

/* The value of setting i of the connection's slow start, or of its congestion avoidance. */
#define mpcc_slow_start_setting(c, i) MPCC_READ((c)->setting[i])
#define mpcc_avoidance_setting(c, i)  MPCC_READ((c)->setting[MPCC_SETTINGS_EACH + (i)])

struct mpcc_slow_start_ops {
	const char *name;
	struct mpcc_setting setting[MPCC_SETTINGS_EACH];
	/* Ends slow start by its own rule for RTT samples: CUBIC's HyStart is off. */
	bool replaces_hystart;
	/* `grow` expects acknowledged segments, also from an endpoint that counts ACKs. */
	bool counts_bytes;

	/* A subflow starts. `fresh`: it has sent nothing yet, so this stage decides its initial window. */
	void (*init)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,
		     bool fresh, struct mpcc_note *note);
	/* The subflow enters s->group, from another group or from standby. Its slot is in no group meanwhile. */
	void (*move)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,
		     struct mpcc_note *note);
	/* Whether an ACK grows the window as in slow start. Default: cwnd < ssthresh. */
	bool (*active)(const struct mpcc_subflow *s, const struct mpcc_tcp *tcp);
	/* The RTT to publish, eighths of a microsecond; 0: none. Default: tcp->srtt8. */
	u32 (*srtt8)(const struct mpcc_subflow *s, const struct mpcc_tcp *tcp);
	/* Settles this subflow's debits. `flight`: segments in flight before the ACK being processed. */
	void (*settle)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,
		       u32 flight, struct mpcc_note *note);

	/* Every ACK. True if the published state must be refreshed before the other stages. */
	bool (*sample)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,
		       u32 acked);
	/* In slow start: may end it by setting ssthresh. */
	void (*exit)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,
		     u32 acked);
	/* In slow start, whether or not the window limits the sender: how many of `acked` segments count for growth. */
	u32 (*count)(struct mpcc_connection *c, struct mpcc_subflow *s, u32 acked);
	/*
	 * In slow start, where the window limits the sender: grows it. Returns the acknowledged segments left for congestion
	 * avoidance. Required.
	 */
	u32 (*grow)(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked);

	/* Slow start is over, with or without a loss. */
	void (*ended)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_note *note);
	/* A loss, a congestion signal or an RTO; after `ended`. */
	void (*loss)(struct mpcc_subflow *s);
	/* The congestion state changes from s->state to `state` (enum mpcc_state). */
	void (*set_state)(struct mpcc_connection *c, struct mpcc_subflow *s,
			  const struct mpcc_tcp *tcp, u8 state, struct mpcc_note *note);
	/*
	 * Recovery or CWR ends. Slow start goes on if the endpoint has undone the reduction. The ACKs since its begin did not reach the
	 * algorithm (tcp_cong_control).
	 */
	void (*resume)(struct mpcc_connection *c, struct mpcc_subflow *s,
		       const struct mpcc_tcp *tcp);
	/* The window was reset after an idle time. */
	void (*restart)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_note *note);
	/* The first transmission with nothing in flight. */
	void (*tx_start)(struct mpcc_connection *c, struct mpcc_subflow *s,
			 const struct mpcc_tcp *tcp);
	/* The subflow closes; its slot is absent already. */
	void (*release)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_note *note);
};

struct mpcc_avoidance_ops {
	const char *name;
	struct mpcc_setting setting[MPCC_SETTINGS_EACH];

	/* A subflow starts. */
	void (*init)(struct mpcc_subflow *s, const struct mpcc_tcp *tcp);
	/* The subflow enters s->group, from another group or from standby. */
	void (*move)(struct mpcc_subflow *s);
	/* Publishes the values that other subflows read in addition to window and RTT. */
	void (*publish)(struct mpcc_connection *c, const struct mpcc_subflow *s,
			const struct mpcc_tcp *tcp, bool slow_start);

	/* Every ACK, before debits are settled and before anything grows. */
	void (*sample)(struct mpcc_connection *c, struct mpcc_subflow *s,
		       const struct mpcc_tcp *tcp, u32 acked);
	/* Slow start begins: a subflow starts, or has an RTO. Not called if the slow start replaces HyStart. */
	void (*begin)(struct mpcc_subflow *s, const struct mpcc_tcp *tcp);
	/* As the slow start's. Not called if the slow start replaces HyStart. */
	void (*resume)(struct mpcc_subflow *s);
	/* In slow start: may end it by setting ssthresh. Not called if the slow start replaces HyStart. */
	void (*exit)(struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 acked);
	/*
	 * Every ACK of a delay-based algorithm, whether or not the window limits the sender: changes the window. Returns the
	 * acknowledged segments that still grow it.
	 */
	u32 (*adjust)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,
		      u32 acked);
	/* In congestion avoidance, where the window limits the sender: grows it. Required. */
	void (*avoid)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,
		      u32 acked, struct mpcc_note *note);

	/* A loss, a congestion signal or an RTO: the threshold to reduce to, segments. Default: Reno's. */
	u32 (*ssthresh)(struct mpcc_connection *c, struct mpcc_subflow *s,
			const struct mpcc_tcp *tcp);
	/* The congestion state changes from s->state to `state` (enum mpcc_state). */
	void (*set_state)(struct mpcc_subflow *s, const struct mpcc_tcp *tcp, u8 state);
	/* The window was reset after an idle time. */
	void (*restart)(struct mpcc_subflow *s, const struct mpcc_tcp *tcp);
	/* The first transmission with nothing in flight. */
	void (*tx_start)(struct mpcc_subflow *s, const struct mpcc_tcp *tcp);
};

#endif
