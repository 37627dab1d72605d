// SPDX-License-Identifier: MIT
//
// What a plan needs to rotate with vectors: its kernel, and its pairs as the kernel's steps.
#ifndef ROPE2D_CPU_VECTOR_H
#define ROPE2D_CPU_VECTOR_H

#include "turn.h"

// Where (cos, sin) are: of a kernel's step in a row of the table, or where several axes turn its pairs, in
// what was brought together; and of pairs that are, those that lie one behind the other.
typedef struct rope2d_entries {
    uint32_t source; // ROPE2D_MIXED, or from ROPE2D_FIRST_ROW on, which of a token's rows
    uint32_t at;     // in fp32
    uint32_t count;  // of pairs, or of steps, that follow one another
} rope2d_entries;

#define ROPE2D_MIXED     0
#define ROPE2D_FIRST_ROW 1
#define ROPE2D_SOURCES   (ROPE2D_FIRST_ROW + ROPE2D_MAX_AXES)

// Consecutive channels that pass through, in bytes.
typedef struct rope2d_pass {
    uint32_t first;
    uint32_t size;
} rope2d_pass;

// Room on the stack of a task: for pointers, one for each step and table, and for pairs that are brought
// together, twice a plan's pairs, since steps overlap, for two tables at least.
#define ROPE2D_TILE_POINTERS 256
#define ROPE2D_MIXED_ENTRIES 1024
// And for heads on their way.
#define ROPE2D_SCRATCH_FLOATS 1024

typedef struct rope2d_vector {
    const rope2d_turn_kernel *kernel;
    rope2d_block *blocks;
    rope2d_entries *steps; // [step_places], of all blocks; for few heads none
    rope2d_entries *mixed; // the pairs of steps that several axes turn
    rope2d_pass *passes;
    uint32_t block_count;
    uint32_t step_places;
    uint32_t step_count;
    uint32_t mixed_count;
    uint32_t mixed_places;
    uint32_t pass_count;
    uint32_t fetched;   // bytes that each block asks for ahead, whole lines
    uint32_t tables;    // that there is room for at a time, at least 1
    uint32_t room;      // entries that each of the arrays has memory for
    uint32_t row_pairs; // of a row of the table
    bool is_whole;      // no step overlaps another
    // Turns a row of the table by another one, which is their product; NULL: rows are not multiplied.
    struct rope2d_vector *product;
    // Of a kernel for a tensor of one head, or two of them, with the same pairs; NULL: this one is.
    struct rope2d_vector *few;
    // Of AVX2's kernel, for tensors in place that are larger than the last cache, or of `few`, for all that
    // are larger than a thread's own caches, and for one head alone; NULL: this one is.
    struct rope2d_vector *past;
    // Of a kernel that writes past the caches, where that is asked for; NULL: this one does, with a copy.
    struct rope2d_vector *streamed;
    // The same kernel's for heads that lie densely, several as if they were one, so that no step overlaps
    // another; NULL: there is none.
    struct rope2d_vector *merged;
    uint32_t heads; // that are one: 1 but for such a plan
} rope2d_vector;

// The widest kernel up to `isa` that a pattern suits; NULL where none does.
const rope2d_turn_kernel *rope2d_vector_choose(const rope2d_pattern *pattern, rope2d_element in,
                                               rope2d_element out, rope2d_isa isa);
bool rope2d_vector_suits(const rope2d_turn_kernel *kernel, const rope2d_pattern *pattern);

// For a kernel that the pattern suits. What is there when it fails is left to rope2d_vector_destroy.
rope2d_status rope2d_vector_create(rope2d_vector **vector, const rope2d_turn_kernel *kernel,
                                   const rope2d_pattern *pattern, const rope2d_host *host);
// Adds those of other kernels, where there are any. `asks`: kernels ask for heads ahead past the caches.
rope2d_status rope2d_vector_add_others(rope2d_vector *vector, const rope2d_pattern *pattern, rope2d_isa isa,
                                       bool asks, const rope2d_host *host);
// The runs of the self-test that its kernels want, beside those that each plan has: plan->test_runs.
uint32_t rope2d_vector_test_runs(const rope2d_vector *vector);
void rope2d_vector_destroy(rope2d_vector *vector, const rope2d_host *host); // NULL is legal

#endif
