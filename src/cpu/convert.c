// SPDX-License-Identifier: MIT
#include "convert.h"

#include <string.h>

#if ROPE2D_X86_64

#include <immintrin.h>

#if defined(__GNUC__)
#define CONVERT_FN __attribute__((target("avx2,f16c")))
#define OP         static inline __attribute__((target("avx2,f16c"), always_inline))
#else
#define CONVERT_FN
#define OP static __forceinline
#endif

CONVERT_FN static void widen(float *to, const unsigned char *from, rope2d_element type, uint32_t count) {
    if (type == ROPE2D_F32) {
        memcpy(to, from, count * sizeof(*to));
        return;
    }
    for (uint32_t at = 0; at < count; at += ROPE2D_CONVERTED) {
        const __m128i halves = _mm_loadu_si128((const void *)(from + at * sizeof(uint16_t)));
        const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
        _mm256_storeu_ps(to + at, type == ROPE2D_BF16 ? upper : _mm256_cvtph_ps(halves));
    }
}

OP __m128i narrow_bf16(__m256 v) {
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i number = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i nan = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256 chosen = _mm256_blendv_ps(_mm256_castsi256_ps(number), _mm256_castsi256_ps(nan),
                                           _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i upper = _mm256_srli_epi32(_mm256_castps_si256(chosen), 16);
    return _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
}

CONVERT_FN static void narrow(unsigned char *to, const float *from, rope2d_element type, uint32_t count) {
    if (type == ROPE2D_F32) {
        memcpy(to, from, count * sizeof(*from));
        return;
    }
    for (uint32_t at = 0; at < count; at += ROPE2D_CONVERTED) {
        const __m256 v = _mm256_loadu_ps(from + at);
        _mm_storeu_si128((void *)(to + at * sizeof(uint16_t)),
                         type == ROPE2D_BF16 ? narrow_bf16(v)
                                             : _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    }
}

void rope2d_turn_converted(const rope2d_cpu_job *job, const rope2d_turn *t) {
    _Alignas(ROPE2D_STREAM_LINE) float scratch[ROPE2D_SCRATCH_FLOATS]; // else vectors would be in two lines
    const uint32_t dim = job->plan->pattern.head_dim;
    rope2d_turn part = *t;
    part.in = part.out = (unsigned char *)scratch;
    part.in_inner = part.out_inner = (ptrdiff_t)(dim * sizeof(float));
    part.outer = 1;
    part.fetched = 0;
    for (uint32_t o = 0; o < t->outer; o++, part.tables += t->steps) {
        const unsigned char *from = t->in + (ptrdiff_t)o * t->in_outer;
        unsigned char *to = t->out + (ptrdiff_t)o * t->out_outer;
        for (uint32_t left = t->inner; left > 0; left -= part.inner) {
            const uint32_t room = ROPE2D_SCRATCH_FLOATS / dim;
            part.inner = left < room ? left : room;
            for (uint32_t i = 0; i < part.inner; i++, from += t->in_inner)
                widen(scratch + i * dim, from, job->plan->in, dim);
            job->vector->kernel->turn(&part);
            for (uint32_t i = 0; i < part.inner; i++, to += t->out_inner)
                narrow(to, scratch + i * dim, job->plan->out, dim);
        }
    }
}

#endif
