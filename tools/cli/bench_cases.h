// SPDX-License-Identifier: MIT
//
// Towers, the options that choose among them, and the data of a case.
#ifndef ROPE2D_CLI_BENCH_CASES_H
#define ROPE2D_CLI_BENCH_CASES_H

#include "bench.h"

enum { BENCH_SMALLEST_TOWER = 1 }; // of bench_towers

// Words of `names` with commas between, or "all", into a mask. An exit status; what is wrong is said.
int bench_parse_words(const char *option, const char *text, const char *const *names, uint32_t *mask);
// Numbers with commas between.
int bench_parse_numbers(const char *option, const char *text, uint64_t most, uint64_t *numbers,
                        size_t *count);

// Bytes of q and k together.
uint64_t bench_bytes(const struct bench_case *what);
// Numbers of the table that a limit reads beside the tensors, one for each channel, from as many as the
// tower's own table has (of one for each head as many as q), rounded down to a power of two. 0 where heads
// share what they have read.
uint64_t bench_table_floats(const struct bench_case *what);

// Of the grid that tokens are, a power of two.
uint64_t bench_columns_of(uint64_t tokens);

// Elements `first` on of q and k, q first: random in every bit that leaves them normal numbers of modest
// size.
void bench_fill(void *data, rope2d_element element, uint64_t first, uint64_t count);

// The spec of a tower, whose frequencies belong to the struct, and the coordinates of a grid.
struct bench_spec {
    rope2d_spec spec;
    float freqs[ROPE2D_MAX_AXES * ROPE2D_MAX_HEAD_DIM / 2];
    float freqs_hi[ROPE2D_MAX_AXES * ROPE2D_MAX_HEAD_DIM / 2];
};
void bench_spec_fill(const struct bench_tower *tower, rope2d_pairing pairing, struct bench_spec *spec);
float *bench_coordinates(const struct bench_tower *tower, uint64_t tokens); // NULL: no memory

#endif
