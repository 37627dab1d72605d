// SPDX-License-Identifier: MIT
#include "bench_limits.h"

#include "bench_arithmetic.h"

static inline float turned(float value, float by, float other) {
    return value * by + value * other;
}

// In C, as the compiler likes it: `block` elements at a time, and what is left one by one. In place there is
// one pointer, lest the compiler believe in two that overlap. With a table as many of k follow those of q.
#define TURN(element, has_table, i, j)                                                                       \
    bench_narrowed(element, turned(bench_widened(element, from[(i) + (j)]), by[(has_table) ? (j) : 0], other))
// NOLINTBEGIN(bugprone-macro-parentheses): a type takes none.
#define BLOCK(word, element, i, count, has_table)                                                            \
    do {                                                                                                     \
        by = (has_table) ? bench_limit_factors(part, i) : by;                                                \
        for (uint64_t j = 0; j < (count); ++j)                                                               \
            to[(i) + j] = (word)TURN(element, has_table, i, j);                                              \
        for (uint64_t j = 0; (has_table) && j < (count); ++j)                                                \
            to[second + (i) + j] = (word)TURN(element, has_table, second + (i), j);                          \
    } while (0)
#define LOOP(name, word, element, block, ahead, in_place, has_table)                                         \
    static void name(const struct bench_limit_part *part) {                                                  \
        word *to = part->to;                                                                                 \
        const word *from = (in_place) ? to : part->from;                                                     \
        const uint64_t count = part->bytes / sizeof *to, whole = count / (block) * (block);                  \
        const uint64_t second = part->second / sizeof *to;                                                   \
        const float *by = &part->factor, other = part->other;                                                \
        for (uint64_t i = 0; i < whole; i += (block)) {                                                      \
            if (ahead)                                                                                       \
                BENCH_FETCH((const char *)(from + i) + BENCH_AHEAD);                                         \
            if ((ahead) && (has_table))                                                                      \
                BENCH_FETCH((const char *)(from + second + i) + BENCH_AHEAD);                                \
            BLOCK(word, element, i, block, has_table);                                                       \
        }                                                                                                    \
        BLOCK(word, element, whole, count - whole, has_table);                                               \
    }
// NOLINTEND(bugprone-macro-parentheses)
#define LOOPS(name, word, element, block, ahead)                                                             \
    LOOP(name##_out, word, element, block, ahead, false, false)                                              \
    LOOP(name##_out_table, word, element, block, ahead, false, true)                                         \
    LOOP(name##_in, word, element, block, ahead, true, false)                                                \
    LOOP(name##_in_table, word, element, block, ahead, true, true)
#define LOOP_NAMES(name)                                                                                     \
    {                                                                                                        \
        {name##_out, name##_out_table}, {                                                                    \
            name##_in, name##_in_table                                                                       \
        }                                                                                                    \
    }

LOOPS(f32_short, uint32_t, ROPE2D_F32, 16, false)
LOOPS(f32_long, uint32_t, ROPE2D_F32, 64, false)
LOOPS(f32_ahead, uint32_t, ROPE2D_F32, 16, true)
LOOPS(f16_short, uint16_t, ROPE2D_F16, 32, false)
LOOPS(f16_long, uint16_t, ROPE2D_F16, 64, false)
LOOPS(f16_ahead, uint16_t, ROPE2D_F16, 32, true)
LOOPS(bf16_short, uint16_t, ROPE2D_BF16, 32, false)
LOOPS(bf16_long, uint16_t, ROPE2D_BF16, 64, false)
LOOPS(bf16_ahead, uint16_t, ROPE2D_BF16, 32, true)

static bool always(void) {
    return true;
}

static const struct bench_limit_loop portable[] = {
    {"C", ROPE2D_F32, always, LOOP_NAMES(f32_short)},
    {"C, 64 at a time", ROPE2D_F32, always, LOOP_NAMES(f32_long)},
    {"C, fetched ahead", ROPE2D_F32, always, LOOP_NAMES(f32_ahead)},
    {"C", ROPE2D_F16, always, LOOP_NAMES(f16_short)},
    {"C, 64 at a time", ROPE2D_F16, always, LOOP_NAMES(f16_long)},
    {"C, fetched ahead", ROPE2D_F16, always, LOOP_NAMES(f16_ahead)},
    {"C", ROPE2D_BF16, always, LOOP_NAMES(bf16_short)},
    {"C, 64 at a time", ROPE2D_BF16, always, LOOP_NAMES(bf16_long)},
    {"C, fetched ahead", ROPE2D_BF16, always, LOOP_NAMES(bf16_ahead)},
};

static uint32_t pick(const struct bench_limit_loop *from, uint32_t from_count, rope2d_element element,
                     bool in_place, const struct bench_limit_loop **loops, uint32_t count) {
    for (uint32_t i = 0; i < from_count && count < BENCH_CANDIDATES; ++i)
        if (from[i].element == element && from[i].run[in_place][0] && from[i].is_here())
            loops[count++] = &from[i];
    return count;
}

uint32_t bench_limit_loops(rope2d_element element, bool in_place, const struct bench_limit_loop **loops) {
    uint32_t count = pick(bench_limits_x86, bench_limits_x86_count, element, in_place, loops, 0);
    return pick(portable, sizeof portable / sizeof *portable, element, in_place, loops, count);
}
