/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few words of C that every backend lacks: integers of a known size, and access to memory that
 * another CPU may be changing. Freestanding: no header is included from here on down.
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

/* Inlined wherever it is used: the BPF verifier then sees constants as constants. */
#define MPCC_INLINE static inline __attribute__((always_inline, unused))

/*
 * A function of its own in BPF, for loops over the subflows: the verifier looks at it once, with arguments that it knows
 * nothing of, and not again for each state that a caller may be in. It gives such a function pointers that may be NULL.
 */
#ifdef __bpf__
#define MPCC_SEPARATE __attribute__((noinline))
#else
#define MPCC_SEPARATE MPCC_INLINE
#endif

/*
 * In BPF the compiler knows nothing of this pointer any more. It would else check, in place of the pointer, what it was made
 * from, and a verifier that does not connect the two (Linux 6.1) sees a pointer that may be NULL.
 */
#ifdef __bpf__
#define MPCC_OPAQUE(pointer) __asm__ volatile("" : "+r"(pointer))
#else
#define MPCC_OPAQUE(pointer) ((void)0)
#endif

/*
 * In BPF the verifier knows nothing of this number any more, as of any whose bytes are swapped (and swapped back). What a
 * loop adds up or chooses is else another number, or range, after each way through it, and each is followed by itself.
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

/* Unsigned arithmetic that wraps on purpose. Anywhere else it is a mistake, which a build with traps stops at. */
#ifdef __clang__
#define MPCC_WRAPS __attribute__((no_sanitize("unsigned-integer-overflow")))
#else
#define MPCC_WRAPS
#endif

#define MPCC_READ(x)     (*(const volatile __typeof__(x) *)&(x))
#define MPCC_WRITE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

/* Full barriers, on 4 and 8 bytes; BPF has them from its third instruction set on (Linux 5.12). */
#define MPCC_SWAP_IF(p, seen, next) (__sync_val_compare_and_swap((p), (seen), (next)) == (seen))

MPCC_INLINE u32 mpcc_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

MPCC_INLINE u32 mpcc_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

MPCC_INLINE u32 mpcc_minus(u32 a, u32 b)
{
	return a > b ? a - b : 0;
}

#endif
