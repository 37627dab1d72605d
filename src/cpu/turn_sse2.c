// SPDX-License-Identifier: MIT
//
// Every x86-64 has SSE2. 16-bit elements are left to the portable path: processors without AVX2 are rare, and
// their kernels would take room from what others need.
#include "turn_lists.h"

#if ROPE2D_X86_64

#include <emmintrin.h>

#define TURN_FN
#if defined(__GNUC__)
#define OP static inline __attribute__((always_inline))
#else
#define OP static __forceinline
#endif

#define REAL        __m128
#define WIDTH       4
#define HAS_F16     0
#define HAS_AHEAD   0
#define IS_FEW      0
#define BLOCK_STEPS 2
#define HALF_STEPS  BLOCK_STEPS

typedef struct real_entries {
    REAL c, s;
} real_entries;

OP REAL load(const void *p) {
    return _mm_loadu_ps(p);
}

OP void store(void *p, REAL v) {
    _mm_storeu_ps(p, v);
}

OP REAL mul(REAL a, REAL b) {
    return _mm_mul_ps(a, b);
}

OP REAL add(REAL a, REAL b) {
    return _mm_add_ps(a, b);
}

OP REAL sub(REAL a, REAL b) {
    return _mm_sub_ps(a, b);
}

OP REAL swapped(REAL v) {
    return _mm_shuffle_ps(v, v, 0xb1);
}

OP real_entries split(const float *entries) {
    const REAL a = load(entries);
    const REAL b = load(entries + 4);
    return (real_entries){_mm_shuffle_ps(a, b, 0x88), _mm_shuffle_ps(a, b, 0xdd)};
}

OP real_entries doubled(const float *entries) {
    const REAL a = load(entries);
    const REAL signs = _mm_setr_ps(-0.0f, 0.0f, -0.0f, 0.0f);
    return (real_entries){_mm_shuffle_ps(a, a, 0xa0), _mm_xor_ps(_mm_shuffle_ps(a, a, 0xf5), signs)};
}

#include "turn_all_tmpl.h"

const rope2d_turn_kernel rope2d_turn_sse2[2] = {
    {ROPE2D_ISA_SSE2, ROPE2D_KERNEL_HALF, ROPE2D_F32, 4, 16, HALF_STEPS, .turn = half_f32},
    {ROPE2D_ISA_SSE2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 2, 16, BLOCK_STEPS, .turn = interleaved_f32},
};

#endif
