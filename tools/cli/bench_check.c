// SPDX-License-Identifier: MIT
//
// No number without equality: the rotation that was timed gets fresh content, and its result is compared with
// the portable path's, in pieces of tokens.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "bench_run.h"
#include "compare.h"
#include "message.h"

static const uint64_t PIECE_BYTES = (uint64_t)8 << 20;

bool bench_is_equal(const void *values, const void *expected, rope2d_element element, uint64_t count,
                    rope2d_exactness exactness, uint64_t first, struct bench_row *row) {
    struct difference found = compare_bits(values, expected, element, count, exactness);
    if (!found.count)
        return true;
    snprintf(row->why, sizeof row->why,
             "%" PRIu64 " elements differ from the portable path's, the first is %" PRIu64, found.count,
             first + found.first);
    return false;
}

void bench_accept(struct bench_row *row, const struct bench_timing *timing) {
    row->timing = row->is_equal ? *timing : (struct bench_timing){0};
}

// The portable path's plan and positions for a rotation, and room for a piece.
struct reference {
    rope2d_plan *plan;
    rope2d_positions *positions;
    uint64_t tokens; // of a piece
    unsigned char *expected, *found;
};

static void reference_free(struct reference *reference) {
    rope2d_positions_destroy(reference->positions);
    rope2d_plan_destroy(reference->plan);
    free(reference->expected);
    free(reference->found);
}

static int reference_make(struct bench_run *run, const struct bench_rotation *rotation,
                          struct reference *reference) {
    const struct bench_case *what = rotation->what;
    struct bench_spec spec;
    bench_spec_fill(what->tower, rotation->pairing, &spec);
    rope2d_plan_params params = {
        .struct_size = sizeof params,
        .spec = &spec.spec,
        .in = what->element,
        .out = what->element,
        .flags = ROPE2D_PLAN_NO_SELF_TEST, // it would compare the path with itself
    };
    uint64_t token_bytes = bench_bytes(what) / what->tokens / BENCH_TENSORS;
    *reference = (struct reference){.tokens = PIECE_BYTES / token_bytes};
    rope2d_status status = rope2d_plan_create(run->portable, &params, &reference->plan);
    if (!status)
        status = bench_positions_create(run->portable, what, rotation->pairing, ROPE2D_TABLE_BUFFER,
                                        &reference->positions);
    reference->expected = malloc((size_t)(reference->tokens * token_bytes));
    reference->found = malloc((size_t)(reference->tokens * token_bytes));
    if (!reference->expected || !reference->found)
        status = ROPE2D_ERROR_HOST_MEMORY;
    return status ? message_status(status, "the portable path") : STATUS_OK;
}

static rope2d_status rotate_piece(const struct reference *reference, const struct bench_case *what,
                                  uint64_t first, uint64_t tokens) {
    rope2d_tensor tensor = {
        .heads = what->tower->heads,
        .in = rope2d_view_contiguous(reference->expected, what->element, ROPE2D_LAYOUT_BNHD, 1, tokens,
                                     what->tower->heads, what->tower->head_dim),
    };
    rope2d_apply_params params = {
        .struct_size = sizeof params,
        .batch = 1,
        .first_token = first,
        .tokens = tokens,
        .tensor_count = 1,
        .tensors = &tensor,
    };
    return rope2d_apply(reference->plan, reference->positions, &params);
}

// q or k: is_equal stays true while every piece is.
static int compare_tensor(struct bench_engine *engine, const struct bench_rotation *rotation,
                          const struct reference *reference, uint32_t set, uint32_t tensor,
                          struct bench_row *row) {
    const struct bench_case *what = rotation->what;
    uint64_t token_elements = (uint64_t)what->tower->heads * what->tower->head_dim;
    uint32_t size = rope2d_element_size(what->element);
    for (uint64_t token = 0; token < what->tokens && row->is_equal; token += reference->tokens) {
        uint64_t left = what->tokens - token;
        uint64_t tokens = left < reference->tokens ? left : reference->tokens;
        uint64_t first = (tensor * what->tokens + token) * token_elements, count = tokens * token_elements;
        bench_fill(reference->expected, what->element, first, count);
        rope2d_status status = rotate_piece(reference, what, token, tokens);
        if (status)
            return message_status(status, "the portable path");
        int result = engine->ops->read(engine, set, rotation->in_place ? BENCH_IN : BENCH_OUT, first * size,
                                       count * size, reference->found);
        if (result)
            return result;
        row->is_equal = bench_is_equal(reference->found, reference->expected, what->element, count,
                                       row->exactness, first, row);
    }
    return STATUS_OK;
}

int bench_check(struct bench_run *run, const struct bench_rotation *rotation, uint32_t set,
                struct bench_row *row) {
    struct bench_engine *engine = &run->engine;
    struct reference reference;
    struct bench_sample sample;
    int result = reference_make(run, rotation, &reference);
    if (!result)
        result = bench_memory_fill(engine, rotation->what, set, !rotation->in_place);
    if (!result)
        result = engine->ops->rotate(engine, rotation, set, &sample);
    row->is_equal = !result;
    for (uint32_t tensor = 0; tensor < BENCH_TENSORS && !result; ++tensor)
        result = compare_tensor(engine, rotation, &reference, set, tensor, row);
    row->is_equal = row->is_equal && !result;
    reference_free(&reference);
    return result;
}
