// SPDX-License-Identifier: MIT
#include "vector_tables.h"

#include <string.h>

// The rows of the table, or of a head's part of it.
typedef struct table_rows {
    const float *first;
    size_t stride; // in fp32
    uint32_t last;
} table_rows;

static inline table_rows rows_of(const rope2d_cpu_job *job, uint32_t head) {
    const rope2d_positions *positions = job->positions;
    return (table_rows){
        .first = positions->table + (size_t)2 * head * job->shape[R_TABLE_HEAD_STRIDE],
        .stride = 2 * (size_t)positions->table_columns,
        .last = positions->table_rows - 1,
    };
}

static inline const float *row_of(const table_rows *table, int32_t row) {
    return table->first + ((uint32_t)row < table->last ? (uint32_t)row : table->last) * table->stride;
}

// Of all steps.
static const float **point(const rope2d_vector *v, const float *const *sources, const float **to) {
    const uint32_t floats = 2 * v->kernel->pairs;
    for (uint32_t i = 0; i < v->step_places; i++) {
        const float *at = sources[v->steps[i].source] + v->steps[i].at;
        for (uint32_t left = v->steps[i].count; left > 0; left--, at += floats)
            *to++ = at;
    }
    return to;
}

// The products of what a token's rows have for each axis, of heads that follow one another, from the first
// axis on.
static void multiply_rows(const rope2d_cpu_job *job, const int32_t *rows, uint32_t head, uint32_t heads,
                          const float **steps, rope2d_pair_entry *products) {
    const rope2d_vector *v = job->vector->product;
    const size_t head_stride = 2 * (size_t)job->shape[R_TABLE_HEAD_STRIDE];
    const table_rows table = rows_of(job, head);
    rope2d_turn t = {
        .in = (const unsigned char *)row_of(&table, rows[0]),
        .out = (unsigned char *)products,
        .tables = steps,
        .in_outer = (ptrdiff_t)(head_stride * sizeof(float)),
        .out_outer = (ptrdiff_t)(job->vector->row_pairs * sizeof(*products)),
        .inner = 1,
        .outer = heads,
        .group = 1,
        .blocks = v->blocks,
        .block_count = v->block_count,
        .steps = v->step_count,
    };
    for (uint32_t f = 1; f < job->plan->pattern.factors; f++) {
        const float *row = row_of(&table, rows[f]) + f * 2 * (size_t)job->shape[R_TABLE_FACTOR_STRIDE];
        const float **to = steps;
        for (uint32_t n = 0; n < heads; n++, row += head_stride) {
            const float *const sources[] = {[ROPE2D_FIRST_ROW] = row}; // its pattern has one axis
            to = point(v, sources, to);
        }
        v->kernel->turn(&t);
        t.in = t.out;
        t.in_outer = t.out_outer;
    }
}

void rope2d_tables_find(const rope2d_cpu_job *job, const int32_t *rows, uint32_t head, bool by_head,
                        uint32_t count, rope2d_tables *t) {
    const rope2d_vector v = *job->vector;
    const uint32_t axes = job->plan->pattern.row_axes;
    const float *sources[ROPE2D_SOURCES];
    const float **to = t->steps;
    rope2d_pair_entry *together = t->mixed;
    table_rows table = rows_of(job, head);
    for (uint32_t n = 0; v.product && n < (by_head ? 1 : count); n++)
        multiply_rows(job, rows + (size_t)n * axes, head, by_head ? count : 1, t->steps,
                      t->mixed + (size_t)n * v.row_pairs);
    for (uint32_t n = 0; n < count; n++) {
        sources[ROPE2D_MIXED] = together->cos_sin;
        for (uint32_t a = 0; a < axes; a++)
            sources[ROPE2D_FIRST_ROW + a] = row_of(&table, rows[a]);
        if (v.product) {
            sources[ROPE2D_FIRST_ROW] = together->cos_sin;
            together += v.row_pairs;
        }
        to = point(&v, sources, to);
        for (uint32_t i = 0; i < v.mixed_places; i++) {
            const float *from = sources[v.mixed[i].source] + v.mixed[i].at;
            for (uint32_t left = v.mixed[i].count; left > 0; left--, from += 2)
                memcpy(together++, from, sizeof(*together));
        }
        if (by_head)
            table.first += 2 * (size_t)job->shape[R_TABLE_HEAD_STRIDE];
        else
            rows += axes;
    }
}
