// SPDX-License-Identifier: MIT
//
// bench_turns_tmpl.h for the vectors that AVX2 and AVX-512 share: of 16 bytes, `narrow`, and of 32, `half`.
// Behind bench_turns_loops_tmpl.h and the constants of the instruction set.

#define WIDTH            4
#define REAL             __m128
#define WORDS            __m128i
#define MASK             __mmask8
#define V(name)          _mm_##name
#define T(name)          narrow_##name
#define AS_WORDS(v)      _mm_castps_si128(v)
#define AS_REAL(w)       _mm_castsi128_ps(w)
#define LOAD_WORDS(p)    _mm_loadu_si128((const __m128i *)(const void *)(p))
#define LOWER(a, b)      (a)
#define UPPER(a, b)      (b)
#define LOAD_F16(p)      _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)(p)))
#define STORE_F16(p, v)  _mm_storel_epi64((__m128i *)(void *)(p), _mm_cvtps_ph(v, 0))
#define STREAM_F16(p, v) _mm_stream_si64((long long *)(void *)(p), _mm_cvtsi128_si64(_mm_cvtps_ph(v, 0)))
#include "bench_turns_tmpl.h"

// Without AVX-512 shuffles are of lanes of 128 bits.
#define WIDTH            8
#define REAL             __m256
#define WORDS            __m256i
#define MASK             __mmask8
#define V(name)          _mm256_##name
#define T(name)          half_##name
#define AS_WORDS(v)      _mm256_castps_si256(v)
#define AS_REAL(w)       _mm256_castsi256_ps(w)
#define LOAD_WORDS(p)    _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define LOWER(a, b)      _mm256_permute2f128_ps(a, b, 0x20)
#define UPPER(a, b)      _mm256_permute2f128_ps(a, b, 0x31)
#define LOAD_F16(p)      _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define STORE_F16(p, v)  _mm_storeu_si128((__m128i *)(void *)(p), _mm256_cvtps_ph(v, 0))
#define STREAM_F16(p, v) _mm_stream_si128((__m128i *)(void *)(p), _mm256_cvtps_ph(v, 0))
#include "bench_turns_tmpl.h"
