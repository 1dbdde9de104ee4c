// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The test harness in native code. */
#include "callbacks.h"
#include "tests/harness.h"

void mpcc_harness_native_step(struct mpcc_harness *h)
{
	mpcc_harness_step(h, h->pair);
}

/* The same callbacks, for subflows of one connection that run on several threads. */
unsigned int mpcc_harness_native_call(struct mpcc_pair pair, struct mpcc_connection *c,
				      struct mpcc_subflow *s, struct mpcc_tcp *tcp,
				      unsigned int operation, unsigned int argument,
				      unsigned int group, struct mpcc_note *note)
{
	return mpcc_harness_call(pair, c, s, tcp, operation, argument, group, note);
}

void mpcc_harness_native_open(struct mpcc_connection *c, unsigned int tag)
{
	mpcc_open(c, tag);
}

unsigned char mpcc_harness_native_attach(struct mpcc_connection *c, unsigned int tag)
{
	return mpcc_attach(c, tag);
}

bool mpcc_harness_native_request_group(struct mpcc_connection *c, unsigned int i,
				       unsigned short generation, unsigned char group)
{
	return mpcc_request_group(c, i, generation, group);
}
