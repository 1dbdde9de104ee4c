/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bench to put the algorithms on: one connection, its subflows, and the next callback as data. Native code
 * and the kernel's BPF machine run the same benches and are compared byte by byte.
 */
#ifndef MPCC_BENCH_H
#define MPCC_BENCH_H

#include "algorithm.h"

#define MPCC_BENCH_SUBFLOWS 32 /* more than there are slots; a power of two */

enum mpcc_operation {
	MPCC_DO_INIT, /* argument: not 0 for a fresh subflow */
	MPCC_DO_ACK, /* argument: acknowledged segments */
	MPCC_DO_SSTHRESH,
	MPCC_DO_UNDO,
	MPCC_DO_STATE, /* argument: enum mpcc_state */
	MPCC_DO_EVENT, /* argument: enum mpcc_event */
	MPCC_DO_RELEASE,
	MPCC_DO_ASK, /* for the group in `group` */
};

struct mpcc_bench {
	struct mpcc_connection connection;
	struct mpcc_subflow subflow[MPCC_BENCH_SUBFLOWS];
	struct mpcc_tcp tcp[MPCC_BENCH_SUBFLOWS];
	struct mpcc_note note; /* of the last callback */
	u32 result; /* of the last callback: ssthresh, undone window, last to leave, asked */

	/* The next callback. */
	u32 operation; /* enum mpcc_operation */
	u32 argument;
	u32 who; /* index into subflow and tcp */
	u32 group; /* for init, and to be asked for */
	struct mpcc_pair pair;
	u16 alone; /* not 0: the connection had no room, as with plain TCP */
};

/* `pair` is the bench's own; where the verifier shall know it, it comes from where it is a constant. */
MPCC_INLINE void mpcc_bench_step(struct mpcc_bench *b, struct mpcc_pair pair)
{
	u32 who = b->who & (MPCC_BENCH_SUBFLOWS - 1);
	struct mpcc_connection *c = b->alone ? NULL : &b->connection;
	struct mpcc_subflow *s = &b->subflow[who];
	struct mpcc_tcp tcp = b->tcp[who];
	struct mpcc_note note = {};
	struct mpcc_slot *slot;
	u32 result = 0;

	switch (b->operation) {
	case MPCC_DO_INIT:
		__builtin_memset(s, 0, sizeof(*s));
		s->group = b->group;
		s->slot = c ? mpcc_enter(c, 0) : MPCC_NO_SLOT;
		mpcc_init(pair, c, s, &tcp, b->argument, &note);
		break;
	case MPCC_DO_ACK:
		mpcc_on_ack(pair, c, s, &tcp, b->argument, &note);
		break;
	case MPCC_DO_SSTHRESH:
		result = mpcc_ssthresh(pair, c, s, &tcp, &note);
		break;
	case MPCC_DO_UNDO:
		result = mpcc_undo(s, &tcp);
		break;
	case MPCC_DO_STATE:
		mpcc_set_state(pair, c, s, &tcp, b->argument, &note);
		break;
	case MPCC_DO_EVENT:
		mpcc_cwnd_event(pair, c, s, &tcp, b->argument, &note);
		break;
	case MPCC_DO_RELEASE:
		result = mpcc_release(pair, c, s, &note);
		break;
	case MPCC_DO_ASK:
		slot = mpcc_own_slot(c, s);
		if (slot && s->ready)
			result = mpcc_ask_group(c, s->slot, slot->wish.serial, b->group);
		break;
	}
	b->tcp[who] = tcp;
	b->note = note;
	b->result = result;
}

#endif
