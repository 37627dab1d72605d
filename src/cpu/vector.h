// SPDX-License-Identifier: MIT
//
// What a plan needs to rotate with vectors: its kernel, and its pairs as the kernel's steps.
#ifndef ROPE2D_CPU_VECTOR_H
#define ROPE2D_CPU_VECTOR_H

#include "turn.h"

// Consecutive pairs that one axis turns.
typedef struct rope2d_vector_segment {
    uint32_t pair;
    uint32_t count;
    uint32_t axis;
} rope2d_vector_segment;

// Consecutive channels that pass through, in bytes.
typedef struct rope2d_pass {
    uint32_t first;
    uint32_t size;
} rope2d_pass;

typedef struct rope2d_vector {
    const rope2d_turn_kernel *kernel;
    rope2d_block *blocks;
    rope2d_vector_segment *segments;
    rope2d_pass *passes;
    uint32_t block_count;
    uint32_t segment_count;
    uint32_t pass_count;
    bool is_direct; // each block's pairs are one axis' and lie together in a row of the table
    uint32_t room;  // entries that each of the arrays has memory for
} rope2d_vector;

// The widest kernel up to `isa` that a pattern suits; NULL where the portable path is all there is.
const rope2d_turn_kernel *rope2d_vector_choose(const rope2d_pattern *pattern, rope2d_element in,
                                               rope2d_element out, rope2d_isa isa);
bool rope2d_vector_suits(const rope2d_turn_kernel *kernel, const rope2d_pattern *pattern);

// For a kernel that the pattern suits. What is there when it fails is left to rope2d_vector_destroy.
rope2d_status rope2d_vector_create(rope2d_vector **vector, const rope2d_turn_kernel *kernel,
                                   const rope2d_pattern *pattern, const rope2d_host *host);
void rope2d_vector_destroy(rope2d_vector *vector, const rope2d_host *host); // NULL is legal

#endif
