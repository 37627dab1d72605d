// SPDX-License-Identifier: MIT
//
// What turns turn by, on every device: rows of a grid's positions, and a table of quarter turns. Those are
// exact, so that a turn in place may be repeated for ever, and each neighbour of an entry is another, so that
// one that is read at a wrong place is seen.
#ifndef ROPE2D_CLI_BENCH_TURN_GRID_H
#define ROPE2D_CLI_BENCH_TURN_GRID_H

#include <stddef.h>
#include <stdint.h>

#include "bench.h"

// Row numbers, [token][axis], of a grid as the library's positions have it: the last two axes have the line
// and the column.
void bench_turn_rows(const struct bench_case *what, uint32_t *rows);
// [row][pair](cos, sin), of as many rows as bench_columns_of says, `stride` floats apart.
void bench_turn_table(const struct bench_case *what, size_t stride, float *table);
// What a turn by these makes of `count` elements of q and k from `first` on, both multiples of a head's.
void bench_turn_expect(const struct bench_case *what, rope2d_pairing pairing, uint64_t first, uint64_t count,
                       unsigned char *values);

#endif
