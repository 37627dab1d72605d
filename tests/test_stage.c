// SPDX-License-Identifier: MIT
// Cutting and staging without a device: every element of a random apply goes through a kernel exactly once,
// whatever the limits; nothing else is written; no limit is passed.
#include "check.h"
#include "counter.h"
#include "stage_kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXAMPLES 4000
#define ARENA    (1 << 19)

static uint64_t random_state;
static uint32_t below(uint32_t bound) {
    return counter_below(counter_word(22, 1, random_state++), bound);
}

static unsigned char inputs[ARENA], outputs[ARENA], pristine[ARENA], expected[ARENA], staging[ARENA];

// ------------------------------------------------------------------------------------------ random applies

static void random_span(rope2d_span *span, const struct example *e, uint32_t heads, uint32_t size,
                        unsigned char *base, uint64_t *at) {
    const uint32_t dim = e->plan.pattern.head_dim;
    const uint32_t kind = below(5);
    const int64_t gap = kind == 3 ? 1 + below(3) : kind == 4 ? 60 : 0;
    *at += below(2) ? below(3) : *at % 2;
    span->first = base + *at * size;
    span->head_stride = kind == 1 ? (int64_t)(dim * e->work.tokens) : dim + gap;
    span->token_stride = kind == 1 ? dim : span->head_stride * heads + (kind == 2 ? 3 : 0);
    span->batch_stride = (int64_t)e->work.tokens * (kind == 1 ? dim * heads : span->token_stride);
    *at += (uint64_t)span->batch_stride * e->work.batch + 4;
}

static void make_example(struct example *e) {
    memset(e, 0, sizeof(*e));
    e->device.dispatch_bytes = UINT64_MAX;
    e->device.has_near_runs = below(2) == 1;
    e->device.info.backend = below(2) ? ROPE2D_BACKEND_OPENCL : ROPE2D_BACKEND_VULKAN;
    e->plan.device = &e->device;
    e->plan.in = (rope2d_element)below(3);
    e->plan.out = (rope2d_element)below(3);
    rope2d_pattern *pattern = &e->plan.pattern;
    pattern->head_dim = below(2) ? 1 + below(12) : 4 + 4 * below(4);
    pattern->freq_heads = 1;
    pattern->angles = 1;
    pattern->row_axes = 1 + below(4);
    pattern->single.count = 1 + below(7);
    for (uint32_t i = 0; i < ROPE2D_VECTOR_KINDS; i++) {
        pattern->vector[i].count = below(2) ? 1 + below(4) : 0;
        pattern->vector[i].flags = i == ROPE2D_EIGHTS || i == ROPE2D_NEAR_EIGHTS ? R_EIGHT_FLAG : 0;
    }
    e->work.batch = 1 + below(3);
    e->work.tokens = 1 + below(20);
    e->work.first_token = below(5);
    e->work.tensor_count = 1 + below(MAX_TENSORS);
    e->work.tensors = e->tensors;
    e->positions.pattern = *pattern;
    e->positions.batch = below(2) ? 1 : e->work.batch;
    e->positions.tokens = e->work.first_token + e->work.tokens + below(3);
    uint64_t in_at = 0;
    uint64_t out_at = 0;
    for (uint32_t i = 0; i < e->work.tensor_count; i++) {
        rope2d_checked_tensor *t = &e->tensors[i];
        t->heads = 1 + below(3);
        t->in_place = e->plan.in == e->plan.out && below(2) == 0;
        random_span(&t->out, e, t->heads, rope2d_element_size(e->plan.out), outputs, &out_at);
        if (t->in_place) {
            t->in = t->out;
            continue;
        }
        random_span(&t->in, e, t->heads, rope2d_element_size(e->plan.in), inputs, &in_at);
        if (below(5) == 0)
            t->in.token_stride = 0;
        if (below(5) == 0)
            t->in.batch_stride = 0;
    }
}

static void make_limits(struct example *e) {
    const uint32_t sizes[] = {1, 4, 32, 64};
    e->limits.slots = 1 + below(R_MAX_DISPATCH_TENSORS);
    e->limits.group_size = sizes[below(4)];
    e->limits.vector_group = below(4) == 0 ? 0 : sizes[below(4)];
    e->limits.tile_tokens = e->limits.vector_group == 1 && below(2) ? 1 + below(3) : 0;
    e->limits.max_groups = below(2) ? 65535 : 1 + below(40);
    e->limits.offset_alignment = 1u << below(8);
    e->limits.buffer_bytes = below(3) == 0 ? ARENA : 40 + 4 * below(1000);
    e->limits.total_bytes = e->limits.buffer_bytes * (2 + below(4));
    e->limits.row_batch_stride =
        e->positions.batch == 1 ? 0 : e->positions.tokens * e->positions.pattern.row_axes;
    e->limits.row_range = below(2) ? 0 : 4 + below(100);
}

// ------------------------------------------------------------------------------------------- what must come

static void expect_outputs(const struct example *e) {
    const uint32_t in_size = rope2d_element_size(e->plan.in);
    const uint32_t out_size = rope2d_element_size(e->plan.out);
    for (uint32_t i = 0; i < e->work.tensor_count; i++) {
        const rope2d_checked_tensor *t = &e->tensors[i];
        const unsigned char *in_base = t->in_place ? outputs : inputs;
        for (uint64_t b = 0; b < e->work.batch; b++)
            for (uint64_t n = 0; n < e->work.tokens; n++)
                for (uint64_t h = 0; h < t->heads; h++)
                    for (uint64_t d = 0; d < e->plan.pattern.head_dim; d++) {
                        const uint64_t in =
                            (uint64_t)(t->in.first - in_base) / in_size + b * (uint64_t)t->in.batch_stride +
                            n * (uint64_t)t->in.token_stride + h * (uint64_t)t->in.head_stride + d;
                        const uint64_t out = (uint64_t)(t->out.first - outputs) / out_size +
                                             b * (uint64_t)t->out.batch_stride +
                                             n * (uint64_t)t->out.token_stride +
                                             h * (uint64_t)t->out.head_stride + d;
                        const uint64_t row = ((e->positions.batch == 1 ? 0 : b) * e->positions.tokens +
                                              e->work.first_token + n) *
                                             e->positions.pattern.row_axes;
                        element_put(expected, out, out_size,
                                    element_turn(element_get(in_base, in, in_size), row));
                    }
    }
}

// ------------------------------------------------------------------------------------------------- pieces

static bool side_is_good(const struct example *e, const rope2d_piece *p, const rope2d_stage_side *side,
                         uint64_t *end) {
    const uint32_t run = (rope2d_plan_vectors(&e->plan)->flags & R_EIGHT_FLAG) != 0 ? 8 : 4;
    const uint32_t strides = side->first | side->batch_stride | side->token_stride | side->head_stride;
    const bool aligned = strides % run == 0 && side->offset % 16 == 0;
    const bool good = side->bytes % 4 == 0 && side->bytes <= e->limits.buffer_bytes &&
                      side->offset % e->limits.offset_alignment == 0 && side->offset % 4 == 0 &&
                      side->offset >= *end && (!p->vector || e->limits.tile_tokens > 0 || aligned);
    *end = side->offset + side->bytes;
    return good && *end <= p->bytes;
}

static bool piece_is_good(const struct example *e, const rope2d_piece *p) {
    uint64_t end = 0;
    bool good = p->bytes <= e->limits.total_bytes && p->tensor_count <= e->limits.slots && p->batch > 0 &&
                p->tokens > 0 && p->groups[0] <= e->limits.max_groups &&
                p->groups[1] <= e->limits.max_groups &&
                (!p->vector || rope2d_plan_vectors(&e->plan)->count > 0);
    for (uint32_t i = 0; i < p->tensor_count; i++) {
        good &= side_is_good(e, p, &p->tensors[i].in, &end);
        if (p->tensors[i].tensor->in_place)
            good &= memcmp(&p->tensors[i].in, &p->tensors[i].out, sizeof(rope2d_stage_side)) == 0;
        else
            good &= side_is_good(e, p, &p->tensors[i].out, &end);
    }
    const uint64_t rows =
        (p->batch - 1) * e->limits.row_batch_stride + (uint64_t)p->tokens * e->plan.pattern.row_axes;
    return good && (e->limits.row_range == 0 || rows <= e->limits.row_range);
}

static bool run_piece(struct example *e, const rope2d_piece *piece) {
    struct dispatch d = {.e = e, .piece = piece, .staging = staging};
    if (!piece_is_good(e, piece) || piece->bytes > ARENA)
        return false;
    memset(staging, 0xee, piece->bytes);
    for (uint32_t i = 0; i < piece->tensor_count; i++)
        rope2d_stage_in(&e->plan, piece, i, staging + piece->tensors[i].in.offset);
    e->row_base = piece->token_first * e->plan.pattern.row_axes;
    rope2d_shape_write(d.words, &e->plan, &e->positions, &e->work, piece, e->row_base, 0);
    if (d.words[R_UNITS] != (piece->vector ? *rope2d_plan_vectors(&e->plan) : e->plan.pattern.single).count ||
        !(piece->vector ? dispatch_groups(&d) : dispatch_lanes(&d)))
        return false;
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        rope2d_stage_out(&e->plan, piece, i, staging + piece->tensors[i].out.offset);
        e->odd_pieces += !piece->vector && piece->tensors[i].in.first == 1;
        e->vector_pieces += piece->vector;
    }
    e->pieces++;
    return true;
}

static rope2d_status run_example(struct example *e, bool *good) {
    rope2d_cutter cutter;
    rope2d_piece piece;
    bool more;
    memcpy(outputs, pristine, ARENA);
    memcpy(expected, pristine, ARENA);
    expect_outputs(e);
    rope2d_cutter_begin(&cutter, &e->plan, &e->work, &e->limits);
    *good = true;
    for (;;) {
        const rope2d_status status = rope2d_cutter_next(&cutter, &piece, &more);
        if (status != ROPE2D_OK || !more)
            return status;
        *good = *good && run_piece(e, &piece);
        if (!*good)
            return ROPE2D_OK;
    }
}

static void test_random(void) {
    static struct example e;
    int wrong = 0, too_small = 0, cut = 0, whole = 0, odd = 0, vectors = 0;
    for (int i = 0; i < EXAMPLES; i++) {
        bool good;
        make_example(&e);
        make_limits(&e);
        const rope2d_status status = run_example(&e, &good);
        const uint32_t groups = (e.work.tensor_count + e.limits.slots - 1) / e.limits.slots;
        if (status == ROPE2D_ERROR_LIMIT) {
            too_small++;
            wrong += e.limits.buffer_bytes == ARENA && e.limits.row_range == 0 && e.limits.max_groups > 1000;
            continue;
        }
        cut += e.pieces > groups;
        whole += e.pieces == groups;
        odd += e.odd_pieces > 0;
        vectors += e.vector_pieces > 0;
        if (status == ROPE2D_OK && good && memcmp(outputs, expected, ARENA) == 0)
            continue;
        printf("example %d: status %u, %" PRIu32 " pieces\n", i, (unsigned)status, e.pieces);
        wrong++;
    }
    printf("%d cut, %d whole, %d with odd layouts, %d with vectors, %d too small for one token\n", cut, whole,
           odd, vectors, too_small);
    CHECK(wrong == 0, "every element once, and nothing else");
    CHECK(cut > EXAMPLES / 8 && whole > EXAMPLES / 8 && odd > EXAMPLES / 20 && vectors > EXAMPLES / 20 &&
              too_small > 0 && too_small < EXAMPLES / 8,
          "all paths occur");
}

// --------------------------------------------------------------------------------------------------- large

// Sizes at which 32 bits overflow; nothing is allocated, for nothing is copied.
static void make_large(struct example *e, uint32_t batch, uint64_t tokens, uint32_t heads, uint32_t tensors) {
    memset(e, 0, sizeof(*e));
    e->device.dispatch_bytes = UINT64_MAX;
    e->plan.device = &e->device;
    e->plan.out = ROPE2D_F16;
    e->plan.pattern = (rope2d_pattern){.head_dim = 64, .row_axes = 2, .angles = 1, .freq_heads = 1};
    e->plan.pattern.single.count = 64;
    e->plan.pattern.vector[0].count = tensors == 2 ? 8 : 0; // from f32 to f16
    e->work = (rope2d_work){.batch = batch, .tokens = tokens, .tensor_count = tensors, .tensors = e->tensors};
    for (uint32_t i = 0; i < tensors; i++) {
        const int64_t row = (int64_t)heads * 64;
        const rope2d_span span = {inputs, row * (int64_t)tokens, row, 64};
        e->tensors[i] = (rope2d_checked_tensor){.heads = heads, .in = span, .out = span};
    }
    e->limits = (rope2d_stage_limits){.buffer_bytes = 1u << 27,
                                      .total_bytes = (uint64_t)1 << 40,
                                      .slots = 4,
                                      .group_size = 64,
                                      .vector_group = 64,
                                      .max_groups = 65535,
                                      .offset_alignment = 256};
}

static void test_large(uint32_t batch, uint64_t tokens, uint32_t heads, uint32_t tensors,
                       uint64_t buffer_bytes, uint64_t most_pieces, const char *name) {
    static struct example e;
    rope2d_cutter cutter;
    rope2d_piece piece;
    bool more = true, good = true;
    uint64_t rows = 0, pieces = 0, next_token = 0;
    uint32_t next_batch = 0;
    make_large(&e, batch, tokens, heads, tensors);
    const uint32_t units = tensors == 2 ? 8 : 64;
    e.limits.buffer_bytes = buffer_bytes;
    rope2d_cutter_begin(&cutter, &e.plan, &e.work, &e.limits);
    while (good && rope2d_cutter_next(&cutter, &piece, &more) == ROPE2D_OK && more) {
        const uint64_t lanes = (uint64_t)piece.groups[0] * piece.groups[1] * 64;
        good = piece_is_good(&e, &piece) && piece.tensor_count == tensors && piece.vector == (tensors == 2) &&
               lanes <= UINT32_MAX &&
               lanes >= (uint64_t)piece.batch * piece.tokens * (piece.vector ? 1 : heads) * units * tensors &&
               piece.batch_first == next_batch && piece.token_first == next_token;
        rows += (uint64_t)piece.batch * piece.tokens;
        next_token = (piece.token_first + piece.tokens) % tokens;
        next_batch += next_token == 0 ? piece.batch : 0;
        pieces++;
    }
    good &= !more && rows == batch * tokens && pieces <= most_pieces;
    if (!good)
        printf("%" PRIu64 " pieces, %" PRIu64 " tokens\n", pieces, rows);
    CHECK(good, "%s", name);
}

// Few heads give a lane of a software device many tokens, but where lanes do not keep order no more than 32
// pages of them, of all that is read and written.
static void test_lane_tokens(bool keeps_order, bool in_place, uint32_t lane_tokens, const char *name) {
    static struct example e;
    rope2d_cutter cutter;
    rope2d_piece piece = {0};
    bool more = false;
    make_large(&e, 1, 16384, 1, 2);
    e.plan.out = ROPE2D_F32;
    e.plan.pattern.head_dim = 256;
    e.tensors[0].in_place = e.tensors[1].in_place = in_place;
    e.limits.token_slots = 2;
    e.limits.keeps_order = keeps_order;
    e.limits.direct = true;
    rope2d_cutter_begin(&cutter, &e.plan, &e.work, &e.limits);
    const bool found = rope2d_cutter_next(&cutter, &piece, &more) == ROPE2D_OK && more;
    CHECK(found && piece.lane_tokens == lane_tokens, "%s: %u tokens", name, piece.lane_tokens);
}

int main(void) {
    counter_fill(inputs, COUNTER_F32, COUNTER_FINITE, 22, 2, 0, ARENA / 4);
    counter_fill(pristine, COUNTER_F32, COUNTER_FINITE, 22, 3, 0, ARENA / 4);
    test_random();
    test_large(1, 300000, 16, 2, (uint64_t)1 << 40, 1, "more than 65,535 groups in one dispatch");
    test_large(3, (uint64_t)1 << 33, 1, 2, (uint64_t)1 << 40, 3 * 260, "2^33 tokens");
    test_large(1, 1u << 25, 1, 4, (uint64_t)1 << 40, 4, "2^33 lanes");
    test_large(5, 1000, 16, 2, (uint64_t)1 << 27, 1, "everything at once");
    test_large(4000, 1, 16, 2, 1u << 20, 20, "many batch elements of one token");
    test_large(1, 1000000, 12, 2, 1u << 27, 30, "at 128 MiB to a buffer");
    test_lane_tokens(true, false, 64, "a lane in order");
    test_lane_tokens(false, false, 32, "a lane out of order, out of place");
    test_lane_tokens(false, true, 64, "a lane out of order, in place");
    return check_finish();
}
