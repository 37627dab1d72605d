// SPDX-License-Identifier: MIT
#include "turn_lists.h"

#if ROPE2D_X86_64

#define TARGET "avx2,f16c"
#include "turn_avx2_tmpl.h"

#define HALF           __m256
#define HALF_WIDTH     8
#define WORDS          __m256i
#define HAS_F16        1
#define HAS_AHEAD      1
#define IS_FEW         0
#define BLOCK_STEPS    5
#define HALF_STEPS     BLOCK_STEPS
#define WORD_STEPS     BLOCK_STEPS
#define EVEN_ODD_STEPS 3
#define HAS_SHARED     0
#define half_entries   real_entries

typedef struct even_odd_entries {
    HALF ce, co, se, so;
} even_odd_entries;

#define half_split split
#define half_mul   mul
#define half_add   add
#define half_sub   sub

OP WORDS load_words(const void *p) {
    return _mm256_loadu_si256(p);
}

OP void store_words(void *p, WORDS w) {
    _mm256_storeu_si256(p, w);
}

OP HALF even(WORDS w) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(w, 16));
}

OP HALF odd(WORDS w) {
    return _mm256_castsi256_ps(_mm256_and_si256(w, _mm256_set1_epi32((int)0xffff0000u)));
}

// A NaN's lower half is zero, since it comes from a bf16 or is the processor's own: it does not round up.
OP WORDS rounded(HALF v) {
    const WORDS bits = _mm256_castps_si256(v);
    const WORDS odd_bit = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(bits, _mm256_add_epi32(odd_bit, _mm256_set1_epi32(0x7fff)));
}

OP WORDS joined(HALF e, HALF o) {
    return _mm256_blend_epi16(_mm256_srli_epi32(rounded(e), 16), rounded(o), 0xaa);
}

OP REAL low_doubles(REAL a, REAL b) {
    return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

OP REAL high_doubles(REAL a, REAL b) {
    return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

// The shuffles leave pairs 0 4 8 12 and 2 6 10 14.
OP even_odd_entries even_odd(const float *entries) {
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const REAL a = load(entries);
    const REAL b = load(entries + 8);
    const REAL c = load(entries + 16);
    const REAL d = load(entries + 24);
    const REAL even_1 = low_doubles(a, b);
    const REAL even_2 = low_doubles(c, d);
    const REAL odd_1 = high_doubles(a, b);
    const REAL odd_2 = high_doubles(c, d);
    return (even_odd_entries){_mm256_permutevar8x32_ps(_mm256_shuffle_ps(even_1, even_2, 0x88), order),
                              _mm256_permutevar8x32_ps(_mm256_shuffle_ps(odd_1, odd_2, 0x88), order),
                              _mm256_permutevar8x32_ps(_mm256_shuffle_ps(even_1, even_2, 0xdd), order),
                              _mm256_permutevar8x32_ps(_mm256_shuffle_ps(odd_1, odd_2, 0xdd), order)};
}

#include "turn_all_tmpl.h"

const rope2d_turn_kernel rope2d_turn_avx2[6] = {
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F32, 8, 32, HALF_STEPS, .turn = half_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F16, 8, 16, HALF_STEPS, .turn = half_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 16, 32, EVEN_ODD_STEPS, .shares = HAS_SHARED,
     .turn = half_bf16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 4, 32, BLOCK_STEPS, .turn = interleaved_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F16, 4, 16, BLOCK_STEPS, .turn = interleaved_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 8, 32, WORD_STEPS, .turn = interleaved_bf16},
};

#endif
