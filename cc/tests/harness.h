/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A test harness for the algorithms: one connection, its subflows, and the next callback as data. Native code
 * and the kernel's BPF machine run the same harness, and tests compare the results byte by byte.
 */
#ifndef MPCC_HARNESS_H
#define MPCC_HARNESS_H

#include "callbacks.h"

#define MPCC_HARNESS_SUBFLOWS 32 /* more than there are slots; a power of two */

enum mpcc_operation {
	MPCC_DO_INIT, /* argument: not 0 for a fresh subflow */
	MPCC_DO_ACK, /* argument: acknowledged segments */
	MPCC_DO_SSTHRESH,
	MPCC_DO_UNDO,
	MPCC_DO_STATE, /* argument: enum mpcc_state */
	MPCC_DO_EVENT, /* argument: enum mpcc_event */
	MPCC_DO_RELEASE,
	MPCC_DO_REQUEST, /* of the group in `group` */
};

struct mpcc_harness {
	struct mpcc_connection connection;
	struct mpcc_subflow subflow[MPCC_HARNESS_SUBFLOWS];
	struct mpcc_tcp tcp[MPCC_HARNESS_SUBFLOWS];
	struct mpcc_note note; /* of the last callback */
	u32 result; /* of the last callback: ssthresh, restored window, last subflow, request accepted */
	/* Of the endpoint: the threshold to restore by an undo (tcp_sock.prior_ssthresh); 0: there is no reduction to undo. */
	u32 prior_ssthresh[MPCC_HARNESS_SUBFLOWS];

	/* The next callback. */
	u32 operation; /* enum mpcc_operation */
	u32 argument;
	u32 who; /* index into subflow and tcp */
	u32 group; /* for init and request */
	struct mpcc_pair pair;
	u16 alone; /* not 0: the connection had no room, as with plain TCP */
};

/* One callback of a subflow, by its number. Returns its result. */
MPCC_INLINE u32 mpcc_harness_call(struct mpcc_pair pair, struct mpcc_connection *c,
				  struct mpcc_subflow *s, struct mpcc_tcp *tcp, u32 operation,
				  u32 argument, u32 group, struct mpcc_note *note)
{
	struct mpcc_slot *slot;

	switch (operation) {
	case MPCC_DO_INIT:
		__builtin_memset(s, 0, sizeof(*s));
		s->group = group;
		s->slot = c ? mpcc_attach(c, 0) : MPCC_NO_SLOT;
		mpcc_init(pair, c, s, tcp, argument, note);
		break;
	case MPCC_DO_ACK:
		mpcc_on_ack(pair, c, s, tcp, argument, note);
		break;
	case MPCC_DO_SSTHRESH:
		return mpcc_ssthresh(pair, c, s, tcp, note);
	case MPCC_DO_UNDO:
		return mpcc_undo(s, tcp);
	case MPCC_DO_RELEASE:
		return mpcc_release(pair, c, s, note);
	case MPCC_DO_STATE:
		mpcc_set_state(pair, c, s, tcp, argument, note);
		break;
	case MPCC_DO_EVENT:
		mpcc_cwnd_event(pair, c, s, tcp, argument, note);
		break;
	case MPCC_DO_REQUEST:
		slot = mpcc_own_slot(c, s);
		if (slot && s->ready)
			return mpcc_request_group(c, s->slot, slot->request.generation, group);
		break;
	}
	return 0;
}

/* Runs the next callback. `pair` is separate, so that it can be a constant for the verifier. */
MPCC_INLINE void mpcc_harness_step(struct mpcc_harness *h, struct mpcc_pair pair)
{
	u32 who = h->who & (MPCC_HARNESS_SUBFLOWS - 1);
	struct mpcc_connection *c = h->alone ? NULL : &h->connection;
	struct mpcc_tcp tcp = h->tcp[who];
	struct mpcc_note note = {};

	MPCC_OPAQUE(c); /* else the compiler tests `alone` in place of `c` */
	h->result = mpcc_harness_call(pair, c, &h->subflow[who], &tcp, h->operation, h->argument,
				      h->group, &note);
	h->tcp[who] = tcp;
	h->note = note;
}

#endif
