// SPDX-License-Identifier: MIT
#include "vector_tables.h"

// The products of what a token's rows have for each axis, of heads that follow one another, from the first
// axis on.
static void multiply_rows(const rope2d_cpu_job *job, const int32_t *rows, uint32_t head, uint32_t heads,
                          const float **steps, rope2d_pair_entry *products) {
    const rope2d_vector *v = job->vector->product;
    const size_t head_stride = 2 * (size_t)job->shape[R_TABLE_HEAD_STRIDE];
    const rope2d_rows table = rope2d_rows_of(job, head);
    rope2d_turn t = {
        .in = (const unsigned char *)rope2d_row_at(&table, rows[0]),
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
        const float *row = rope2d_row_at(&table, rows[f]) + f * 2 * (size_t)job->shape[R_TABLE_FACTOR_STRIDE];
        const float **to = steps;
        for (uint32_t n = 0; n < heads; n++, row += head_stride) {
            const float *sources[] = {[ROPE2D_FIRST_ROW] = row}; // its pattern has one axis
            rope2d_table_point(v, sources, to, products);
            to += v->step_count;
        }
        v->kernel->turn(&t);
        t.in = t.out;
        t.in_outer = t.out_outer;
    }
}

void rope2d_tables_find(const rope2d_cpu_job *job, const int32_t *rows, uint32_t head, bool by_head,
                        uint32_t count, rope2d_tables *t) {
    const rope2d_vector *const v = job->vector;
    const uint32_t axes = job->plan->pattern.row_axes;
    const float *sources[ROPE2D_SOURCES];
    const float **to = t->steps;
    rope2d_pair_entry *together = t->mixed;
    rope2d_rows table = rope2d_rows_of(job, head);
    for (uint32_t n = 0; v->product && n < (by_head ? 1 : count); n++)
        multiply_rows(job, rows + (size_t)n * axes, head, by_head ? count : 1, t->steps,
                      t->mixed + (size_t)n * v->row_pairs);
    for (uint32_t n = 0; n < count; n++, to += v->step_count) {
        for (uint32_t a = 0; a < axes; a++)
            sources[ROPE2D_FIRST_ROW + a] = rope2d_row_at(&table, rows[a]);
        if (v->product) {
            sources[ROPE2D_FIRST_ROW] = together->cos_sin;
            together += v->row_pairs;
        }
        together = rope2d_table_point(v, sources, to, together);
        if (by_head)
            table.first += 2 * (size_t)job->shape[R_TABLE_HEAD_STRIDE];
        else
            rows += axes;
    }
}
