// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cc/ has inline functions only: here are those that Rust calls, with a symbol each. */
#include "algorithm.h"
#include "tests/bench.h"

struct mpcc_algorithm {
	const char *name;
	const char *about;
	struct mpcc_pair pair;
	bool in_linux;
	/* mpcc_on_ack for this pair: the one callback that counts for speed does without the branches of the others. */
	void (*on_ack)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,
		       unsigned int acked, struct mpcc_note *note);
};

#define NAME(constant, name) name,
const char *const mpcc_slow_start_names[] = { MPCC_SLOW_STARTS(NAME) };
const char *const mpcc_avoidance_names[] = { MPCC_AVOIDANCES(NAME) };

#define ON_ACK(name, slow_start, avoidance, in_linux, about)                                       \
	static void on_ack_##slow_start##_##avoidance(                                             \
		struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,           \
		unsigned int acked, struct mpcc_note *note)                                        \
	{                                                                                          \
		mpcc_on_ack((struct mpcc_pair){ slow_start, avoidance }, c, s, tcp, acked, note);  \
	}
MPCC_ALGORITHMS(ON_ACK)

#define ROW(name, slow_start, avoidance, in_linux, about)                                          \
	{ name, about, { slow_start, avoidance }, in_linux, on_ack_##slow_start##_##avoidance },
const struct mpcc_algorithm mpcc_algorithms[] = { MPCC_ALGORITHMS(ROW){ 0 } };

unsigned char mpcc_native_enter(struct mpcc_connection *c, unsigned int mark)
{
	return mpcc_enter(c, mark);
}

void mpcc_native_init(struct mpcc_pair pair, struct mpcc_connection *c, struct mpcc_subflow *s,
		      struct mpcc_tcp *tcp, bool fresh, struct mpcc_note *note)
{
	mpcc_init(pair, c, s, tcp, fresh, note);
}

unsigned int mpcc_native_ssthresh(struct mpcc_pair pair, struct mpcc_connection *c,
				  struct mpcc_subflow *s, struct mpcc_tcp *tcp,
				  struct mpcc_note *note)
{
	return mpcc_ssthresh(pair, c, s, tcp, note);
}

unsigned int mpcc_native_undo(const struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
{
	return mpcc_undo(s, tcp);
}

void mpcc_native_set_state(struct mpcc_pair pair, struct mpcc_connection *c, struct mpcc_subflow *s,
			   const struct mpcc_tcp *tcp, unsigned char state, struct mpcc_note *note)
{
	mpcc_set_state(pair, c, s, tcp, state, note);
}

void mpcc_native_cwnd_event(struct mpcc_pair pair, struct mpcc_connection *c,
			    struct mpcc_subflow *s, struct mpcc_tcp *tcp, unsigned int event,
			    struct mpcc_note *note)
{
	mpcc_cwnd_event(pair, c, s, tcp, event, note);
}

bool mpcc_native_release(struct mpcc_pair pair, struct mpcc_connection *c, struct mpcc_subflow *s,
			 struct mpcc_note *note)
{
	return mpcc_release(pair, c, s, note);
}

bool mpcc_native_ask_group(struct mpcc_connection *c, unsigned int i, unsigned short serial,
			   unsigned char group)
{
	return mpcc_ask_group(c, i, serial, group);
}

void mpcc_native_bench_step(struct mpcc_bench *b)
{
	mpcc_bench_step(b, b->pair);
}
