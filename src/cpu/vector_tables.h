// SPDX-License-Identifier: MIT
//
// The cosines and sines of a few tokens, where a kernel's steps find them.
#ifndef ROPE2D_CPU_VECTOR_TABLES_H
#define ROPE2D_CPU_VECTOR_TABLES_H

#include "apply.h"

#include <string.h>

typedef struct rope2d_pair_entry {
    float cos_sin[2];
} rope2d_pair_entry;

typedef struct rope2d_tables {
    const float *steps[ROPE2D_TILE_POINTERS];      // [table][step_count]
    rope2d_pair_entry mixed[ROPE2D_MIXED_ENTRIES]; // of all tables
} rope2d_tables;

static inline rope2d_rows rope2d_rows_of(const rope2d_cpu_job *job, uint32_t head) {
    const rope2d_positions *positions = job->positions;
    return (rope2d_rows){
        .first = positions->table + (size_t)2 * head * job->shape[R_TABLE_HEAD_STRIDE],
        .stride = 2 * (size_t)positions->table_columns,
        .last = positions->table_rows - 1,
    };
}

// Steps that follow one another, one at least. Returns where the next one's pointer goes.
static inline const float **rope2d_steps_point(const float **to, const float *from, uint32_t count,
                                               size_t size) {
    const float **const end = to + count;
    do {
        *to++ = from;
        from += size;
    } while (to < end);
    return to;
}

// Pairs that lie one behind the other. Returns where the next ones go.
static inline rope2d_pair_entry *rope2d_pairs_bring(rope2d_pair_entry *to, const float *from,
                                                    uint32_t count) {
    for (; count >= 2; count -= 2, from += 4, to += 2)
        memcpy(to, from, 2 * sizeof(*to));
    if (count > 0)
        memcpy(to++, from, sizeof(*to));
    return to;
}

// A table of all steps, whose rows `sources` has; what is to be brought together goes to `together`. Returns
// where the next one's is.
static inline rope2d_pair_entry *rope2d_table_point(const rope2d_vector *v, const float **sources,
                                                    const float **to, rope2d_pair_entry *together) {
    const rope2d_entries *const steps_end = v->steps + v->step_places;
    const size_t size = 2 * (size_t)v->kernel->pairs;
    const rope2d_entries *const mixed_end = v->mixed + v->mixed_places;
    sources[ROPE2D_MIXED] = together->cos_sin;
    for (const rope2d_entries *steps = v->steps; steps < steps_end; steps++)
        to = rope2d_steps_point(to, sources[steps->source] + steps->at, steps->count, size);
    for (const rope2d_entries *pairs = v->mixed; pairs < mixed_end; pairs++)
        together = rope2d_pairs_bring(together, sources[pairs->source] + pairs->at, pairs->count);
    return together;
}

// The tables of `count` tokens, of which `rows` has the row numbers, for one head; or with `by_head`, those
// of `count` heads of one token.
void rope2d_tables_find(const rope2d_cpu_job *job, const int32_t *rows, uint32_t head, bool by_head,
                        uint32_t count, rope2d_tables *t);

#endif
