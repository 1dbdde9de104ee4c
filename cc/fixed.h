/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fixed point. A window grows by fractions of a segment, kept in Q40: 2^40 is one segment.
 *
 * Why 40 bits: LIA's smallest increase for one acknowledged segment is 2^-28 (16 subflows, windows up to 2^20 segments, RTTs
 * from 10 µs to 60 s), which leaves 12 bits of precision. The largest product, 2^20 acknowledged segments of one segment
 * each, fits 64 bits.
 */
#ifndef MPCC_FIXED_H
#define MPCC_FIXED_H

#include "types.h"

#define MPCC_ONE_SHIFT 40
#define MPCC_ONE       (1ULL << MPCC_ONE_SHIFT)

/* Upper limits of the ranges that all arithmetic is exact or bounded in. Larger inputs are clamped to them. */
#define MPCC_CWND_MAX  (1U << 20) /* segments: 1.5 GB in flight at 1 448 bytes */
#define MPCC_SRTT8_MAX (60U * 1000000 * 8) /* 60 s in eighths of a microsecond, below 2^29 */

/* 1/w in Q40, rounded up: w acknowledged segments add one whole segment (RFC 5681, 3.1). */
MPCC_INLINE u64 mpcc_one_per(u32 w)
{
	return (MPCC_ONE + w - 1) / w;
}

/* x / by, rounded towards 0. (BPF's instruction set v3 has no signed division.) */
MPCC_INLINE s64 mpcc_divide(s64 x, u32 by)
{
	return x < 0 ? -(s64)((u64)-x / by) : (s64)((u64)x / by);
}

/* w_a/t_a > w_b/t_b, exactly. 2^20 · 2^29 fits 64 bits. */
MPCC_INLINE bool mpcc_rate_above(u32 w_a, u32 t_a, u32 w_b, u32 t_b)
{
	return (u64)w_a * t_b > (u64)w_b * t_a;
}

/*
 * w_a/t_a² > w_b/t_b², exactly. The products need 78 bits and are compared as a high word and 32 low bits. (An integer
 * quotient w/t² is 0 for small windows; the last path examined would then be chosen.) The comparison is the sign of b - a with the
 * borrow of the low bits; the high words are below 2^62. It has no branch, because the BPF verifier follows each branch of
 * a loop separately.
 */
MPCC_WRAPS MPCC_INLINE bool mpcc_rate_per_rtt_above(u32 w_a, u32 t_a, u32 w_b, u32 t_b)
{
	u64 a = (u64)w_a * t_b, b = (u64)w_b * t_a;
	u64 a_low = (a & 0xffffffff) * t_b, b_low = (b & 0xffffffff) * t_a;
	u64 a_high = (a >> 32) * t_b + (a_low >> 32), b_high = (b >> 32) * t_a + (b_low >> 32);

	return (b_high - a_high - (((b_low & 0xffffffff) - (a_low & 0xffffffff)) >> 63)) >> 63;
}

#endif
