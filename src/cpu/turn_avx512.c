// SPDX-License-Identifier: MIT
#include "turn_lists.h"

#if ROPE2D_X86_64

#include "turn_avx512_tmpl.h"

#include "turn_words_256_tmpl.h"

// Halves of bf16 go by 16 pairs at a time as well, in two vectors of 256 bits.
#define HAS_F16        0
#define HAS_AHEAD      1
#define IS_FEW         0
#define BLOCK_STEPS    8
#define HALF_STEPS     4
#define EVEN_ODD_STEPS 4
#define HAS_SHARED     1

OP HALF half_load(const void *p) {
    HALF v = _mm256_loadu_ps(p);
#if defined(__GNUC__)
    __asm__("" : "+v"(v));
#endif
    return v;
}

OP HALF half_mul(HALF a, HALF b) {
    return _mm256_mul_ps(a, b);
}

OP HALF half_add(HALF a, HALF b) {
    return _mm256_add_ps(a, b);
}

OP HALF half_sub(HALF a, HALF b) {
    return _mm256_sub_ps(a, b);
}

// Upper halves, each one more where the lower half is more than 0x8000, or is that and the upper half odd. A
// NaN's lower half is zero, since it comes from a bf16 or is the processor's own. Bytes shuffled into every
// other half of a word: a shift and a choice by one instruction, where a permutation of two vectors takes
// Intel's processors three.
OP WORDS joined(HALF e, HALF o) {
    const WORDS swaps = _mm256_set_epi32(0x0d0c0f0e, 0x09080b0a, 0x05040706, 0x01000302, 0x0d0c0f0e,
                                         0x09080b0a, 0x05040706, 0x01000302);
    const WORDS ones = _mm256_set1_epi16(1);
    const WORDS bits = _mm256_castps_si256(e);
    const WORDS more = _mm256_castps_si256(o);
    const WORDS lower = _mm256_mask_shuffle_epi8(bits, 0xccccccccu, more, swaps);
    const WORDS upper = _mm256_mask_shuffle_epi8(more, 0x33333333u, bits, swaps);
    const WORDS rest = _mm256_ternarylogic_epi32(lower, upper, ones, 0xf8); // lower | (upper & 1)
    const __mmask16 up = _mm256_cmpgt_epu16_mask(rest, _mm256_set1_epi16(INT16_MIN));
    return _mm256_mask_add_epi16(upper, up, upper, ones);
}

// One after the other of two vectors' pairs: the even ones of both, and the odd ones.
OP even_odd_entries even_odd_of(HALF a, HALF b, HALF c, HALF d) {
    const __m256i cosines = _mm256_setr_epi32(0, 4, 2, 6, 8, 12, 10, 14);
    const __m256i sines = _mm256_or_si256(cosines, _mm256_set1_epi32(1));
    const HALF e = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
    const HALF f = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(c), _mm256_castps_pd(d)));
    const HALF g = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
    const HALF h = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(c), _mm256_castps_pd(d)));
    return (even_odd_entries){_mm256_permutex2var_ps(e, cosines, f), _mm256_permutex2var_ps(g, cosines, h),
                              _mm256_permutex2var_ps(e, sines, f), _mm256_permutex2var_ps(g, sines, h)};
}

OP even_odd_entries even_odd(const float *entries) {
    return even_odd_of(half_load(entries), half_load(entries + 8), half_load(entries + 16),
                       half_load(entries + 24));
}

OP even_odd_entries even_odd_twice(const float *entries) {
    const HALF a = half_load(entries);
    const HALF b = half_load(entries + 8);
    return even_odd_of(a, b, a, b);
}

OP WORDS load_both(const void *p, const void *q) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(p)), _mm_loadu_si128(q), 1);
}

OP void store_both(void *p, void *q, WORDS w) {
    _mm_storeu_si128(p, _mm256_castsi256_si128(w));
    _mm_storeu_si128(q, _mm256_extracti128_si256(w, 1));
}

#include "turn_all_tmpl.h"

const rope2d_turn_kernel rope2d_turn_avx512[3] = {
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_HALF, ROPE2D_F32, 16, 64, HALF_STEPS, .turn = half_f32},
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 16, 32, EVEN_ODD_STEPS, .shares = HAS_SHARED,
     .turn = half_bf16},
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 8, 64, BLOCK_STEPS, .turn = interleaved_f32},
};

#endif
