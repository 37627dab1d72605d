// SPDX-License-Identifier: MIT
//
// Tokens, one after the other. What is done here for each of them takes the place of heads among the
// instructions that a processor has in work, and memory waits: so it is little.
#include "vector_route.h"

// As rope2d_tables_find does of tokens, where it is simple.
static inline void find_tables(const rope2d_cpu_job *job, const int32_t *rows, uint32_t tokens,
                               rope2d_tables *t) {
    const rope2d_vector *const v = job->vector;
    const uint32_t axes = job->plan->pattern.row_axes;
    const rope2d_rows table = rope2d_rows_of(job, 0);
    const float *sources[ROPE2D_SOURCES];
    const float **to = t->steps;
    rope2d_pair_entry *together = t->mixed;
    for (; tokens > 0; tokens--, rows += axes, to += v->step_count) {
        for (uint32_t a = 0; a < axes; a++)
            sources[ROPE2D_FIRST_ROW + a] = rope2d_row_at(&table, rows[a]);
        together = rope2d_table_point(v, sources, to, together);
    }
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
        const uint32_t most = tile->by_head ? 1 : tile->room;
        const uint32_t room = most < end - begin ? most : (uint32_t)(end - begin);
        for (tokens = 0; tokens < room; tokens++)
            if (rope2d_turning_of(rows + (size_t)tokens * axes, axes) != ROPE2D_TURNS)
                break;
        const bool turns = tokens > 0 && !tile->by_head;
        if (turns && !job->vector->product) {
            find_tables(job, rows, tokens, t);
        } else if (turns) {
            rope2d_tables_find(job, rows, 0, false, tokens, t);
        } else {
            tokens = 1;
            for (uint32_t i = 0; i < tile->tensor_count; i++)
                rope2d_tile_token(tile, i, begin, 0, tile->tensors[i].heads, t);
        }
        for (rope2d_route *route = tile->routes; route < routes_end; route++) {
            route->turn.outer = tokens;
            if (turns && route->turn_fn)
                route->turn_fn(&route->turn);
            else if (turns)
                rope2d_route_turn(job, route);
            route->turn.in += (ptrdiff_t)tokens * route->turn.in_outer;
            route->turn.out += (ptrdiff_t)tokens * route->turn.out_outer;
        }
    }
}
