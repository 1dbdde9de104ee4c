/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Integers of a fixed size, access to memory that another CPU may change, and helpers for the BPF verifier.
 * Freestanding: no header from outside cc/ is included from here on.
 */
#ifndef MPCC_TYPES_H
#define MPCC_TYPES_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#ifndef __cplusplus
#define bool  _Bool
#define true  1
#define false 0
#endif

#ifndef NULL
#define NULL ((void *)0)
#endif

/* Inlined at every call, so that constant arguments are constants for the BPF verifier. */
#define MPCC_INLINE static inline __attribute__((always_inline, unused))

/*
 * A BPF function of its own, for loops over the subflows. The verifier checks it once with unknown arguments, and not again
 * for every state of its callers. For the verifier its pointer arguments may be NULL, and its result is an integer: one that fills a
 * structure returns 0.
 */
#ifdef __bpf__
#define MPCC_SEPARATE __attribute__((noinline))
#else
#define MPCC_SEPARATE MPCC_INLINE
#endif

/*
 * Hides from the BPF compiler how a pointer was computed. Without this, the compiler may test the pointer's origin in place of
 * the pointer, and the verifier of Linux 6.1 then still regards the pointer as possibly NULL.
 */
#ifdef __bpf__
#define MPCC_OPAQUE(pointer) __asm__ volatile("" : "+r"(pointer))
#else
#define MPCC_OPAQUE(pointer) ((void)0)
#endif

/*
 * Hides a number's range from the BPF verifier, by swapping its bytes twice. Without this, the verifier tracks every
 * loop iteration that changes the number as a separate state.
 */
#ifdef __bpf__
#define MPCC_UNKNOWN(x)                                                                            \
	do {                                                                                       \
		u64 number_ = (x);                                                                 \
                                                                                                   \
		__asm__("%0 = be64 %0\n\t%0 = be64 %0" : "+r"(number_));                           \
		(x) = number_;                                                                     \
	} while (0)
#else
#define MPCC_UNKNOWN(x) ((void)0)
#endif

/* Marks functions whose unsigned arithmetic wraps on purpose. In all others the build with traps stops at a wrap. */
#ifdef __clang__
#define MPCC_WRAPS __attribute__((no_sanitize("unsigned-integer-overflow")))
#else
#define MPCC_WRAPS
#endif

#define MPCC_READ(x)     (*(const volatile __typeof__(x) *)&(x))
#define MPCC_WRITE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

/* Compare and swap with full barriers, on 4 and 8 bytes (BPF instruction set v3, Linux 5.12). */
#define MPCC_SWAP_IF(p, seen, next) (__sync_val_compare_and_swap((p), (seen), (next)) == (seen))

MPCC_INLINE u32 mpcc_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

MPCC_INLINE u32 mpcc_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

/*
 * A comparison, a choice and a minimum, for BPF without a branch, so that the verifier does not track the two cases as separate
 * states.
 */
#ifdef __bpf__
/* 1 for 0, else 0. */
MPCC_INLINE u32 mpcc_is_zero(u32 x)
{
	return ~(x | -x) >> 31;
}

/* `yes` if `condition` is 1, `no` if it is 0. */
MPCC_WRAPS MPCC_INLINE u32 mpcc_select(u32 condition, u32 yes, u32 no)
{
	return no - condition * (no - yes);
}

/* The smaller one. */
MPCC_INLINE u32 mpcc_at_most(u32 x, u32 limit)
{
	s64 difference = (s64)x - limit, is_below;

	MPCC_UNKNOWN(difference);
	is_below = difference >> 63; /* all bits, or none */
	return limit + (difference & is_below);
}
#else
MPCC_INLINE u32 mpcc_is_zero(u32 x)
{
	return x == 0;
}

MPCC_INLINE u32 mpcc_select(u32 condition, u32 yes, u32 no)
{
	return condition ? yes : no;
}

MPCC_INLINE u32 mpcc_at_most(u32 x, u32 limit)
{
	return mpcc_min(x, limit);
}
#endif

/* a - b, or 0 where b is larger. */
MPCC_INLINE u32 mpcc_minus(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

#endif
