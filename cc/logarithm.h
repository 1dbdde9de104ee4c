/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logarithms and powers of 2 in fixed point.
 *
 * Both are series; the first term left out bounds the error:
 *
 *     log2(a/b) = n + 2/ln 2 · (z + z³/3 + z⁵/5 + z⁷/7 + z⁹/9),   z = (a − b·2^n) / (a + b·2^n) ≤ 1/3
 *     2^x − 1   = y + y²/2! + … + y⁷/7!,   y = x·ln 2 ≤ ln 2
 *
 * The relative error of each is below 3·10⁻⁶ (crates/harness/tests/css.rs), that of the logarithm also where a is close to b and
 * the result close to 0: CSS needs a quotient of logarithms.
 */
#ifndef MPCC_LOGARITHM_H
#define MPCC_LOGARITHM_H

#include "fixed.h"

#define MPCC_LOG_SHIFT 40 /* of logarithms */
#define MPCC_EXP_SHIFT 32 /* of exponents and powers */
#define MPCC_EXP_ONE   (1ULL << MPCC_EXP_SHIFT)
#define MPCC_LN2       2977044472ULL /* ln 2 in Q32 */
#define MPCC_2_PER_LN2 24204406ULL /* 2 / ln 2 in Q23 */

/*
 * Position of the highest bit of x; 0 for 0. Does not use __builtin_clz: clang 16 fails on it for BPF (docs/notes/kernel.md). Has no branch,
 * because the verifier follows each branch of a loop separately.
 */
MPCC_WRAPS MPCC_SEPARATE u32 mpcc_highest_bit(u64 x)
{
	u32 position = 0;

	for (u32 half = 32; half; half /= 2) {
		u64 above = x >> half;
		u32 step = ((above | -above) >> 63) * half; /* `half` if there is a bit above */

		position += step;
		x >>= step;
	}
	return position;
}

/* log2(a/b) in Q40, for 1 ≤ b ≤ a ≤ 2^20. */
MPCC_INLINE u64 mpcc_log2_ratio(u32 a, u32 b)
{
	u32 n = mpcc_highest_bit(a) - mpcc_highest_bit(b);
	u64 z, square, sum;

	n -= (u64)b << n > a;
	b <<= n; /* a/2 < b ≤ a */
	z = ((u64)(a - b) << MPCC_LOG_SHIFT) / (a + b);
	square = ((z >> 10) * (z >> 10)) >> 30; /* z² in Q30 */
	sum = (1ULL << 30) / 7 + square / 9;
	sum = (1ULL << 30) / 5 + (square * sum >> 30);
	sum = (1ULL << 30) / 3 + (square * sum >> 30);
	sum = (1ULL << 30) + (square * sum >> 30);
	z = z * (sum >> 6) >> 24; /* atanh z, at most ln 2 / 2 */
	return ((u64)n << MPCC_LOG_SHIFT) + (z * MPCC_2_PER_LN2 >> 23);
}

/* 2^x − 1 in Q32, for x in Q32 from 0 to 1. */
MPCC_INLINE u64 mpcc_exp2_less_1(u64 x)
{
	u64 y = (x * MPCC_LN2) >> MPCC_EXP_SHIFT;
	u64 sum = MPCC_EXP_ONE + y / 7;

	sum = MPCC_EXP_ONE + (y / 6 * sum >> MPCC_EXP_SHIFT);
	sum = MPCC_EXP_ONE + (y / 5 * sum >> MPCC_EXP_SHIFT);
	sum = MPCC_EXP_ONE + (y / 4 * sum >> MPCC_EXP_SHIFT);
	sum = MPCC_EXP_ONE + (y / 3 * sum >> MPCC_EXP_SHIFT);
	sum = MPCC_EXP_ONE + (y / 2 * sum >> MPCC_EXP_SHIFT);
	return y * (sum >> 2) >> (MPCC_EXP_SHIFT - 2);
}

/* log2 x in Q32, for x from 1 to 2^63: within 3·10⁻⁶ for x up to 2^20, and within 2·10⁻⁶ more above, where its low bits are cut. */
MPCC_INLINE s64 mpcc_log2(u64 x)
{
	u32 high = mpcc_highest_bit(x), cut = mpcc_minus(high, 19);

	return (s64)(mpcc_log2_ratio(x >> cut, 1) >> (MPCC_LOG_SHIFT - MPCC_EXP_SHIFT)) +
	       ((s64)cut << MPCC_EXP_SHIFT);
}

/* 2^x in Q40, for x in Q32; at most one segment (2^40), at least 0. */
MPCC_INLINE u64 mpcc_exp2_q40(s64 x)
{
	s64 whole = x >> MPCC_EXP_SHIFT; /* rounded down */
	u64 fraction = x & (MPCC_EXP_ONE - 1);
	u64 power = MPCC_EXP_ONE + mpcc_exp2_less_1(fraction); /* Q32, from 1 to 2 */

	if (whole >= 0)
		return MPCC_ONE;
	if (whole < -40)
		return 0;
	return power << (MPCC_ONE_SHIFT - MPCC_EXP_SHIFT) >> -whole;
}

#endif
