// SPDX-License-Identifier: MIT
//
// What this processor can do, of that which kernels were written for.
#ifndef ROPE2D_CPU_ISA_H
#define ROPE2D_CPU_ISA_H

#include "../internal.h"

// In rising order: on one architecture each has those before it.
typedef enum rope2d_isa {
    ROPE2D_ISA_PORTABLE = 0,
    ROPE2D_ISA_SSE2,
    ROPE2D_ISA_AVX2,   // and F16C
    ROPE2D_ISA_AVX512, // F, BW, DQ, VL
    ROPE2D_ISA_NEON,
    ROPE2D_ISA_COUNT
} rope2d_isa;

#if defined(__x86_64__) || (defined(_M_X64) && !defined(_M_ARM64EC))
#define ROPE2D_X86_64 1
#else
#define ROPE2D_X86_64 0
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define ROPE2D_AARCH64 1
#else
#define ROPE2D_AARCH64 0
#endif

// The best that processor and operating system support; less where the environment variable ROPE2D_CPU names
// something less. Programs that run with more rights than their user ignore the variable.
rope2d_isa rope2d_isa_find(void);
// What processor and operating system support, whatever the environment says.
rope2d_isa rope2d_isa_supported(void);
// "portable C", "SSE2", "AVX2", "AVX-512", "NEON".
const char *rope2d_isa_name(rope2d_isa isa);
// "portable", "sse2", "avx2", "avx512", "neon".
const char *rope2d_isa_word(rope2d_isa isa);

// Whether a number that was just stored in a vector is loaded soon, also where vectors have 64 bytes: Intel's
// processors with AVX-512 wait nine cycles longer than of a vector of 32.
bool rope2d_isa_forwards_wide(void);

// Bytes of the last cache of this processor; 0 where it does not tell.
uint64_t rope2d_last_cache_bytes(void);

// How far ahead a kernel asks for what it will read; 0: it leaves that to the processor.
typedef struct rope2d_ahead {
    uint32_t heads;  // of what is past a thread's own caches
    uint32_t past;   // of what the last cache has no room for twice, in the place of `heads`
    uint32_t apart;  // of that of 16 bits or in place, where other things lie between tokens
    uint32_t few_16; // of 16 bits, where there are few heads, in the place of both
    uint32_t few_32; // of 32 bits, where two tensors have one head each, or one is alone
    bool gaps;       // also for what lies between tokens, where that is no more than they are
    bool follows;    // line by line, or head by head, where a kernel for few heads can
} rope2d_ahead;

rope2d_ahead rope2d_ahead_bytes(void);

#endif
