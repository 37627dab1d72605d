// SPDX-License-Identifier: MIT
//
// The plain C path: shaders/core.h in C.
#ifndef ROPE2D_CPU_PORTABLE_H
#define ROPE2D_CPU_PORTABLE_H

#include "../internal.h"

// Heads of one token.
typedef struct rope2d_cpu_run {
    const uint32_t *shape;
    const uint32_t *units;
    uint32_t unit_count;
    const int32_t *rows; // the token's
    const float *table;
    const unsigned char *in; // first channel of the first head
    unsigned char *out;
    ptrdiff_t in_stride; // bytes between heads
    ptrdiff_t out_stride;
    uint32_t first_head;
    uint32_t heads;
    uint32_t in_type; // R_F32 and so on
    uint32_t out_type;
    uint32_t head_dim;
    bool wide; // `units` are
    bool two_angles;
} rope2d_cpu_run;

typedef void rope2d_cpu_kernel(const rope2d_cpu_run *run);

rope2d_cpu_kernel rope2d_portable_rotate;

// What passes through, from one type to another.
uint32_t rope2d_portable_convert(uint32_t from, uint32_t to, uint32_t bits);

#endif
