// SPDX-License-Identifier: MIT
#include "bench_turns.h"

#if defined(__x86_64__) && defined(__GNUC__)

#define TARGETED   __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,f16c")))
#define HAS_AVX512 1
#include "bench_turns_loops_tmpl.h"

static const int32_t evens[] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
static const float signs[] = {-0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f,
                              -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f};
// The bytes of each word, its halves exchanged.
#define SWAPPED 0x01000302, 0x05040706, 0x09080b0a, 0x0d0c0f0e
static const int32_t swapped_halves[] = {SWAPPED, SWAPPED, SWAPPED, SWAPPED};

#include "bench_turns_widths_tmpl.h"

#define WIDTH            16
#define REAL             __m512
#define WORDS            __m512i
#define MASK             __mmask16
#define V(name)          _mm512_##name
#define T(name)          full_##name
#define AS_WORDS(v)      _mm512_castps_si512(v)
#define AS_REAL(w)       _mm512_castsi512_ps(w)
#define LOAD_F16(p)      _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define STORE_F16(p, v)  _mm256_storeu_si256((__m256i *)(void *)(p), _mm512_cvtps_ph(v, 0))
#define STREAM_F16(p, v) _mm256_stream_si256((__m256i *)(void *)(p), _mm512_cvtps_ph(v, 0))
#include "bench_turns_tmpl.h"

HALF_TOKENS(halves_32, half, narrow, 8)
HALF_TOKENS(halves_64, full, half, 16)
PAIR_TOKENS(pairs_32, half, narrow, 8, 14)
PAIR_TOKENS(pairs_64, full, half, 16, 14)

// Of a single head all lo before any hi: each line is read in the order in which they lie.
FN void halves_in_order(const struct bench_turn_part *part, struct shape shape) {
    const rope2d_element e = shape.element;
    const int pairs = shape.dim / 2, size = size_of(e), n = e == ROPE2D_BF16 ? 32 : 16, steps = pairs / n;
    full_entries kept[MOST_STEPS];
    __m512 x[MOST_STEPS];
    for (uint64_t token = part->begin; token < part->end; ++token) {
        const struct rows rows = rows_of(part, &shape, token);
        UNROLLED for (int i = 0; i < steps; ++i) kept[i] = full_half_entries(&rows, i * n, e);
        for (uint32_t t = 0; t < part->tensor_count; ++t) {
            const unsigned char *const lo = part->from[t] + place_of(&shape, token);
            const unsigned char *const hi = lo + pairs * size;
            unsigned char *const to = part->to[t] + place_of(&shape, token);
            UNROLLED for (int i = 0; i < steps; ++i) x[i] = full_read(lo + i * n * size, e);
            UNROLLED for (int i = 0; i < steps; ++i) {
                const int at = i * n * size;
                full_half_write(to + at, to + pairs * size + at, (full_step){x[i], full_read(hi + at, e)},
                                &kept[i], &shape);
            }
        }
    }
}

#define TURNS(tower, ahead, ...)                                                                             \
    TYPES(tower, half_32, halves_32, ahead, __VA_ARGS__)                                                     \
    TYPES(tower, half_64, halves_64, ahead, __VA_ARGS__)                                                     \
    TYPES(tower, pair_32, pairs_32, ahead, __VA_ARGS__)                                                      \
    TYPES(tower, pair_64, pairs_64, ahead, __VA_ARGS__)

TURNS(qwen2vl, 0, 16, 80, 2, {20, 40})
TURNS(sam2, 0, 1, 256, 2, {64, 128})
TURNS(sam2, 2048, 1, 256, 2, {64, 128})
TYPES(sam2, in_order, halves_in_order, 0, 1, 256, 2, {64, 128})
TURNS(dinov3, 0, 12, 64, 2, {16, 32})
TURNS(flux, 0, 24, 128, 3, {8, 36, 64})
TURNS(wan, 0, 12, 128, 3, {22, 43, 64})
TYPES(llama4, half_32, halves_32, 0, 16, 88, 2, {22, 44})
TYPES(llama4, half_64, halves_64, 0, 16, 88, 2, {22, 44})
TYPES(llama4, pair_32, pairs_32, 0, 16, 88, 2, {22, 44})
TURN(llama4, pair_64, pairs_64, F32, 0, 16, 88, 2, {22, 44})
TURN(llama4, pair_64, pairs_64, F16, 0, 16, 88, 2, {22, 44})
// Of rows whose halves, or heads, are whole vectors.
#define ALL_STREAMS(tower, name, turn, ...)                                                                  \
    STREAM(tower, name, turn, F32, 0, __VA_ARGS__)                                                           \
    STREAM(tower, name, turn, F16, 0, __VA_ARGS__)                                                           \
    STREAM(tower, name, turn, BF16, 0, __VA_ARGS__)
#define WIDTHS_STREAMS(tower, ...)                                                                           \
    ALL_STREAMS(tower, half_32, halves_32, __VA_ARGS__)                                                      \
    ALL_STREAMS(tower, half_64, halves_64, __VA_ARGS__)                                                      \
    ALL_STREAMS(tower, pair_32, pairs_32, __VA_ARGS__)                                                       \
    ALL_STREAMS(tower, pair_64, pairs_64, __VA_ARGS__)
STREAM(qwen2vl, half_32, halves_32, F32, 0, 16, 80, 2, {20, 40})
STREAM(qwen2vl, half_32, halves_32, F16, 0, 16, 80, 2, {20, 40})
ALL_STREAMS(qwen2vl, pair_32, pairs_32, 16, 80, 2, {20, 40})
STREAM(qwen2vl, pair_64, pairs_64, F32, 0, 16, 80, 2, {20, 40})
STREAM(qwen2vl, pair_64, pairs_64, F16, 0, 16, 80, 2, {20, 40})
WIDTHS_STREAMS(sam2, 1, 256, 2, {64, 128})
WIDTHS_STREAMS(dinov3, 12, 64, 2, {16, 32})
WIDTHS_STREAMS(flux, 24, 128, 3, {8, 36, 64})
WIDTHS_STREAMS(wan, 12, 128, 3, {22, 43, 64})
STREAM(llama4, pair_32, pairs_32, F32, 0, 16, 88, 2, {22, 44})
STREAM(llama4, pair_32, pairs_32, F16, 0, 16, 88, 2, {22, 44})

#define ALL_LISTED(tower, ahead, more, heads, dim)                                                           \
    LISTED("AVX-512, 32 bytes" more, tower, half_32, ahead, heads, dim, ROPE2D_PAIRING_HALF),                \
        LISTED("AVX-512, 64 bytes" more, tower, half_64, ahead, heads, dim, ROPE2D_PAIRING_HALF),            \
        LISTED("AVX-512, 32 bytes" more, tower, pair_32, ahead, heads, dim, ROPE2D_PAIRING_INTERLEAVED),     \
        LISTED("AVX-512, 64 bytes" more, tower, pair_64, ahead, heads, dim, ROPE2D_PAIRING_INTERLEAVED)
#define STREAMED_32(tower, name, type, heads, dim, pairing, store)                                           \
    STREAMED("AVX-512, 32 bytes", tower, name, type, 0, heads, dim, pairing, store)
#define STREAMED_64(tower, name, type, heads, dim, pairing, store)                                           \
    STREAMED("AVX-512, 64 bytes", tower, name, type, 0, heads, dim, pairing, store)
#define TYPES_32(tower, name, heads, dim, pairing)                                                           \
    STREAMED_32(tower, name, F32, heads, dim, pairing, 32),                                                  \
        STREAMED_32(tower, name, F16, heads, dim, pairing, 16),                                              \
        STREAMED_32(tower, name, BF16, heads, dim, pairing, 32)
#define TYPES_64(tower, name, heads, dim, pairing)                                                           \
    STREAMED_64(tower, name, F32, heads, dim, pairing, 64),                                                  \
        STREAMED_64(tower, name, F16, heads, dim, pairing, 32),                                              \
        STREAMED_64(tower, name, BF16, heads, dim, pairing, 64)
#define WIDTHS_STREAMED(tower, heads, dim)                                                                   \
    TYPES_32(tower, half_32, heads, dim, ROPE2D_PAIRING_HALF),                                               \
        TYPES_64(tower, half_64, heads, dim, ROPE2D_PAIRING_HALF),                                           \
        TYPES_32(tower, pair_32, heads, dim, ROPE2D_PAIRING_INTERLEAVED),                                    \
        TYPES_64(tower, pair_64, heads, dim, ROPE2D_PAIRING_INTERLEAVED)

static const struct bench_turn_loop loops[] = {
    ALL_LISTED(qwen2vl, 0, "", 16, 80),
    ALL_LISTED(sam2, 0, "", 1, 256),
    ALL_LISTED(sam2, 2048, ", fetched ahead", 1, 256),
    LISTED("AVX-512, 64 bytes, lo before hi", sam2, in_order, 0, 1, 256, ROPE2D_PAIRING_HALF),
    ALL_LISTED(dinov3, 0, "", 12, 64),
    ALL_LISTED(flux, 0, "", 24, 128),
    ALL_LISTED(wan, 0, "", 12, 128),
    LISTED("AVX-512, 32 bytes", llama4, half_32, 0, 16, 88, ROPE2D_PAIRING_HALF),
    LISTED("AVX-512, 64 bytes", llama4, half_64, 0, 16, 88, ROPE2D_PAIRING_HALF),
    LISTED("AVX-512, 32 bytes", llama4, pair_32, 0, 16, 88, ROPE2D_PAIRING_INTERLEAVED),
    ORDERS("AVX-512, 64 bytes", llama4_pair_64_F32_0, ROPE2D_F32, 16, 88, ROPE2D_PAIRING_INTERLEAVED),
    ORDERS("AVX-512, 64 bytes", llama4_pair_64_F16_0, ROPE2D_F16, 16, 88, ROPE2D_PAIRING_INTERLEAVED),
    STREAMED_32(qwen2vl, half_32, F32, 16, 80, ROPE2D_PAIRING_HALF, 32),
    STREAMED_32(qwen2vl, half_32, F16, 16, 80, ROPE2D_PAIRING_HALF, 16),
    TYPES_32(qwen2vl, pair_32, 16, 80, ROPE2D_PAIRING_INTERLEAVED),
    STREAMED_64(qwen2vl, pair_64, F32, 16, 80, ROPE2D_PAIRING_INTERLEAVED, 64),
    STREAMED_64(qwen2vl, pair_64, F16, 16, 80, ROPE2D_PAIRING_INTERLEAVED, 32),
    WIDTHS_STREAMED(sam2, 1, 256),
    WIDTHS_STREAMED(dinov3, 12, 64),
    WIDTHS_STREAMED(flux, 24, 128),
    WIDTHS_STREAMED(wan, 12, 128),
    STREAMED_32(llama4, pair_32, F32, 16, 88, ROPE2D_PAIRING_INTERLEAVED, 32),
    STREAMED_32(llama4, pair_32, F16, 16, 88, ROPE2D_PAIRING_INTERLEAVED, 16),
};

static bool are_here(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

const struct bench_turn_list bench_turns_avx512 = {loops, sizeof loops / sizeof *loops, are_here, stream_out,
                                                   stream_end};

#else

const struct bench_turn_list bench_turns_avx512 = {0};

#endif
