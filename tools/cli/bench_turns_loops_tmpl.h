// SPDX-License-Identifier: MIT
//
// The loops of bench_turns.h for one instruction set. The file that includes this defines
//
//     TARGETED      how a function of the instruction set begins
//     HAS_AVX512    0 or 1: which constants bench_turns_tmpl.h wants: signs, evens and swapped_halves, or
//     signs
//                   and places
//
// then includes this for what a token's rows are, bench_turns_widths_tmpl.h for the widths that all have, and
// makes of the macros here loops of a width, and of those loops of towers.
#include "bench_limits.h"
#include "bench_turns.h"

#include <immintrin.h>
#include <string.h>

// Sanitizers would make of each step of each tower code that takes minutes to compile.
#define UNSEEN __attribute__((no_sanitize("address", "undefined")))
#define FN     TARGETED UNSEEN static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

// A token's rows of the table, and the pair that ends an axis.
struct rows {
    const float *of[3];
    int ends[3];
};

FN int axis_of(const struct rows *rows, int pair) {
    return pair < rows->ends[0] ? 0 : pair < rows->ends[1] ? 1 : 2;
}

struct shape {
    int heads, dim, axes, ends[3];
    rope2d_element element;
    int ahead;    // bytes to what is asked for with a step; 0: nothing
    bool streams; // stores past the caches
};

FN int size_of(rope2d_element element) {
    return element == ROPE2D_F32 ? 4 : 2;
}

FN uint64_t place_of(const struct shape *shape, uint64_t token) {
    return token * (uint64_t)(shape->heads * shape->dim * size_of(shape->element));
}

TARGETED UNSEEN static void stream_out(void *to, const void *from, size_t bytes, const void *ahead) {
    for (size_t at = 0; at < bytes; at += BENCH_LINE) {
        const float *line = (const float *)from + at / sizeof(float);
        float *out = (float *)to + at / sizeof(float);
        if (ahead)
            BENCH_FETCH((const char *)ahead + at);
        _mm256_stream_ps(out, _mm256_load_ps(line));
        _mm256_stream_ps(out + 8, _mm256_load_ps(line + 8));
    }
}

TARGETED UNSEEN static void stream_end(void) {
    _mm_sfence();
}

FN struct rows rows_of(const struct bench_turn_part *part, const struct shape *shape, uint64_t token) {
    struct rows rows = {.ends = {shape->ends[0], shape->ends[1], shape->ends[2]}};
    for (int a = 0; a < shape->axes; ++a)
        rows.of[a] =
            part->table + (size_t)part->rows[token * (uint64_t)shape->axes + (uint64_t)a] * part->stride;
    return rows;
}

// Steps of a vector; what is left is half a vector, or a step that overlaps the last but one.
enum { MOST_STEPS = 32 };

#define HALF_TOKENS(name, T, TAIL, width)                                                                    \
    FN void name(const struct bench_turn_part *part, struct shape shape) {                                   \
        const rope2d_element e = shape.element;                                                              \
        const int pairs = shape.dim / 2, size = size_of(e), n = e == ROPE2D_BF16 ? 2 * (width) : (width);    \
        const int steps = pairs / n, rest = pairs % n;                                                       \
        const bool has_half = 2 * rest == n, overlaps = rest > 0 && !has_half;                               \
        T##_entries kept[MOST_STEPS];                                                                        \
        memset(kept, 0, sizeof kept); /* compilers lose track of so many */                                  \
        TAIL##_entries tail;                                                                                 \
        for (uint64_t token = part->begin; token < part->end; ++token) {                                     \
            const struct rows rows = rows_of(part, &shape, token);                                           \
            UNROLLED for (int i = 0; i < steps; ++i) kept[i] = T##_half_entries(&rows, i * n, e);            \
            if (has_half)                                                                                    \
                tail = TAIL##_half_entries(&rows, steps * n, e);                                             \
            if (overlaps)                                                                                    \
                kept[steps] = T##_half_entries(&rows, pairs - n, e);                                         \
            for (uint32_t t = 0; t < part->tensor_count; ++t) {                                              \
                const unsigned char *lo = part->from[t] + place_of(&shape, token);                           \
                unsigned char *to = part->to[t] + place_of(&shape, token);                                   \
                for (int h = 0; h < shape.heads; ++h, lo += shape.dim * size, to += shape.dim * size) {      \
                    const unsigned char *const hi = lo + pairs * size;                                       \
                    unsigned char *const to_hi = to + pairs * size;                                          \
                    UNROLLED for (int i = 0; i < steps - overlaps; ++i) {                                    \
                        const int at = i * n * size;                                                         \
                        if (shape.ahead > 0 && at % BENCH_LINE == 0) {                                       \
                            BENCH_FETCH(lo + at + shape.ahead);                                              \
                            BENCH_FETCH(hi + at + shape.ahead);                                              \
                        }                                                                                    \
                        const T##_step v = T##_half_read(lo + at, hi + at, e);                               \
                        T##_half_write(to + at, to_hi + at, v, &kept[i], &shape);                            \
                    }                                                                                        \
                    if (has_half) {                                                                          \
                        const int at = steps * n * size;                                                     \
                        const TAIL##_step v = TAIL##_half_read(lo + at, hi + at, e);                         \
                        TAIL##_half_write(to + at, to_hi + at, v, &tail, &shape);                            \
                    }                                                                                        \
                    if (overlaps) {                                                                          \
                        const int at = (steps - 1) * n * size, last = (pairs - n) * size;                    \
                        const T##_step a = T##_half_read(lo + at, hi + at, e);                               \
                        const T##_step b = T##_half_read(lo + last, hi + last, e);                           \
                        T##_half_write(to + at, to_hi + at, a, &kept[steps - 1], &shape);                    \
                        T##_half_write(to + last, to_hi + last, b, &kept[steps], &shape);                    \
                    }                                                                                        \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }

// Equal parts of so many steps, none more than `most`, where there are some.
FN int blocks_of(int steps, int most) {
    for (int blocks = 1; blocks < 8; ++blocks)
        if (steps % blocks == 0 && steps / blocks <= most)
            return blocks;
    return 1;
}

// What steps leave is half a step, or nothing, as where there are several blocks; heads are multiples of four
// there. Of more than `most` steps, which registers have no room for, a part of them for some heads, then the
// next part.
#define PAIR_TOKENS(name, T, TAIL, width, most)                                                              \
    FN void name(const struct bench_turn_part *part, struct shape shape) {                                   \
        const rope2d_element e = shape.element;                                                              \
        const int pairs = shape.dim / 2, size = size_of(e), n = e == ROPE2D_BF16 ? (width) : (width) / 2;    \
        const int all = pairs / n, blocks = shape.heads > 1 ? blocks_of(all, most) : 1;                      \
        const int steps = all / blocks;                                                                      \
        const bool has_half = pairs % n > 0;                                                                 \
        const int group = blocks > 1 ? 4 : shape.heads;                                                      \
        T##_entries kept[MOST_STEPS];                                                                        \
        memset(kept, 0, sizeof kept); /* compilers lose track of so many */                                  \
        TAIL##_entries tail;                                                                                 \
        for (uint64_t token = part->begin; token < part->end; ++token) {                                     \
            const struct rows rows = rows_of(part, &shape, token);                                           \
            if (has_half)                                                                                    \
                tail = TAIL##_pair_entries(&rows, all * n, e);                                               \
            if (blocks == 1) {                                                                               \
                UNROLLED for (int i = 0; i < steps; ++i) kept[i] = T##_pair_entries(&rows, i * n, e);        \
            }                                                                                                \
            for (uint32_t t = 0; t < part->tensor_count; ++t) {                                              \
                uint64_t first = place_of(&shape, token);                                                    \
                for (int g = 0; g < shape.heads; g += group, first += (uint64_t)(group * shape.dim * size))  \
                    UNROLLED for (int b = 0; b < blocks; ++b) {                                              \
                        if (blocks > 1) {                                                                    \
                            UNROLLED for (int i = 0; i < steps; ++i) kept[i] =                               \
                                T##_pair_entries(&rows, (b * steps + i) * n, e);                             \
                        }                                                                                    \
                        const unsigned char *at = part->from[t] + first + b * steps * 2 * n * size;          \
                        unsigned char *to = part->to[t] + first + b * steps * 2 * n * size;                  \
                        for (int h = 0; h < group; ++h, at += shape.dim * size, to += shape.dim * size) {    \
                            UNROLLED for (int i = 0; i < steps; ++i) {                                       \
                                if (shape.ahead > 0 && i * 2 * n * size % BENCH_LINE == 0)                   \
                                    BENCH_FETCH(at + i * 2 * n * size + shape.ahead);                        \
                                T##_pair_turn(to + i * 2 * n * size, at + i * 2 * n * size, &kept[i],        \
                                              &shape);                                                       \
                            }                                                                                \
                            if (has_half)                                                                    \
                                TAIL##_pair_turn(to + steps * 2 * n * size, at + steps * 2 * n * size,       \
                                                 &tail, &shape);                                             \
                        }                                                                                    \
                    }                                                                                        \
            }                                                                                                \
        }                                                                                                    \
    }

#define TURN(tower, name, turn, type, bytes_ahead, ...)                                                      \
    TARGETED UNSEEN static void tower##_##name##_##type##_##bytes_ahead(                                     \
        const struct bench_turn_part *part) {                                                                \
        turn(part, (struct shape){__VA_ARGS__, ROPE2D_##type, bytes_ahead, false});                          \
    }
#define TYPES(tower, name, turn, ahead, ...)                                                                 \
    TURN(tower, name, turn, F32, ahead, __VA_ARGS__)                                                         \
    TURN(tower, name, turn, F16, ahead, __VA_ARGS__)                                                         \
    TURN(tower, name, turn, BF16, ahead, __VA_ARGS__)
#define ORDERS(label, run, type, heads, dim, pairing)                                                        \
    {label ", by tokens", heads, dim, pairing, type, false, 0, run}, {                                       \
        label ", by tensors", heads, dim, pairing, type, true, 0, run                                        \
    }
#define LISTED(label, tower, name, ahead, heads, dim, pairing)                                               \
    ORDERS(label, tower##_##name##_F32_##ahead, ROPE2D_F32, heads, dim, pairing),                            \
        ORDERS(label, tower##_##name##_F16_##ahead, ROPE2D_F16, heads, dim, pairing),                        \
        ORDERS(label, tower##_##name##_BF16_##ahead, ROPE2D_BF16, heads, dim, pairing)

// The same past the caches, by stores of so many bytes; one tensor after the other.
#define STREAM(tower, name, turn, type, bytes_ahead, ...)                                                    \
    TARGETED UNSEEN static void tower##_##name##_##type##_##bytes_ahead##_streamed(                          \
        const struct bench_turn_part *part) {                                                                \
        turn(part, (struct shape){__VA_ARGS__, ROPE2D_##type, bytes_ahead, true});                           \
        _mm_sfence();                                                                                        \
    }
#define STREAMED(label, tower, name, type, ahead, heads, dim, pairing, store)                                \
    {                                                                                                        \
        label ", streamed", heads, dim, pairing, ROPE2D_##type, true, store,                                 \
            tower##_##name##_##type##_##ahead##_streamed                                                     \
    }
