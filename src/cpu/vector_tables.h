// SPDX-License-Identifier: MIT
//
// The cosines and sines of a few tokens, where a kernel's steps find them.
#ifndef ROPE2D_CPU_VECTOR_TABLES_H
#define ROPE2D_CPU_VECTOR_TABLES_H

#include "apply.h"

typedef struct rope2d_pair_entry {
    float cos_sin[2];
} rope2d_pair_entry;

typedef struct rope2d_tables {
    const float *steps[ROPE2D_TILE_POINTERS];      // [table][step_count]
    rope2d_pair_entry mixed[ROPE2D_MIXED_ENTRIES]; // of all tables
} rope2d_tables;

// The tables of `count` tokens, of which `rows` has the row numbers, for one head; or with `by_head`, those
// of `count` heads of one token.
void rope2d_tables_find(const rope2d_cpu_job *job, const int32_t *rows, uint32_t head, bool by_head,
                        uint32_t count, rope2d_tables *t);

#endif
