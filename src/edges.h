// SPDX-License-Identifier: MIT
//
// Outputs at the edges between halves, as a hash. Each step of it can be undone: one other bit makes another
// hash. NaNs are alike.
#ifndef ROPE2D_EDGES_H
#define ROPE2D_EDGES_H

#include "internal.h"

// Zeros are its beginning.
typedef struct rope2d_edge_hash {
    uint64_t streams[4];
} rope2d_edge_hash;

// Which of a head's pairs `pair` is counted as: interleaved runs of four are taken apart most cheaply in
// another order.
uint32_t rope2d_edge_order(const rope2d_plan *plan, uint32_t pair);
// Adds the outputs of so many pairs, a multiple of four, from heads that stand so many elements apart.
void rope2d_edge_hash_add(rope2d_edge_hash *hash, const rope2d_plan *plan, const unsigned char *outputs,
                          uint32_t stride, uint32_t pairs);
// Whether it is that of what the portable path makes of the edges.
bool rope2d_edge_hash_is_right(const rope2d_edge_hash *hash, const rope2d_plan *plan);

#endif
