// SPDX-License-Identifier: MIT
//
// The CPU's memory for all cases: what a case was given is another's next, so that pages are cleared once. It
// asks for huge pages, as a system that gives them to every program does.
#ifndef ROPE2D_CLI_BENCH_ARENA_H
#define ROPE2D_CLI_BENCH_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "rope2d/rope2d.h"

struct bench_arena {
    unsigned char *memory, *base; // as it was given, and its first huge page
    uint64_t mapped, bytes;
    // From the base on numbers of a type, and from the end back bytes that were touched.
    uint64_t filled, touched;
    rope2d_element element;
};

// Room for as many bytes to read, from the base on, and as many to write, up to the end: false if there is
// none. Where the system reserves addresses alone, `most` of them, so that it need not move.
bool bench_arena_reserve(struct bench_arena *arena, uint64_t half, uint64_t most);
// Random numbers into all that is read, where there are none of this type, and touches all that is written;
// with as many threads as the host has.
bool bench_arena_fill(struct bench_arena *arena, rope2d_element element, uint64_t half,
                      const rope2d_host *host);
void bench_arena_free(struct bench_arena *arena);

#endif
