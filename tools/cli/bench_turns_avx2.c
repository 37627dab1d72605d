// SPDX-License-Identifier: MIT
#include "bench_turns.h"

#if defined(__x86_64__) && defined(__GNUC__)

#define TARGETED   __attribute__((target("avx2,f16c")))
#define HAS_AVX512 0
#include "bench_turns_loops_tmpl.h"

static const float signs[] = {-0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f};
static const int32_t places[] = {0, 1, 2, 3, 4, 5, 6, 7};

#include "bench_turns_widths_tmpl.h"

// Of all steps at once compilers keep what registers have no room for on the stack, where the nearest cache
// has it.
HALF_TOKENS(halves, half, narrow, 8)
PAIR_TOKENS(pairs, half, narrow, 8, 5)
PAIR_TOKENS(long_pairs, half, narrow, 8, MOST_STEPS)

// Of a single head each step of q and of k, whose cosines and sines nobody keeps.
FN void both_halves(const struct bench_turn_part *part, struct shape shape) {
    const rope2d_element e = shape.element;
    const int pairs = shape.dim / 2, size = size_of(e), n = e == ROPE2D_BF16 ? 16 : 8, steps = pairs / n;
    for (uint64_t token = part->begin; token < part->end; ++token) {
        const struct rows rows = rows_of(part, &shape, token);
        const uint64_t place = place_of(&shape, token);
        const unsigned char *const q = part->from[0] + place, *const k = part->from[1] + place;
        unsigned char *const to_q = part->to[0] + place, *const to_k = part->to[1] + place;
        UNROLLED for (int i = 0; i < steps; ++i) {
            const half_entries entries = half_half_entries(&rows, i * n, e);
            const int lo = i * n * size, hi = lo + pairs * size;
            if (shape.ahead > 0 && lo % BENCH_LINE == 0) {
                BENCH_FETCH(q + lo + shape.ahead);
                BENCH_FETCH(q + hi + shape.ahead);
                BENCH_FETCH(k + lo + shape.ahead);
                BENCH_FETCH(k + hi + shape.ahead);
            }
            const half_step x = half_half_read(q + lo, q + hi, e), y = half_half_read(k + lo, k + hi, e);
            half_half_write(to_q + lo, to_q + hi, x, &entries, &shape);
            half_half_write(to_k + lo, to_k + hi, y, &entries, &shape);
        }
    }
}

FN void both_pairs(const struct bench_turn_part *part, struct shape shape) {
    const rope2d_element e = shape.element;
    const int size = size_of(e), n = e == ROPE2D_BF16 ? 8 : 4, steps = shape.dim / 2 / n;
    for (uint64_t token = part->begin; token < part->end; ++token) {
        const struct rows rows = rows_of(part, &shape, token);
        const uint64_t place = place_of(&shape, token);
        const unsigned char *const q = part->from[0] + place, *const k = part->from[1] + place;
        unsigned char *const to_q = part->to[0] + place, *const to_k = part->to[1] + place;
        UNROLLED for (int i = 0; i < steps; ++i) {
            const half_entries entries = half_pair_entries(&rows, i * n, e);
            const int at = i * 2 * n * size;
            if (shape.ahead > 0 && at % BENCH_LINE == 0) {
                BENCH_FETCH(q + at + shape.ahead);
                BENCH_FETCH(k + at + shape.ahead);
            }
            half_pair_turn(to_q + at, q + at, &entries, &shape);
            half_pair_turn(to_k + at, k + at, &entries, &shape);
        }
    }
}

#define TURNS(tower, ahead, ...)                                                                             \
    TYPES(tower, half, halves, ahead, __VA_ARGS__)                                                           \
    TYPES(tower, pair, pairs, ahead, __VA_ARGS__)
#define BOTH_TURNS(tower, ...)                                                                               \
    TURNS(tower, 0, __VA_ARGS__)                                                                             \
    TURNS(tower, 2816, __VA_ARGS__)
// Where blocks are not whole heads anyway.
#define LONG_TURNS(tower, ...)                                                                               \
    TYPES(tower, long_pair, long_pairs, 0, __VA_ARGS__)                                                      \
    TYPES(tower, long_pair, long_pairs, 2816, __VA_ARGS__)

BOTH_TURNS(qwen2vl, 16, 80, 2, {20, 40})
LONG_TURNS(qwen2vl, 16, 80, 2, {20, 40})
BOTH_TURNS(sam2, 1, 256, 2, {64, 128})
TYPES(sam2, both_half, both_halves, 0, 1, 256, 2, {64, 128})
TYPES(sam2, both_half, both_halves, 2048, 1, 256, 2, {64, 128})
TYPES(sam2, both_pair, both_pairs, 0, 1, 256, 2, {64, 128})
TYPES(sam2, both_pair, both_pairs, 2048, 1, 256, 2, {64, 128})
BOTH_TURNS(dinov3, 12, 64, 2, {16, 32})
LONG_TURNS(dinov3, 12, 64, 2, {16, 32})
BOTH_TURNS(flux, 24, 128, 3, {8, 36, 64})
BOTH_TURNS(wan, 12, 128, 3, {22, 43, 64})
LONG_TURNS(flux, 24, 128, 3, {8, 36, 64})
LONG_TURNS(wan, 12, 128, 3, {22, 43, 64})
BOTH_TURNS(llama4, 16, 88, 2, {22, 44})
// Of rows whose halves, or heads, are whole vectors.
#define BOTH_STREAMS(tower, name, turn, type, ...)                                                           \
    STREAM(tower, name, turn, type, 0, __VA_ARGS__)                                                          \
    STREAM(tower, name, turn, type, 2816, __VA_ARGS__)
#define ALL_STREAMS(tower, name, turn, ...)                                                                  \
    BOTH_STREAMS(tower, name, turn, F32, __VA_ARGS__)                                                        \
    BOTH_STREAMS(tower, name, turn, F16, __VA_ARGS__)                                                        \
    BOTH_STREAMS(tower, name, turn, BF16, __VA_ARGS__)
BOTH_STREAMS(qwen2vl, half, halves, F32, 16, 80, 2, {20, 40})
BOTH_STREAMS(qwen2vl, half, halves, F16, 16, 80, 2, {20, 40})
ALL_STREAMS(qwen2vl, pair, pairs, 16, 80, 2, {20, 40})
ALL_STREAMS(sam2, half, halves, 1, 256, 2, {64, 128})
ALL_STREAMS(sam2, pair, pairs, 1, 256, 2, {64, 128})
ALL_STREAMS(dinov3, half, halves, 12, 64, 2, {16, 32})
ALL_STREAMS(dinov3, pair, pairs, 12, 64, 2, {16, 32})
ALL_STREAMS(flux, half, halves, 24, 128, 3, {8, 36, 64})
ALL_STREAMS(wan, half, halves, 12, 128, 3, {22, 43, 64})
ALL_STREAMS(flux, pair, pairs, 24, 128, 3, {8, 36, 64})
ALL_STREAMS(wan, pair, pairs, 12, 128, 3, {22, 43, 64})
BOTH_STREAMS(llama4, pair, pairs, F32, 16, 88, 2, {22, 44})
BOTH_STREAMS(llama4, pair, pairs, F16, 16, 88, 2, {22, 44})

#define BOTH_LISTED(label, tower, name, heads, dim, pairing)                                                 \
    LISTED(label, tower, name, 0, heads, dim, pairing),                                                      \
        LISTED(label ", fetched ahead", tower, name, 2816, heads, dim, pairing)
#define TURNS_LISTED(tower, heads, dim)                                                                      \
    BOTH_LISTED("AVX2", tower, half, heads, dim, ROPE2D_PAIRING_HALF),                                       \
        BOTH_LISTED("AVX2", tower, pair, heads, dim, ROPE2D_PAIRING_INTERLEAVED)
#define LONG_LISTED(tower, heads, dim)                                                                       \
    BOTH_LISTED("AVX2, whole heads", tower, long_pair, heads, dim, ROPE2D_PAIRING_INTERLEAVED)
#define STEPS_LISTED(more, name, ahead, pairing)                                                             \
    {"AVX2, step by step" more, 1, 256, pairing, ROPE2D_F32, false, 0, sam2_##name##_F32_##ahead},           \
        {"AVX2, step by step" more, 1, 256, pairing, ROPE2D_F16, false, 0, sam2_##name##_F16_##ahead}, {     \
        "AVX2, step by step" more, 1, 256, pairing, ROPE2D_BF16, false, 0, sam2_##name##_BF16_##ahead        \
    }
#define STREAMS_LISTED(tower, name, type, heads, dim, pairing, store)                                        \
    STREAMED("AVX2", tower, name, type, 0, heads, dim, pairing, store),                                      \
        STREAMED("AVX2, fetched ahead", tower, name, type, 2816, heads, dim, pairing, store)
#define TYPES_STREAMED(tower, name, heads, dim, pairing)                                                     \
    STREAMS_LISTED(tower, name, F32, heads, dim, pairing, 32),                                               \
        STREAMS_LISTED(tower, name, F16, heads, dim, pairing, 16),                                           \
        STREAMS_LISTED(tower, name, BF16, heads, dim, pairing, 32)

static const struct bench_turn_loop loops[] = {
    TURNS_LISTED(qwen2vl, 16, 80),
    LONG_LISTED(qwen2vl, 16, 80),
    TURNS_LISTED(sam2, 1, 256),
    STEPS_LISTED("", both_half, 0, ROPE2D_PAIRING_HALF),
    STEPS_LISTED("", both_pair, 0, ROPE2D_PAIRING_INTERLEAVED),
    STEPS_LISTED(", fetched ahead", both_half, 2048, ROPE2D_PAIRING_HALF),
    STEPS_LISTED(", fetched ahead", both_pair, 2048, ROPE2D_PAIRING_INTERLEAVED),
    TURNS_LISTED(dinov3, 12, 64),
    LONG_LISTED(dinov3, 12, 64),
    TURNS_LISTED(flux, 24, 128),
    TURNS_LISTED(wan, 12, 128),
    LONG_LISTED(flux, 24, 128),
    LONG_LISTED(wan, 12, 128),
    TURNS_LISTED(llama4, 16, 88),
    STREAMS_LISTED(qwen2vl, half, F32, 16, 80, ROPE2D_PAIRING_HALF, 32),
    STREAMS_LISTED(qwen2vl, half, F16, 16, 80, ROPE2D_PAIRING_HALF, 16),
    TYPES_STREAMED(qwen2vl, pair, 16, 80, ROPE2D_PAIRING_INTERLEAVED),
    TYPES_STREAMED(sam2, half, 1, 256, ROPE2D_PAIRING_HALF),
    TYPES_STREAMED(sam2, pair, 1, 256, ROPE2D_PAIRING_INTERLEAVED),
    TYPES_STREAMED(dinov3, half, 12, 64, ROPE2D_PAIRING_HALF),
    TYPES_STREAMED(dinov3, pair, 12, 64, ROPE2D_PAIRING_INTERLEAVED),
    TYPES_STREAMED(flux, half, 24, 128, ROPE2D_PAIRING_HALF),
    TYPES_STREAMED(wan, half, 12, 128, ROPE2D_PAIRING_HALF),
    TYPES_STREAMED(flux, pair, 24, 128, ROPE2D_PAIRING_INTERLEAVED),
    TYPES_STREAMED(wan, pair, 12, 128, ROPE2D_PAIRING_INTERLEAVED),
    STREAMS_LISTED(llama4, pair, F32, 16, 88, ROPE2D_PAIRING_INTERLEAVED, 32),
    STREAMS_LISTED(llama4, pair, F16, 16, 88, ROPE2D_PAIRING_INTERLEAVED, 16),
};

static bool are_here(void) {
    return __builtin_cpu_supports("avx2"); // and then F16C; not every compiler knows how to ask for that
}

const struct bench_turn_list bench_turns_avx2 = {loops, sizeof loops / sizeof *loops, are_here, stream_out,
                                                 stream_end};

#else

const struct bench_turn_list bench_turns_avx2 = {0};

#endif
