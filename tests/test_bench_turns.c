// SPDX-License-Identifier: MIT
//
// The loops that the bench holds rotations against are turns: with a table of angles they make of q and k
// what the formula says, bit by bit, in place or not, and touch nothing else.
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
    unsigned char *from[BENCH_TENSORS], *found[BENCH_TENSORS], *expected[BENCH_TENSORS];
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
        uint32_t row = s->turns.rows[token * s->tower->axes + axis_of(s->tower, p)];
        const float *entry = s->turns.table + (size_t)row * s->turns.stride + 2 * p;
        float x = get(s, tensor, lo), y = get(s, tensor, hi);
        float cx = entry[0] * x, sy = entry[1] * y, sx = entry[1] * x, cy = entry[0] * y;
        put(s, tensor, lo, cx - sy);
        put(s, tensor, hi, sx + cy);
    }
}

static void fill(struct scene *s, bool in_place) {
    for (size_t i = 0; i + 1 < s->turns.floats; i += 2) {
        double angle = (double)i * 0.37;
        s->turns.table[i] = (float)cos(angle);
        s->turns.table[i + 1] = (float)sin(angle);
    }
    for (int t = 0; t < BENCH_TENSORS; ++t) {
        memset(s->expected[t], 0x5a, s->bytes + GUARD);
        for (size_t i = 0; i < s->bytes / (s->element == ROPE2D_F32 ? 4 : 2); ++i)
            put(s, s->expected[t], i, (float)sin((double)(i + (size_t)t * 7919) * 1.7));
        memcpy(s->from[t], s->expected[t], s->bytes + GUARD);
        if (in_place)
            memcpy(s->found[t], s->expected[t], s->bytes + GUARD);
        else
            memset(s->found[t], 0x5a, s->bytes + GUARD);
    }
}

static void check_way(struct scene *s, bool in_place, uint32_t variant) {
    const struct bench_turn *turn = &s->turns.ways[in_place][s->pairing == ROPE2D_PAIRING_HALF][variant];
    const uint64_t begin = variant % 2, end = TOKENS - 1; // a thread's part
    const size_t token = s->bytes / TOKENS, first = (size_t)begin * token, last = (size_t)end * token;
    const unsigned char *const from[] = {in_place ? s->found[0] : s->from[0],
                                         in_place ? s->found[1] : s->from[1]};
    char name[64];
    bench_turn_name(turn, name, sizeof name);
    fill(s, in_place);
    for (int t = 0; t < BENCH_TENSORS; ++t) {
        for (size_t h = begin * s->tower->heads; h < end * s->tower->heads; ++h)
            turn_head(s, s->expected[t], h / s->tower->heads, h * s->tower->head_dim);
        if (!in_place) { // nothing was written there
            memset(s->expected[t], 0x5a, first);
            memset(s->expected[t] + last, 0x5a, s->bytes + GUARD - last);
        }
    }
    bench_turns_run(&s->turns, turn, from, s->found, begin, end);
    for (int t = 0; t < BENCH_TENSORS; ++t)
        CHECK(memcmp(s->found[t], s->expected[t], s->bytes + GUARD) == 0,
              "%s, pairing %d, type %d, in place %d, %s: %c", s->tower->name, (int)s->pairing,
              (int)s->element, (int)in_place, name, "qk"[t]);
}

// Stores past the caches go to whole lines.
static unsigned char *allocate(size_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, GUARD, bytes) == 0 ? memory : NULL;
}

static uint32_t check_case(const struct bench_tower *tower, rope2d_element element) {
    const struct bench_case what = {.tower = tower, .tokens = TOKENS, .element = element};
    struct scene s = {.tower = tower, .element = element};
    bool is_ready = bench_turns_create(&s.turns, &what);
    s.bytes = (size_t)TOKENS * tower->heads * tower->head_dim * (element == ROPE2D_F32 ? 4 : 2);
    for (int t = 0; t < BENCH_TENSORS; ++t) {
        s.from[t] = allocate(s.bytes + GUARD);
        s.found[t] = allocate(s.bytes + GUARD);
        s.expected[t] = allocate(s.bytes + GUARD);
        is_ready = is_ready && s.from[t] && s.found[t] && s.expected[t];
    }
    uint32_t count = 0;
    for (int way = 0; way < 4 && CHECK(is_ready, "%s: memory", tower->name); ++way) {
        s.pairing = way / 2 ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED;
        count += s.turns.counts[way % 2][way / 2];
        for (uint32_t i = 0; i < s.turns.counts[way % 2][way / 2]; ++i)
            check_way(&s, way % 2 == 1, i);
    }
    for (int t = 0; t < BENCH_TENSORS; ++t) {
        free(s.from[t]);
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
    // Each loop is run, in place, from one buffer to another and staged, the next ones asked for where there
    // are several heads, tokens of which two fit by fewer as well; or from one to another by stores past the
    // caches, for which rows must lie so that it can.
    const struct bench_turn_list *list = bench_turns_here();
    uint32_t expected = 0;
    for (uint32_t i = 0; list && i < list->count; ++i) {
        const struct bench_turn_loop *loop = &list->loops[i];
        uint32_t run = loop->head_dim * (loop->element == ROPE2D_F32 ? 4 : 2);
        run = loop->pairing == ROPE2D_PAIRING_HALF ? run / 2 : run;
        const bool is_small = loop->heads * loop->head_dim * (loop->element == ROPE2D_F32 ? 4 : 2) <= 2048;
        expected += loop->store > 0 ? 1 : 3 + is_small + (loop->heads > 1);
        CHECK(loop->store == 0 || run % loop->store == 0, "%s, %u x %u, type %d: rows of %u bytes",
              loop->name, loop->heads, loop->head_dim, (int)loop->element, run);
    }
    CHECK(count == expected, "%u of %u ways were run", count, expected);
    return check_finish();
}
