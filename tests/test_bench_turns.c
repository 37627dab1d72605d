// SPDX-License-Identifier: MIT
//
// The loops that the bench holds rotations against are turns: with a table of angles they make of q and k
// what the formula says, bit by bit, and touch nothing else.
#include "../tools/cli/bench_arithmetic.h"
#include "../tools/cli/bench_turns.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 23, GUARD = 64 };

struct scene {
    const struct bench_tower *tower;
    rope2d_element element;
    rope2d_pairing pairing;
    struct bench_turns turns;
    size_t bytes; // of a tensor
    unsigned char *found[BENCH_TENSORS], *expected[BENCH_TENSORS];
};

static float get(const struct scene *s, const unsigned char *from, size_t at) {
    uint32_t bits = 0;
    size_t size = s->element == ROPE2D_F32 ? 4 : 2;
    memcpy(&bits, from + at * size, size); // little-endian
    return bench_widened(s->element, bits);
}

static void put(const struct scene *s, unsigned char *to, size_t at, float value) {
    uint32_t bits = bench_narrowed(s->element, value);
    memcpy(to + at * (s->element == ROPE2D_F32 ? 4 : 2), &bits, s->element == ROPE2D_F32 ? 4 : 2);
}

static uint32_t axis_of(const struct bench_tower *tower, uint32_t pair) {
    uint32_t axis = 0;
    for (; pair >= tower->axis_pairs[axis]; ++axis)
        pair -= tower->axis_pairs[axis];
    return axis;
}

static void turn_head(const struct scene *s, unsigned char *tensor, size_t token, size_t first) {
    uint32_t pairs = s->tower->head_dim / 2;
    for (uint32_t p = 0; p < pairs; ++p) {
        bool is_half = s->pairing == ROPE2D_PAIRING_HALF;
        size_t lo = first + (is_half ? p : 2 * p), hi = first + (is_half ? p + pairs : 2 * p + 1);
        int32_t row = s->turns.rows[token * s->tower->axes + axis_of(s->tower, p)];
        const float *entry = s->turns.table + (size_t)row * s->turns.stride + 2 * p;
        float x = get(s, tensor, lo), y = get(s, tensor, hi);
        float cx = entry[0] * x, sy = entry[1] * y, sx = entry[1] * x, cy = entry[0] * y;
        put(s, tensor, lo, cx - sy);
        put(s, tensor, hi, sx + cy);
    }
}

static void fill(struct scene *s) {
    for (size_t i = 0; i + 1 < s->turns.floats; i += 2) {
        double angle = (double)i * 0.37;
        s->turns.table[i] = (float)cos(angle);
        s->turns.table[i + 1] = (float)sin(angle);
    }
    for (int t = 0; t < BENCH_TENSORS; ++t) {
        memset(s->expected[t], 0x5a, s->bytes + GUARD);
        for (size_t i = 0; i < s->bytes / (s->element == ROPE2D_F32 ? 4 : 2); ++i)
            put(s, s->expected[t], i, (float)sin((double)(i + (size_t)t * 7919) * 1.7));
        memcpy(s->found[t], s->expected[t], s->bytes + GUARD);
    }
}

static void check_loop(struct scene *s, uint32_t variant) {
    const struct bench_turn_loop *loop = s->turns.loops[s->pairing == ROPE2D_PAIRING_HALF][variant];
    const uint64_t begin = variant % 2, end = TOKENS - 1; // a thread's part
    fill(s);
    for (int t = 0; t < BENCH_TENSORS; ++t)
        for (size_t h = begin * s->tower->heads; h < end * s->tower->heads; ++h)
            turn_head(s, s->expected[t], h / s->tower->heads, h * s->tower->head_dim);
    bench_turns_run(&s->turns, s->pairing, variant, s->found, begin, end);
    for (int t = 0; t < BENCH_TENSORS; ++t)
        CHECK(memcmp(s->found[t], s->expected[t], s->bytes + GUARD) == 0, "%s, pairing %d, type %d, %s: %c",
              s->tower->name, (int)s->pairing, (int)s->element, loop->name, "qk"[t]);
}

static uint32_t check_case(const struct bench_tower *tower, rope2d_element element) {
    const struct bench_case what = {.tower = tower, .tokens = TOKENS, .element = element};
    struct scene s = {.tower = tower, .element = element};
    bool is_ready = bench_turns_create(&s.turns, &what);
    s.bytes = (size_t)TOKENS * tower->heads * tower->head_dim * (element == ROPE2D_F32 ? 4 : 2);
    for (int t = 0; t < BENCH_TENSORS; ++t) {
        s.found[t] = malloc(s.bytes + GUARD);
        s.expected[t] = malloc(s.bytes + GUARD);
        is_ready = is_ready && s.found[t] && s.expected[t];
    }
    const uint32_t count = s.turns.counts[0] + s.turns.counts[1];
    for (int half = 0; half < 2 && CHECK(is_ready, "%s: memory", tower->name); ++half) {
        s.pairing = half ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED;
        for (uint32_t i = 0; i < s.turns.counts[half]; ++i)
            check_loop(&s, i);
    }
    for (int t = 0; t < BENCH_TENSORS; ++t) {
        free(s.found[t]);
        free(s.expected[t]);
    }
    bench_turns_destroy(&s.turns);
    return count;
}

int main(void) {
    uint32_t count = 0;
    for (int i = 0; i < BENCH_TOWERS; ++i)
        for (int e = 0; e < ROPE2D_ELEMENT_COUNT; ++e)
            count += check_case(&bench_towers[i], (rope2d_element)e);
    const struct bench_turn_list *list = bench_turns_here();
    CHECK(count == (list ? list->count : 0), "%u of %u loops were run", count, list ? list->count : 0);
    return check_finish();
}
