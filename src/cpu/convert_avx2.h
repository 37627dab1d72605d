// SPDX-License-Identifier: MIT
//
// Eight channels of any element type as f32, and back, with AVX2 and F16C. The conversions are those of
// core.h, but a signalling NaN of f16 becomes quiet, as a product would make it.
#ifndef ROPE2D_CPU_CONVERT_AVX2_H
#define ROPE2D_CPU_CONVERT_AVX2_H

#include "isa.h"

#define ROPE2D_CONVERTED 8 // channels at a time

#if ROPE2D_X86_64

#include <immintrin.h>

#if defined(__GNUC__)
#define CONVERT_FN __attribute__((target("avx2,f16c")))
#define CONVERT_OP static inline __attribute__((target("avx2,f16c"), always_inline))
#else
#define CONVERT_FN
#define CONVERT_OP static __forceinline
#endif

// Of the channels from `at` on.
CONVERT_OP __m256 rope2d_widen(const unsigned char *from, uint32_t at, rope2d_element type) {
    if (type == ROPE2D_F32)
        return _mm256_loadu_ps((const void *)(from + at * sizeof(float)));
    const __m128i halves = _mm_loadu_si128((const void *)(from + at * sizeof(uint16_t)));
    const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
    return type == ROPE2D_BF16 ? upper : _mm256_cvtph_ps(halves);
}

CONVERT_OP __m128i rope2d_narrow_bf16(__m256 v) {
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i number = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i nan = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256 chosen = _mm256_blendv_ps(_mm256_castsi256_ps(number), _mm256_castsi256_ps(nan),
                                           _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i upper = _mm256_srli_epi32(_mm256_castps_si256(chosen), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
}

CONVERT_OP void rope2d_narrow(unsigned char *to, uint32_t at, rope2d_element type, __m256 v) {
    if (type == ROPE2D_F32) {
        _mm256_storeu_ps((void *)(to + at * sizeof(float)), v);
        return;
    }
    _mm_storeu_si128((void *)(to + at * sizeof(uint16_t)),
                     type == ROPE2D_BF16 ? rope2d_narrow_bf16(v)
                                         : _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

#endif

#endif
