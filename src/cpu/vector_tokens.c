// SPDX-License-Identifier: MIT
//
// Tokens, one after the other. What is done here for each of them takes the place of heads among the
// instructions that a processor has in work, and memory waits: so it is little.
#include "vector_route.h"

// The tables of tokens that follow one another, as many as turn, `most` at most, for all heads. Returns how
// many. A kernel for few heads needs to know no more; where rows are not multiplied they are found here,
// by what is the same for all tokens.
static inline uint32_t find_tables(const rope2d_cpu_job *job, const int32_t *rows, uint32_t most,
                                   rope2d_tables *t) {
    const rope2d_vector *const v = job->vector;
    const uint32_t axes = job->plan->pattern.row_axes;
    const size_t size = 2 * (size_t)v->kernel->pairs;
    const rope2d_entries *const steps_end = v->steps + v->step_places;
    const rope2d_entries *const mixed_end = v->mixed + v->mixed_places;
    const rope2d_rows table = rope2d_rows_of(job, 0);
    const float **to = t->steps;
    rope2d_pair_entry *together = t->mixed;
    uint32_t tokens = 0;
    while (tokens < most && rope2d_turning_of(rows + (size_t)tokens * axes, axes) == ROPE2D_TURNS)
        tokens++;
    if (v->product)
        rope2d_tables_find(job, rows, 0, false, tokens, t);
    if (v->product || v->kernel->is_few)
        return tokens;
    for (uint32_t n = tokens; n > 0; n--, rows += axes) {
        const rope2d_entries *steps = v->steps;
        do {
            const float *from = steps->source == ROPE2D_MIXED
                                    ? together->cos_sin
                                    : rope2d_row_at(&table, rows[steps->source - ROPE2D_FIRST_ROW]);
            to = rope2d_steps_point(to, from + steps->at, steps->count, size);
        } while (++steps < steps_end);
        for (const rope2d_entries *pairs = v->mixed; pairs < mixed_end; pairs++)
            together = rope2d_pairs_bring(
                together, rope2d_row_at(&table, rows[pairs->source - ROPE2D_FIRST_ROW]) + pairs->at,
                pairs->count);
    }
    return tokens;
}

void rope2d_tile_tokens(rope2d_tile *tile, uint64_t begin, uint64_t end, rope2d_tables *t) {
    const rope2d_cpu_job *job = tile->job;
    const uint32_t axes = job->plan->pattern.row_axes;
    const uint64_t batch = begin / job->work->tokens;
    const uint64_t first = begin % job->work->tokens;
    const int32_t *rows = rope2d_cpu_rows(job, batch, first);
    rope2d_route *const routes_end = tile->routes + tile->route_count;
    for (rope2d_route *route = tile->routes; route < routes_end; route++) {
        rope2d_route_place(job, route, batch, first, 0);
        route->turn.tables = t->steps;
    }
    uint32_t tokens;
    for (; begin < end; begin += tokens, rows += (size_t)tokens * axes) {
        const uint32_t most = tile->by_head ? 0 : tile->room;
        tokens = find_tables(job, rows, most < end - begin ? most : (uint32_t)(end - begin), t);
        const bool turns = tokens > 0;
        if (!turns) {
            tokens = 1;
            // With tables of their own both tensors have as many heads.
            const uint32_t together = tile->by_head ? tile->tensor_count : 1;
            for (uint32_t i = 0; i < tile->tensor_count; i += together)
                rope2d_tile_token(tile, i, together, begin, 0, tile->given[i].heads, t);
        }
        for (rope2d_route *route = tile->routes; route < routes_end; route++) {
            route->turn.outer = tokens;
            route->turn.rows = rows;
            if (turns && route->turn_fn)
                route->turn_fn(&route->turn);
            else if (turns)
                rope2d_route_turn(job, route);
            route->turn.in += (ptrdiff_t)tokens * route->turn.in_outer;
            route->turn.out += (ptrdiff_t)tokens * route->turn.out_outer;
        }
        if (ROPE2D_RARELY(job->gap > 0))
            rope2d_fetch_lines(tile->routes[0].turn.in, job->gap);
    }
}
