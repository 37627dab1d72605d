// SPDX-License-Identifier: MIT
//
// An apply on its way through the threads.
#ifndef ROPE2D_CPU_APPLY_H
#define ROPE2D_CPU_APPLY_H

#include "../../shaders/shape.h"
#include "portable.h"
#include "vector.h"

typedef struct rope2d_cpu_job {
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    const rope2d_work *work;
    const rope2d_vector *vector; // NULL: `kernel` takes all
    rope2d_cpu_kernel *kernel;   // of what no vector kernel takes
    const rope2d_units *units;
    uint32_t shape[R_TENSORS]; // what r_unit and channels.c look at
    uint64_t heads;            // of all tensors, tokens and batch elements
    uint32_t tasks;
    uint32_t head_bytes; // of an output
    bool streams;        // outputs that are not in place go past the caches, which have no room for them
    bool is_small;       // fits the threads' own caches
    bool by_tokens;      // a task is a range of tokens of all tensors: tables are found once for two of them
    bool in_turns;       // past the caches, a token's heads of one tensor, then of the next
    ptrdiff_t gap;       // bytes to be asked for between a token's heads and the next token's; mostly 0
    bool aliases;        // in place, and one tensor's lines push another's out of the nearest cache
    rope2d_ahead ahead;  // how far ahead kernels ask for heads; 0: not at all
    bool is_joined;      // one tensor was made of two, or is one of one head
    bool is_merged;      // one head was made of several; only with by_tokens
    bool direct;         // outputs that kernels themselves write past the caches
    rope2d_checked_tensor made[2]; // of either
} rope2d_cpu_job;

// Where a head begins.
const unsigned char *rope2d_cpu_head(const rope2d_span *span, uint32_t element, uint64_t batch,
                                     uint64_t token, uint64_t head);

// The row numbers of a token.
const int32_t *rope2d_cpu_rows(const rope2d_cpu_job *job, uint64_t batch, uint64_t token);

static inline bool rope2d_cpu_converts(const rope2d_plan *plan) {
    return plan->in != plan->out;
}

// Whether what follows a head is the token's next one, and not the next token's. One token has no stride.
static inline bool rope2d_cpu_goes_by_tokens(const rope2d_work *work, const rope2d_span *span) {
    return work->tokens == 1 || span->head_stride <= span->token_stride;
}

// Fills a job whose plan, positions, work, vector and kernel are given, whatever else is in it.
void rope2d_cpu_job_fill(rope2d_cpu_job *job);

// Rotate heads begin to end of a tensor, numbered [batch][token][head].
void rope2d_cpu_heads(const rope2d_cpu_job *job, const rope2d_checked_tensor *tensor, uint64_t begin,
                      uint64_t end);
void rope2d_vector_heads(const rope2d_cpu_job *job, const rope2d_checked_tensor *tensor, uint64_t begin,
                         uint64_t end);
// Whether heads have no gaps, and the plan a kernel that turns several of them as one.
bool rope2d_vector_merges(const rope2d_cpu_job *job);
// Where tasks are rope2d_vector_tokens, makes such heads one, or two tensors of one head each one tensor; and
// finds out whether kernels themselves write past the caches.
void rope2d_vector_arrange(rope2d_cpu_job *job);
// Rotates tokens begin to end of all tensors, numbered [batch][token].
void rope2d_vector_tokens(const rope2d_cpu_job *job, uint64_t begin, uint64_t end);

// Turns heads, and copies what else they have, unless they are turned in place.
void rope2d_vector_turn(const rope2d_cpu_job *job, const rope2d_turn *turn, bool in_place);

#endif
