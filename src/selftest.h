// SPDX-License-Identifier: MIT
//
// What the self-test feeds a plan: a table and inputs chosen so that each fault a device may have changes at
// least a tenth of the outputs.
#ifndef ROPE2D_SELFTEST_H
#define ROPE2D_SELFTEST_H

#include "internal.h"

// Tokens and rows come in two sets: first those where everything is normal as a binary32, then two and
// an eighth as many, those with subnormal inputs, products and results.
typedef struct rope2d_probe {
    rope2d_positions positions; // its backend part is the caller's to make and destroy
    uint32_t tokens;            // of the first set
    uint32_t rows;              // of the table, of the first set
    uint32_t heads;
} rope2d_probe;

// The probe is left destroyable when it fails.
rope2d_status rope2d_probe_create(rope2d_probe *probe, const rope2d_plan *plan);
void rope2d_probe_destroy(rope2d_probe *probe);

// Others, in one set: a table that takes all f16 to what lies between them. Of each row as many tokens of one
// head as it takes for all pairs, and an even number, or half as many of two heads: in each batch element
// first the former of one row, then the latter of the next.
enum { ROPE2D_EDGE_ROWS = 8, ROPE2D_EDGE_PAIRS = 65536 }; // of each row: 2^20 outputs in all
rope2d_status rope2d_edges_create(rope2d_probe *probe, const rope2d_plan *plan);
// The bits, of the plan's input type, of an f16 modulo 2^16.
uint32_t rope2d_edge(const rope2d_plan *plan, uint32_t half);

// The bits, of the plan's input type, of the two channels of a pair, chosen for the table's entry.
void rope2d_probe_pair(const rope2d_probe *probe, const rope2d_plan *plan, uint32_t token, uint32_t head,
                       uint32_t pair, uint32_t *lo, uint32_t *hi);
// The same for a channel that passes through.
uint32_t rope2d_probe_channel(const rope2d_plan *plan, uint32_t token, uint32_t head, uint32_t channel);

typedef struct rope2d_differences {
    uint64_t outputs[2]; // of each set that pairs turn
    uint64_t normal;     // differ from the portable path's in the first set
    uint64_t subnormal;  // in the second
} rope2d_differences;

// Counts what differs between the plan's backend and the portable path. For the pattern's wide units (where
// it has them) and its single ones.
rope2d_status rope2d_self_test_count(const rope2d_plan *plan, rope2d_differences *differences);
// Runs the plan's vector units at the edges: from f16 or to it.
rope2d_status rope2d_self_test_edges(const rope2d_plan *plan, bool *are_equal);

#endif
