/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of algorithms, and how a stage of one is called.
 *
 * An algorithm is a pair of a slow start, which couples the windows while they double, and a congestion avoidance, which couples
 * them afterwards. Each pair passes through the same stages (stages.h), which callbacks.h calls.
 */
#ifndef MPCC_TABLE_H
#define MPCC_TABLE_H

#include "slow_start/uncoupled.h"
#include "slow_start/lisa.h"
#include "slow_start/hystartpp.h"
#include "slow_start/css.h"
#include "slow_start/nmcc.h"
#include "slow_start/convoy.h"
#include "avoidance/reno.h"
#include "avoidance/lia.h"
#include "avoidance/cubic.h"
#include "avoidance/nmcc.h"
#include "avoidance/olia.h"
#include "avoidance/balia.h"
#include "avoidance/wvegas.h"
#include "avoidance/coupled_cubic.h"
#include "avoidance/mpcubic.h"
#ifndef __bpf__
#include "avoidance/phi.h"
#endif

/* Simulated-only algorithms. BPF objects leave them out. They stand last, so that both builds number all other parts alike. */
#ifdef __bpf__
#define MPCC_SIMULATED_AVOIDANCES(PART, ...)
#define MPCC_SIMULATED_ALGORITHMS(ROW)
#else
#define MPCC_SIMULATED_AVOIDANCES(PART, ...) PART(phi, __VA_ARGS__)
#define MPCC_SIMULATED_ALGORITHMS(ROW)                                                             \
	ROW(phi, uncoupled, phi, SIMULATED, "from uncoupled to fully coupled increases")
#endif

/* Where an algorithm runs, besides the simulator. */
enum mpcc_kernel {
	MPCC_LOADED, /* in Linux, after `lisa kernel load` */
	MPCC_BUILT_IN, /* Linux itself has an algorithm of this name */
	MPCC_SIMULATED, /* not in Linux */
};

/* The parts of a pair: the NAME of mpcc_NAME_slow_start_ops or mpcc_NAME_avoidance_ops. */
#define MPCC_SLOW_STARTS(PART, ...)                                                                \
	PART(uncoupled, __VA_ARGS__)                                                               \
	PART(lisa, __VA_ARGS__)                                                                    \
	PART(hystartpp, __VA_ARGS__)                                                               \
	PART(css, __VA_ARGS__)                                                                     \
	PART(nmcc, __VA_ARGS__)                                                                    \
	PART(convoy, __VA_ARGS__)
#define MPCC_AVOIDANCES(PART, ...)                                                                 \
	PART(reno, __VA_ARGS__)                                                                    \
	PART(lia, __VA_ARGS__)                                                                     \
	PART(cubic, __VA_ARGS__)                                                                   \
	PART(nmcc, __VA_ARGS__)                                                                    \
	PART(olia, __VA_ARGS__)                                                                    \
	PART(balia, __VA_ARGS__)                                                                   \
	PART(wvegas, __VA_ARGS__)                                                                  \
	PART(coupled_cubic, __VA_ARGS__)                                                           \
	PART(mpcubic, __VA_ARGS__)                                                                 \
	MPCC_SIMULATED_AVOIDANCES(PART, __VA_ARGS__)

/*
 * The table: ROW(name, slow start, avoidance, where it runs: enum mpcc_kernel, short description). The names are
 * also those in Linux. docs/algorithms/README.md lists the pairs without a row, with the reasons.
 */
#define MPCC_ALGORITHMS(ROW)                                                                       \
	ROW(lisa, lisa, lia, LOADED, "linked slow start, then linked increases")                   \
	ROW(lisa_reno, lisa, reno, LOADED, "linked slow start, then each by itself")               \
	ROW(lisa_olia, lisa, olia, LOADED, "linked slow start, then OLIA")                         \
	ROW(lisa_balia, lisa, balia, LOADED, "linked slow start, then Balia")                      \
	ROW(lisa_nmcc, lisa, nmcc, LOADED, "linked slow start, then NMCC")                         \
	ROW(css, css, lia, LOADED, "coupled slow start, then linked increases")                    \
	ROW(css_reno, css, reno, LOADED, "coupled slow start, then each by itself")                \
	ROW(css_olia, css, olia, LOADED, "coupled slow start, then OLIA")                          \
	ROW(css_balia, css, balia, LOADED, "coupled slow start, then Balia")                       \
	ROW(nmcc, nmcc, nmcc, LOADED, "growth normalized to the best path's, in both phases")      \
	ROW(lia, uncoupled, lia, LOADED, "linked increases (RFC 6356): the papers' baseline")      \
	ROW(reno, uncoupled, reno, BUILT_IN, "each subflow a TCP of its own (RFC 5681)")           \
	ROW(cubic, uncoupled, cubic, BUILT_IN, "each a TCP of its own, as Linux has it")           \
	ROW(olia, uncoupled, olia, LOADED, "opportunistic linked increases")                       \
	ROW(balia, uncoupled, balia, LOADED, "balanced linked adaptation")                         \
	ROW(wvegas, uncoupled, wvegas, LOADED, "weighted Vegas: by delay, not loss")               \
	ROW(uncoupled_nmcc, uncoupled, nmcc, LOADED, "uncoupled slow start, then NMCC")            \
	ROW(lisa_cubic, lisa, cubic, LOADED, "linked slow start, then Linux's CUBIC")              \
	ROW(css_cubic, css, cubic, LOADED, "coupled slow start, then Linux's CUBIC")               \
	ROW(hystartpp_cubic, hystartpp, cubic, LOADED, "CUBIC with HyStart++ (RFC 9406)")          \
	ROW(convoy, convoy, coupled_cubic, LOADED,                                                 \
	    "at a shared queue as one CUBIC, else as several")                                     \
	ROW(convoy_cubic, convoy, cubic, LOADED, "the slow start of convoy, then Linux's CUBIC")   \
	ROW(mpcubic, uncoupled, mpcubic, LOADED, "CUBIC with linked growth: all together as one")  \
	MPCC_SIMULATED_ALGORITHMS(ROW)

/* --- Dispatch --------------------------------------------------------------------------------------------------- */

#define MPCC_SLOW_START_NUMBER(name, ...) MPCC_SLOW_START_##name,
#define MPCC_AVOIDANCE_NUMBER(name, ...)  MPCC_AVOIDANCE_##name,
enum mpcc_slow_starts { MPCC_SLOW_STARTS(MPCC_SLOW_START_NUMBER) };
enum mpcc_avoidances { MPCC_AVOIDANCES(MPCC_AVOIDANCE_NUMBER) };

struct mpcc_pair {
	u8 slow_start; /* enum mpcc_slow_starts */
	u8 avoidance; /* enum mpcc_avoidances */
};

/*
 * Whether HyStart, a part of CUBIC, may run with a slow start: it replaces HyStart, or its state begins with HyStart's (mpcc_hystart). A new
 * slow start has its line here.
 */
#define MPCC_HYSTART_uncoupled !__builtin_offsetof(struct mpcc_uncoupled_slow_start, hystart)
#define MPCC_HYSTART_lisa      !__builtin_offsetof(struct mpcc_lisa_slow_start, hystart)
#define MPCC_HYSTART_css       !__builtin_offsetof(struct mpcc_css_slow_start, hystart)
#define MPCC_HYSTART_hystartpp 1 /* replaces it */
#define MPCC_HYSTART_convoy    1 /* replaces it */
#define MPCC_HYSTART_nmcc      0

#define MPCC_BYTES(part) sizeof(((struct mpcc_subflow *)0)->part)
#define MPCC_CHECK(name, slow_start_, avoidance_, kernel, about)                                   \
	_Static_assert(sizeof(#name) <= 16, #name ": Linux's limit is 15 characters");             \
	_Static_assert(sizeof(struct mpcc_##slow_start_##_slow_start) <= MPCC_BYTES(slow_start) && \
			       sizeof(struct mpcc_##avoidance_##_avoidance) <=                     \
				       MPCC_BYTES(avoidance),                                      \
		       #name ": its state does not fit into struct mpcc_subflow");                 \
	_Static_assert(MPCC_HYSTART_##slow_start_ ||                                               \
			       (MPCC_AVOIDANCE_##avoidance_ != MPCC_AVOIDANCE_cubic &&             \
				MPCC_AVOIDANCE_##avoidance_ != MPCC_AVOIDANCE_mpcubic),            \
		       #name ": HyStart has no room in the state of its slow start");              \
	_Static_assert(MPCC_SLOW_START_##slow_start_ != MPCC_SLOW_START_nmcc ||                    \
			       MPCC_AVOIDANCE_##avoidance_ == MPCC_AVOIDANCE_nmcc,                 \
		       #name ": NMCC's slow start needs the m² of NMCC's avoidance");
MPCC_ALGORITHMS(MPCC_CHECK)

/*
 * MPCC_SLOW_START_CALL(pair, stage, arguments…) calls a stage of the pair's slow start if it defines that stage,
 * MPCC_AVOIDANCE_CALL one of its congestion avoidance. MPCC_…_CALL_FOR(pair, result, stage, arguments…) assigns the stage's result,
 * and leaves `result` as it is where the stage is not defined. The operations are constants, so that calls are direct and inlined.
 * In BPF the pair is a constant when the program is loaded, and the verifier removes all other cases.
 */
#define MPCC_STAGE(kind, ops, stage, ...)                                                          \
	case kind:                                                                                 \
		if (ops.stage)                                                                     \
			ops.stage(__VA_ARGS__);                                                    \
		break;
#define MPCC_STAGE_RESULT(kind, ops, result, stage, ...)                                           \
	case kind:                                                                                 \
		if (ops.stage)                                                                     \
			result = ops.stage(__VA_ARGS__);                                           \
		break;
#define MPCC_CASE_S(name, ...)                                                                     \
	MPCC_STAGE(MPCC_SLOW_START_##name, mpcc_##name##_slow_start_ops, __VA_ARGS__)
#define MPCC_CASE_S_OR(name, ...)                                                                  \
	MPCC_STAGE_RESULT(MPCC_SLOW_START_##name, mpcc_##name##_slow_start_ops, __VA_ARGS__)
#define MPCC_CASE_A(name, ...)                                                                     \
	MPCC_STAGE(MPCC_AVOIDANCE_##name, mpcc_##name##_avoidance_ops, __VA_ARGS__)
#define MPCC_CASE_A_OR(name, ...)                                                                  \
	MPCC_STAGE_RESULT(MPCC_AVOIDANCE_##name, mpcc_##name##_avoidance_ops, __VA_ARGS__)

#define MPCC_SLOW_START_CALL(pair, ...)                                                            \
	do {                                                                                       \
		switch ((pair).slow_start) {                                                       \
			MPCC_SLOW_STARTS(MPCC_CASE_S, __VA_ARGS__)                                 \
		}                                                                                  \
	} while (0)
#define MPCC_AVOIDANCE_CALL(pair, ...)                                                             \
	do {                                                                                       \
		switch ((pair).avoidance) {                                                        \
			MPCC_AVOIDANCES(MPCC_CASE_A, __VA_ARGS__)                                  \
		}                                                                                  \
	} while (0)
#define MPCC_SLOW_START_CALL_FOR(pair, result, ...)                                                \
	do {                                                                                       \
		switch ((pair).slow_start) {                                                       \
			MPCC_SLOW_STARTS(MPCC_CASE_S_OR, result, __VA_ARGS__)                      \
		}                                                                                  \
	} while (0)
#define MPCC_AVOIDANCE_CALL_FOR(pair, result, ...)                                                 \
	do {                                                                                       \
		switch ((pair).avoidance) {                                                        \
			MPCC_AVOIDANCES(MPCC_CASE_A_OR, result, __VA_ARGS__)                       \
		}                                                                                  \
	} while (0)

/* A flag of the pair's slow start. */
#define MPCC_CASE_FLAG(name, result, flag)                                                         \
	case MPCC_SLOW_START_##name:                                                               \
		result = mpcc_##name##_slow_start_ops.flag;                                        \
		break;
#define MPCC_SLOW_START_FLAG(pair, result, flag)                                                   \
	do {                                                                                       \
		switch ((pair).slow_start) {                                                       \
			MPCC_SLOW_STARTS(MPCC_CASE_FLAG, result, flag)                             \
		}                                                                                  \
	} while (0)

#endif
