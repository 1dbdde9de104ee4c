/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logarithms and powers of 2 in fixed point, for ratios of windows.
 *
 * Both are series, of which the first term left out bounds the error:
 *
 *     log2(a/b) = n + 2/ln 2 · (z + z³/3 + z⁵/5 + z⁷/7 + z⁹/9),   z = (a − b·2^n) / (a + b·2^n) ≤ 1/3
 *     2^x − 1   = y + y²/2! + … + y⁷/7!,   y = x·ln 2 ≤ ln 2
 *
 * Relative error of each below 3·10⁻⁶ (crates/mpcc/tests/css.rs): of the logarithm also where a is next to b and it is
 * next to 0, since a quotient of logarithms is what is wanted.
 */
#ifndef MPCC_LOGARITHM_H
#define MPCC_LOGARITHM_H

#include "fixed.h"

#define MPCC_LOG_SHIFT 40 /* of logarithms */
#define MPCC_EXP_SHIFT 32 /* of exponents and powers */
#define MPCC_EXP_ONE   (1ULL << MPCC_EXP_SHIFT)
#define MPCC_LN2       2977044472ULL /* ln 2 in Q32 */
#define MPCC_2_PER_LN2 24204406ULL /* 2 / ln 2 in Q23 */

/* log2(a/b) in Q40, for 1 ≤ b ≤ a ≤ 2^20. */
MPCC_INLINE u64 mpcc_log2_ratio(u32 a, u32 b)
{
	u32 n = __builtin_clz(b) - __builtin_clz(a);
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

#endif
