// SPDX-License-Identifier: MIT
#include "bench_turns.h"

#if defined(__x86_64__) && defined(__GNUC__)

#define TARGETED   __attribute__((target("avx2,f16c")))
#define HAS_AVX512 0
#include "bench_turns_loops_tmpl.h"

static const float signs[] = {-0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f};
static const int32_t places[] = {0, 1, 2, 3, 4, 5, 6, 7};

#define WIDTH           4
#define REAL            __m128
#define WORDS           __m128i
#define V(name)         _mm_##name
#define T(name)         narrow_##name
#define AS_WORDS(v)     _mm_castps_si128(v)
#define AS_REAL(w)      _mm_castsi128_ps(w)
#define LOAD_WORDS(p)   _mm_loadu_si128((const __m128i *)(const void *)(p))
#define IN_ORDER(v)     (v)
#define LOAD_F16(p)     _mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)(p)))
#define STORE_F16(p, v) _mm_storel_epi64((__m128i *)(void *)(p), _mm_cvtps_ph(v, 0))
#include "bench_turns_tmpl.h"

// Shuffles are of lanes of 128 bits.
#define WIDTH           8
#define REAL            __m256
#define WORDS           __m256i
#define V(name)         _mm256_##name
#define T(name)         half_##name
#define AS_WORDS(v)     _mm256_castps_si256(v)
#define AS_REAL(w)      _mm256_castsi256_ps(w)
#define LOAD_WORDS(p)   _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define IN_ORDER(v)     _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xd8))
#define LOAD_F16(p)     _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define STORE_F16(p, v) _mm_storeu_si128((__m128i *)(void *)(p), _mm256_cvtps_ph(v, 0))
#include "bench_turns_tmpl.h"

// Of all steps at once compilers keep what registers have no room for on the stack, where the nearest cache
// has it.
HALF_TOKENS(halves, half, narrow, 8)
PAIR_TOKENS(pairs, half, narrow, 8, 5)
PAIR_TOKENS(long_pairs, half, narrow, 8, MOST_STEPS)

#define TURNS(tower, ahead, ...)                                                                             \
    TYPES(tower, half, halves, ahead, __VA_ARGS__)                                                           \
    TYPES(tower, pair, pairs, ahead, __VA_ARGS__)                                                            \
    TYPES(tower, long_pair, long_pairs, ahead, __VA_ARGS__)
#define BOTH_TURNS(tower, ...)                                                                               \
    TURNS(tower, 0, __VA_ARGS__)                                                                             \
    TURNS(tower, 2816, __VA_ARGS__)

BOTH_TURNS(qwen2vl, 16, 80, 2, {20, 40})
BOTH_TURNS(sam2, 1, 256, 2, {64, 128})
BOTH_TURNS(dinov3, 12, 64, 2, {16, 32})
BOTH_TURNS(flux, 24, 128, 3, {8, 36, 64})
BOTH_TURNS(llama4, 16, 88, 2, {22, 44})

#define ALL_LISTED(tower, ahead, more, heads, dim)                                                           \
    LISTED("AVX2" more, tower, half, ahead, heads, dim, ROPE2D_PAIRING_HALF),                                \
        LISTED("AVX2" more, tower, pair, ahead, heads, dim, ROPE2D_PAIRING_INTERLEAVED),                     \
        LISTED("AVX2, whole heads" more, tower, long_pair, ahead, heads, dim, ROPE2D_PAIRING_INTERLEAVED)
#define BOTH_LISTED(tower, heads, dim)                                                                       \
    ALL_LISTED(tower, 0, "", heads, dim), ALL_LISTED(tower, 2816, ", fetched ahead", heads, dim)

static const struct bench_turn_loop loops[] = {
    BOTH_LISTED(qwen2vl, 16, 80), BOTH_LISTED(sam2, 1, 256),   BOTH_LISTED(dinov3, 12, 64),
    BOTH_LISTED(flux, 24, 128),   BOTH_LISTED(llama4, 16, 88),
};

static bool are_here(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

const struct bench_turn_list bench_turns_avx2 = {loops, sizeof loops / sizeof *loops, are_here};

#else

const struct bench_turn_list bench_turns_avx2 = {0};

#endif
