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
    uint64_t second;     // with a table: bytes from q to k, of which as many are multiplied by the same
};

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
