// SPDX-License-Identifier: MIT
// A kernel for test_stage.c, which does what the words of a dispatch say, one invocation after the other.
#ifndef ROPE2D_TESTS_STAGE_KERNEL_H
#define ROPE2D_TESTS_STAGE_KERNEL_H

#include "stage.h"

#include <stdbool.h>
#include <stdint.h>

#define MAX_TENSORS 6

struct example {
    rope2d_device device;
    rope2d_plan plan;
    rope2d_positions positions;
    rope2d_checked_tensor tensors[MAX_TENSORS];
    rope2d_work work;
    rope2d_stage_limits limits;
    uint64_t row_base;
    uint32_t pieces;
    uint32_t odd_pieces; // that keep an odd layout
    uint32_t vector_pieces;
};

struct dispatch {
    const struct example *e;
    const rope2d_piece *piece;
    unsigned char *staging; // what the piece's tensors lie in
    uint32_t words[R_SHAPE_WORDS];
    uint8_t *seen; // [lanes] of each tensor, one after the other
    uint64_t seen_count;
};

// Elements of 2 or 4 bytes, as bits.
uint32_t element_get(const void *from, uint64_t at, uint32_t size);
void element_put(void *to, uint64_t at, uint32_t size, uint32_t bits);
// What the kernel does with an element.
uint32_t element_turn(uint32_t bits, uint64_t row);

// Every lane of a kernel of single pairs, or every group of a vector kernel: false where one is out of
// bounds. Of the former each lane that has something to do is seen once.
bool dispatch_lanes(struct dispatch *d);
bool dispatch_groups(struct dispatch *d);

#endif
