// SPDX-License-Identifier: MIT
//
// Loops that copy memory or multiply it in place, as fast as this processor can: what a rotation is held
// against.
#ifndef ROPE2D_CLI_BENCH_LOOPS_H
#define ROPE2D_CLI_BENCH_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

struct bench_copy_loop {
    const char *name;
    bool (*is_here)(void);
    void (*run)(void *to, const void *from, uint64_t bytes); // both aligned to 64 bytes, as is the length
};

struct bench_scale_loop {
    const char *name;
    bool (*is_here)(void);
    void (*run)(float *values, uint64_t bytes, float factor);
};

// Those that this processor has, at most BENCH_CANDIDATES; the C library's memcpy is not among them.
uint32_t bench_copy_loops(const struct bench_copy_loop **loops);
uint32_t bench_scale_loops(const struct bench_scale_loop **loops);

#endif
