// SPDX-License-Identifier: MIT
//
// Loops that do what a rotation cannot do without: they load, convert to f32, multiply twice and add, convert
// back and store. None of them turns anything: both products are of the number itself.
#ifndef ROPE2D_CLI_BENCH_LIMITS_H
#define ROPE2D_CLI_BENCH_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"

// What a thread multiplies. Everything is aligned to 64 bytes, as is the length.
struct bench_limit_part {
    void *to;
    const void *from; // not read in place
    uint64_t bytes;
    float factor, other; // each number becomes the sum of its products with both
    const float *table;  // instead of the first a factor for each element
    uint64_t at, mask;   // of the first element's, and what its numbers are taken modulo, less one
    // Of a grid: a token's first half is of its column's row, the other of its line's, which the next token
    // has as well. 0: no grid, the table goes on from token to token.
    uint32_t channel_bits, column_bits;
    uint64_t second; // with a table: bytes from q to k, of which as many are multiplied by the same
};

// Where the factors of number `place` and those after it stand.
static inline const float *bench_limit_factors(const struct bench_limit_part *part, uint64_t place) {
    const uint64_t number = part->at + place;
    if (!part->channel_bits)
        return part->table + (number & part->mask);
    const uint64_t row_bits = part->channel_bits - 1, columns = (uint64_t)1 << part->column_bits;
    const uint64_t token = number >> part->channel_bits, channel = number & (((uint64_t)1 << row_bits) - 1);
    const uint64_t column = token & (columns - 1),
                   line = columns + ((token >> part->column_bits) & (columns - 1));
    const uint64_t row = number >> row_bits & 1 ? line : column;
    return part->table + (row << row_bits) + channel;
}

typedef void bench_limit_run(const struct bench_limit_part *part);

struct bench_limit_loop {
    const char *name;
    rope2d_element element;
    bool (*is_here)(void);
    bench_limit_run *run[2][2]; // [in place][with a table]; NULL where a variant makes no sense
};

// Those that this processor has, at most BENCH_CANDIDATES.
uint32_t bench_limit_loops(rope2d_element element, bool in_place, const struct bench_limit_loop **loops);

// Those of x86's vectors; none elsewhere.
extern const struct bench_limit_loop bench_limits_x86[];
extern const uint32_t bench_limits_x86_count;

enum { BENCH_LINE = 64, BENCH_AHEAD = 1024 };

#if defined(__GNUC__)
#define BENCH_FETCH(address) __builtin_prefetch(address)
#else
#define BENCH_FETCH(address) ((void)(address))
#endif

#endif
