// SPDX-License-Identifier: MIT
//
// Every 64-bit Arm has NEON, with its conversions of binary16.
#include "turn_lists.h"

#if ROPE2D_AARCH64

#include <arm_neon.h>

#define TURN_FN
#if defined(__GNUC__)
#define OP static inline __attribute__((always_inline))
#else
#define OP static __forceinline
#endif

#define REAL           float32x4_t
#define WIDTH          4
#define HALF           float32x4_t
#define HALF_WIDTH     4
#define WORDS          uint32x4_t
#define HAS_F16        1
#define HAS_AHEAD      0
#define IS_FEW         0
#define BLOCK_STEPS    5
#define HALF_STEPS     BLOCK_STEPS
#define WORD_STEPS     BLOCK_STEPS
#define EVEN_ODD_STEPS 5
#define HAS_SHARED     0
#define half_entries   real_entries

typedef struct real_entries {
    REAL c, s;
} real_entries;

typedef struct even_odd_entries {
    HALF ce, co, se, so;
} even_odd_entries;

// Through bytes, which need no alignment.
OP REAL load(const void *p) {
    return vreinterpretq_f32_u8(vld1q_u8(p));
}

OP void store(void *p, REAL v) {
    vst1q_u8(p, vreinterpretq_u8_f32(v));
}

OP REAL mul(REAL a, REAL b) {
    return vmulq_f32(a, b);
}

OP REAL add(REAL a, REAL b) {
    return vaddq_f32(a, b);
}

OP REAL sub(REAL a, REAL b) {
    return vsubq_f32(a, b);
}

OP REAL swapped(REAL v) {
    return vrev64q_f32(v);
}

OP REAL load_f16(const void *p) {
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p)));
}

OP void store_f16(void *p, REAL v) {
    vst1_u8(p, vreinterpret_u8_f16(vcvt_f16_f32(v)));
}

#define half_split split
#define half_mul   mul
#define half_add   add
#define half_sub   sub

OP WORDS load_words(const void *p) {
    return vreinterpretq_u32_u8(vld1q_u8(p));
}

OP void store_words(void *p, WORDS w) {
    vst1q_u8(p, vreinterpretq_u8_u32(w));
}

OP HALF even(WORDS w) {
    return vreinterpretq_f32_u32(vshlq_n_u32(w, 16));
}

OP HALF odd(WORDS w) {
    return vreinterpretq_f32_u32(vandq_u32(w, vdupq_n_u32(0xffff0000u)));
}

// A NaN's lower half is zero, since it comes from a bf16 or is the processor's own: it does not round up.
OP WORDS rounded(HALF v) {
    const WORDS bits = vreinterpretq_u32_f32(v);
    const WORDS odd_bit = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vaddq_u32(bits, vaddq_u32(odd_bit, vdupq_n_u32(0x7fff)));
}

// The even ones shifted in below the odd ones.
OP WORDS joined(HALF e, HALF o) {
    return vsriq_n_u32(rounded(o), rounded(e), 16);
}

OP real_entries split(const float *entries) {
    const float32x4x2_t both = vld2q_f32(entries);
    return (real_entries){both.val[0], both.val[1]};
}

OP real_entries doubled(const float *entries) {
    const REAL a = vld1q_f32(entries);
    const uint32x4_t signs = vreinterpretq_u32_u64(vdupq_n_u64(UINT64_C(0x80000000)));
    const uint32x4_t sines = vreinterpretq_u32_f32(vtrn2q_f32(a, a));
    return (real_entries){vtrn1q_f32(a, a), vreinterpretq_f32_u32(veorq_u32(sines, signs))};
}

OP even_odd_entries even_odd(const float *entries) {
    const float32x4x4_t all = vld4q_f32(entries);
    return (even_odd_entries){all.val[0], all.val[2], all.val[1], all.val[3]};
}

#include "turn_all_tmpl.h"

const rope2d_turn_kernel rope2d_turn_neon[6] = {
    {ROPE2D_ISA_NEON, ROPE2D_KERNEL_HALF, ROPE2D_F32, 4, 16, HALF_STEPS, .turn = half_f32},
    {ROPE2D_ISA_NEON, ROPE2D_KERNEL_HALF, ROPE2D_F16, 4, 8, HALF_STEPS, .turn = half_f16},
    {ROPE2D_ISA_NEON, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 8, 16, EVEN_ODD_STEPS, .shares = HAS_SHARED,
     .turn = half_bf16},
    {ROPE2D_ISA_NEON, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 2, 16, BLOCK_STEPS, .turn = interleaved_f32},
    {ROPE2D_ISA_NEON, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F16, 2, 8, BLOCK_STEPS, .turn = interleaved_f16},
    {ROPE2D_ISA_NEON, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 4, 16, WORD_STEPS, .turn = interleaved_bf16},
};

#endif
