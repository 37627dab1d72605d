// SPDX-License-Identifier: MIT
//
// What a rotation could be at best on the CPU: loops that turn q and k of one tower each, of which the
// compiler knows everything, heads, channels, axes and strides, and that look after nothing else, by rows and
// a table of bench_turn_grid.h; a test gives them another. From one buffer to another they also store past
// the caches, themselves or what they have left in the nearest one.
#ifndef ROPE2D_CLI_BENCH_TURNS_H
#define ROPE2D_CLI_BENCH_TURNS_H

#include <stddef.h>
#include <stdint.h>

#include "bench.h"

// What a thread turns. Tensors are [token][head][channel].
struct bench_turn_part {
    const unsigned char *from[BENCH_TENSORS]; // in place: the same as to
    unsigned char *to[BENCH_TENSORS];
    uint32_t tensor_count;
    const uint32_t *rows; // [token][axis]
    const float *table;   // [row][pair](cos, sin), the same rows for each axis
    size_t stride;        // numbers from a row to the next
    uint64_t begin, end;  // tokens
};

struct bench_turn_loop {
    const char *name;
    uint32_t heads, head_dim;
    rope2d_pairing pairing;
    rope2d_element element;
    bool by_tensors; // one tensor after the other, in the place of both token by token
    uint32_t store;  // bytes of each store past the caches, to multiples of that; 0: stores as usual
    void (*run)(const struct bench_turn_part *part);
};

struct bench_turn_list {
    const struct bench_turn_loop *loops;
    uint32_t count;
    bool (*are_here)(void); // whether this processor has what they need; NULL: there are none
    // Whole lines, past the caches; and asks for as many that begin `ahead`, unless that is NULL.
    void (*stream)(void *to, const void *from, size_t bytes, const void *ahead);
    void (*stream_end)(void); // before another thread may see what was streamed
};

// Of each of x86's instruction sets; none elsewhere.
extern const struct bench_turn_list bench_turns_avx512, bench_turns_avx2;
// Those that this processor has, of the widest vectors alone; NULL: none.
const struct bench_turn_list *bench_turns_here(void);

struct bench_turn {
    const struct bench_turn_loop *loop;
    uint32_t
        staged; // tokens that go at a time into the nearest cache, and from there past the others; 0: none do
    bool asks;  // for the next of them meanwhile
};

// Of a case: ways to turn it, and a grid's rows and table, which a test may fill anew.
struct bench_turns {
    const struct bench_turn_list *list;
    struct bench_turn ways[2][2][BENCH_CANDIDATES]; // [in place][half]
    uint32_t counts[2][2];
    uint32_t axes, token_bytes;
    uint32_t *rows;
    float *table;
    size_t stride, floats;
};

// False: no memory. Where there are no loops for the case's tower nothing else is there.
bool bench_turns_create(struct bench_turns *turns, const struct bench_case *what);
void bench_turns_destroy(struct bench_turns *turns);
void bench_turn_name(const struct bench_turn *turn, char *name, size_t size);
// Turns tokens `begin` to `end` of q and k. What is not in place begins at whole lines.
void bench_turns_run(const struct bench_turns *turns, const struct bench_turn *turn,
                     const unsigned char *const from[BENCH_TENSORS], unsigned char *const to[BENCH_TENSORS],
                     uint64_t begin, uint64_t end);

#endif
