// SPDX-License-Identifier: MIT
//
// The copies between a caller's tensor and its place in staging memory.
#include "stage.h"

#include <string.h>

// Strides in elements.
typedef struct strides {
    uint64_t batch;
    uint64_t token;
    uint64_t head;
} strides;

typedef struct copy {
    unsigned char *to;
    const unsigned char *from;
    strides to_strides;
    strides from_strides;
    uint64_t batch;
    uint64_t tokens;
    uint64_t heads;
    uint64_t run; // elements that follow one another on both sides
    uint32_t element;
} copy;

static strides strides_of_span(const rope2d_span *span) {
    return (strides){(uint64_t)span->batch_stride, (uint64_t)span->token_stride, (uint64_t)span->head_stride};
}

static strides strides_of_side(const rope2d_stage_side *side) {
    return (strides){side->batch_stride, side->token_stride, side->head_stride};
}

// The first element of the piece.
static uint64_t piece_first(const rope2d_span *span, const rope2d_piece *piece) {
    return piece->batch_first * (uint64_t)span->batch_stride +
           piece->token_first * (uint64_t)span->token_stride;
}

// Joins heads, then tokens, then batch elements into longer runs where they follow one another on both sides.
static void join(copy *c) {
    if (c->heads == 1 || (c->to_strides.head == c->run && c->from_strides.head == c->run)) {
        c->run *= c->heads;
        c->heads = 1;
        if (c->tokens == 1 || (c->to_strides.token == c->run && c->from_strides.token == c->run)) {
            c->run *= c->tokens;
            c->tokens = 1;
            if (c->batch == 1 || (c->to_strides.batch == c->run && c->from_strides.batch == c->run)) {
                c->run *= c->batch;
                c->batch = 1;
            }
        }
    }
    // A broadcast stays one in staging.
    if (c->to_strides.head == 0)
        c->heads = 1;
    if (c->to_strides.token == 0)
        c->tokens = 1;
    if (c->to_strides.batch == 0)
        c->batch = 1;
}

static void run_copy(copy *c) {
    join(c);
    const size_t bytes = (size_t)c->run * c->element;
    for (uint64_t b = 0; b < c->batch; b++) {
        for (uint64_t t = 0; t < c->tokens; t++) {
            for (uint64_t h = 0; h < c->heads; h++) {
                const uint64_t to =
                    b * c->to_strides.batch + t * c->to_strides.token + h * c->to_strides.head;
                const uint64_t from =
                    b * c->from_strides.batch + t * c->from_strides.token + h * c->from_strides.head;
                memcpy(c->to + to * c->element, c->from + from * c->element, bytes);
            }
        }
    }
}

static copy copy_of(const rope2d_plan *plan, const rope2d_piece *piece, uint32_t tensor) {
    return (copy){
        .batch = piece->batch,
        .tokens = piece->tokens,
        .heads = piece->tensors[tensor].tensor->heads,
        .run = plan->pattern.head_dim,
    };
}

void rope2d_stage_in(const rope2d_plan *plan, const rope2d_piece *piece, uint32_t tensor, void *staging) {
    const rope2d_span *span = &piece->tensors[tensor].tensor->in;
    const rope2d_stage_side *side = &piece->tensors[tensor].in;
    copy c = copy_of(plan, piece, tensor);
    c.element = rope2d_element_size(plan->in);
    c.to = (unsigned char *)staging + (uint64_t)side->first * c.element;
    c.to_strides = strides_of_side(side);
    c.from = span->first + piece_first(span, piece) * c.element;
    c.from_strides = strides_of_span(span);
    run_copy(&c);
}

void rope2d_stage_out(const rope2d_plan *plan, const rope2d_piece *piece, uint32_t tensor,
                      const void *staging) {
    const rope2d_span *span = &piece->tensors[tensor].tensor->out;
    const rope2d_stage_side *side = &piece->tensors[tensor].out;
    copy c = copy_of(plan, piece, tensor);
    c.element = rope2d_element_size(plan->out);
    c.to = span->first + piece_first(span, piece) * c.element;
    c.to_strides = strides_of_span(span);
    c.from = (const unsigned char *)staging + (uint64_t)side->first * c.element;
    c.from_strides = strides_of_side(side);
    run_copy(&c);
}
