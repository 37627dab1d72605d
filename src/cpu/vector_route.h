// SPDX-License-Identifier: MIT
//
// Which heads a kernel turns by one call, and how: found once for a task.
#ifndef ROPE2D_CPU_VECTOR_ROUTE_H
#define ROPE2D_CPU_VECTOR_ROUTE_H

#include "apply.h"
#include "vector_tables.h"

// In some tokens all heads of a tensor, or of two, of which the second's follow the first's; or some heads of
// one token.
typedef struct rope2d_route {
    const rope2d_checked_tensor *tensor;
    uint32_t heads;          // of the tensor
    bool singly;             // a call for each of them
    rope2d_turn_fn *turn_fn; // NULL: it writes elsewhere, or not all channels, or takes several calls
    rope2d_turn turn;        // but for its tables, row numbers and how many
} rope2d_route;

// What a task rotates: tensors whose tables are found together.
typedef struct rope2d_tile {
    const rope2d_cpu_job *job;
    const rope2d_checked_tensor *given;
    const rope2d_checked_tensor *tensors; // as kernels see them: of merged heads fewer
    uint32_t tensor_count;                // 1 or 2
    // Of rope2d_tile_fill.
    uint32_t room; // for tables that are found at a time, at least 1
    bool by_head;  // each head has a table of its own
    uint32_t route_count;
    rope2d_route routes[2]; // of tokens that turn; with by_head of each tensor
} rope2d_tile;

void rope2d_tile_fill(rope2d_tile *tile);

// All heads of a tensor, and of `second`, unless it is NULL; or some heads of a token.
void rope2d_route_fill(rope2d_route *route, const rope2d_tile *tile, const rope2d_checked_tensor *tensor,
                       uint32_t heads, const rope2d_checked_tensor *second);
// Where its first head is.
void rope2d_route_place(const rope2d_cpu_job *job, rope2d_route *route, uint64_t batch, uint64_t token,
                        uint64_t head);
// Turns them, whatever `turn_fn` is. turn.tables, turn.rows and turn.outer are there: tokens, or heads with a
// table of their own.
void rope2d_route_turn(const rope2d_cpu_job *job, rope2d_route *route);

// Tokens that follow one another in a batch element, numbered [batch][token], of all tensors.
void rope2d_tile_tokens(rope2d_tile *tile, uint64_t begin, uint64_t end, rope2d_tables *t);
// Rotates heads `first` to `end` of one token, numbered [batch][token], of `count` tensors from `index` on,
// which have as many heads each, whatever its rows say.
void rope2d_tile_token(rope2d_tile *tile, uint32_t index, uint32_t count, uint64_t at, uint32_t first,
                       uint32_t end, rope2d_tables *t);

// What a token's row numbers say: negative ones turn nothing.
typedef enum rope2d_turning { ROPE2D_TURNS, ROPE2D_TURNS_NOT, ROPE2D_TURNS_PARTLY } rope2d_turning;

static inline rope2d_turning rope2d_turning_of(const int32_t *rows, uint32_t count) {
    int32_t any = rows[0], all = rows[0]; // whether they are negative
    for (uint32_t i = 1; i < count; i++) {
        any |= rows[i];
        all &= rows[i];
    }
    return any >= 0 ? ROPE2D_TURNS : all < 0 ? ROPE2D_TURNS_NOT : ROPE2D_TURNS_PARTLY;
}

#endif
