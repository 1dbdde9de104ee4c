// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cc/ has inline functions only. These are the symbols that Rust calls. */
#include "callbacks.h"

struct mpcc_algorithm {
	const char *name; /* NULL: the end of the table */
	const char *about;
	struct mpcc_pair pair;
	u8 kernel; /* enum mpcc_kernel */
	const struct mpcc_slow_start_ops *slow_start;
	const struct mpcc_avoidance_ops *avoidance;
	/* mpcc_on_ack compiled for this pair, because it is the callback whose speed matters. */
	void (*on_ack)(struct mpcc_connection *c, struct mpcc_subflow *s, struct mpcc_tcp *tcp,
		       unsigned int acked, struct mpcc_note *note);
};

/* The arguments are distinct objects (restrict): a value that was read once need not be read again after a store. */
#define ON_ACK(name, slow_start, avoidance, kernel, about)                                         \
	__attribute__((nonnull)) static void on_ack_##name(                                        \
		struct mpcc_connection *restrict c, struct mpcc_subflow *restrict s,               \
		struct mpcc_tcp *restrict tcp, unsigned int acked,                                 \
		struct mpcc_note *restrict note)                                                   \
	{                                                                                          \
		mpcc_on_ack((struct mpcc_pair){ MPCC_SLOW_START_##slow_start,                      \
						MPCC_AVOIDANCE_##avoidance },                      \
			    c, s, tcp, acked, note);                                               \
	}
MPCC_ALGORITHMS(ON_ACK)

#define ROW(name, slow_start, avoidance, kernel, about)                                            \
	{ #name,                                                                                   \
	  about,                                                                                   \
	  { MPCC_SLOW_START_##slow_start, MPCC_AVOIDANCE_##avoidance },                            \
	  MPCC_##kernel,                                                                           \
	  &mpcc_##slow_start##_slow_start_ops,                                                     \
	  &mpcc_##avoidance##_avoidance_ops,                                                       \
	  on_ack_##name },
const struct mpcc_algorithm mpcc_algorithms[] = { MPCC_ALGORITHMS(ROW){ 0 } };

unsigned char mpcc_native_attach(struct mpcc_connection *c, unsigned int tag)
{
	return mpcc_attach(c, tag);
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

unsigned int mpcc_native_undo(struct mpcc_subflow *s, const struct mpcc_tcp *tcp)
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

bool mpcc_native_request_group(struct mpcc_connection *c, unsigned int i, unsigned short generation,
			       unsigned char group)
{
	return mpcc_request_group(c, i, generation, group);
}
