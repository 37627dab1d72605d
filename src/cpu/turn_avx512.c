// SPDX-License-Identifier: MIT
#include "turn_lists.h"

#if ROPE2D_X86_64

#include <immintrin.h>

#if defined(__GNUC__)
#define TURN_FN __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define OP      static inline __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), always_inline))
#else
#define TURN_FN
#define OP static __forceinline
#endif

// bf16 goes by 16 pairs at a time as well, in two vectors of 256 bits.
#define REAL                __m512
#define WIDTH               16
#define HALF                __m256
#define HALF_WIDTH          8
#define WORDS               __m256i
#define HAS_HALF_F16        0
#define HAS_INTERLEAVED_F16 1

OP REAL load(const void *p) {
    return _mm512_loadu_ps(p);
}

OP void store(void *p, REAL v) {
    _mm512_storeu_ps(p, v);
}

OP REAL mul(REAL a, REAL b) {
    return _mm512_mul_ps(a, b);
}

OP REAL add(REAL a, REAL b) {
    return _mm512_add_ps(a, b);
}

OP REAL sub(REAL a, REAL b) {
    return _mm512_sub_ps(a, b);
}

OP REAL swapped(REAL v) {
    return _mm512_permute_ps(v, 0xb1);
}

OP REAL load_f16(const void *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(p));
}

OP void store_f16(void *p, REAL v) {
    _mm256_storeu_si256(p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

OP HALF half_load(const void *p) {
    return _mm256_loadu_ps(p);
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

// Upper halves, each one more where the lower half is more than 0x8000, or is that and the upper half odd. A
// NaN's lower half is zero, since it comes from a bf16 or is the processor's own.
OP WORDS joined(HALF e, HALF o) {
    const WORDS low_halves =
        _mm256_setr_epi32(0x100000, 0x120002, 0x140004, 0x160006, 0x180008, 0x1a000a, 0x1c000c, 0x1e000e);
    const WORDS ones = _mm256_set1_epi16(1);
    const WORDS bits = _mm256_castps_si256(e);
    const WORDS more = _mm256_castps_si256(o);
    const WORDS lower = _mm256_permutex2var_epi16(bits, low_halves, more);
    const WORDS upper = _mm256_permutex2var_epi16(bits, _mm256_or_si256(low_halves, ones), more);
    const WORDS rest = _mm256_ternarylogic_epi32(lower, upper, ones, 0xf8); // lower | (upper & 1)
    const __mmask16 up = _mm256_cmpgt_epu16_mask(rest, _mm256_set1_epi16(INT16_MIN));
    return _mm256_mask_add_epi16(upper, up, upper, ones);
}

#include "turn_all_tmpl.h"

OP void stage_split_step(const float *entries, float *staged) {
    const __m512i cosines = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const REAL a = load(entries);
    const REAL b = load(entries + 16);
    store(staged, _mm512_permutex2var_ps(a, cosines, b));
    store(staged + 16, _mm512_permutex2var_ps(a, _mm512_or_si512(cosines, _mm512_set1_epi32(1)), b));
}

// Eight pairs: the same for the half vectors.
OP void stage_half_split_step(const float *entries, float *staged) {
    const __m512i order = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    store(staged, _mm512_permutexvar_ps(order, load(entries)));
}

OP void stage_pairs_step(const float *entries, float *staged) {
    const REAL a = load(entries);
    const __m512i signs = _mm512_set1_epi64(INT64_C(0x80000000));
    store(staged, _mm512_moveldup_ps(a));
    store(staged + 16,
          _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(_mm512_movehdup_ps(a)), signs)));
}

// Cosines of the even pairs, of the odd ones, then sines.
OP void stage_even_odd_step(const float *entries, float *staged) {
    const __m512i cosines = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 2, 6, 10, 14, 18, 22, 26, 30);
    const REAL a = load(entries);
    const REAL b = load(entries + 16);
    store(staged, _mm512_permutex2var_ps(a, cosines, b));
    store(staged + 16, _mm512_permutex2var_ps(a, _mm512_or_si512(cosines, _mm512_set1_epi32(1)), b));
}

STAGE(stage_split, 16, 32)
STAGE(stage_half_split, 8, 16)
STAGE(stage_pairs, 8, 32)
STAGE(stage_even_odd, 16, 32)

const rope2d_turn_kernel rope2d_turn_avx512[5] = {
    {"half_f32_avx512", ROPE2D_ISA_AVX512, ROPE2D_KERNEL_HALF, ROPE2D_F32, 16, 64, 32, half_f32, stage_split},
    {"half_bf16_avx512", ROPE2D_ISA_AVX512, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 16, 32, 32, half_bf16,
     stage_even_odd},
    {"interleaved_f32_avx512", ROPE2D_ISA_AVX512, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 8, 64, 32,
     interleaved_f32, stage_pairs},
    {"interleaved_f16_avx512", ROPE2D_ISA_AVX512, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F16, 8, 32, 32,
     interleaved_f16, stage_pairs},
    {"interleaved_bf16_avx512", ROPE2D_ISA_AVX512, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 8, 32, 16,
     interleaved_bf16, stage_half_split},
};

#endif
