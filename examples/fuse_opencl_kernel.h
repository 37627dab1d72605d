// SPDX-License-Identifier: MIT
//
// The kernel of fuse_opencl.c. rope2d_opencl_source() stands before it.
#ifndef FUSE_OPENCL_KERNEL_H
#define FUSE_OPENCL_KERNEL_H

// Interleaved pairs of one head; even pairs turn with y (row 0 of a token), odd ones with x (row 1). Products
// and sums stand apart, so that both ways of getting there add the same numbers in the same order.
static const char kernel_text[] =
    "__kernel void scores(__global const float *q, __global const float *k, __global const float2 *table,\n"
    "                     __global const int *rows, uint table_rows, uint columns, uint fused,\n"
    "                     __global float *out) {\n"
    "    size_t a = get_global_id(0), b = get_global_id(1);\n"
    "    float sum = 0.0f;\n"
    "    for (uint i = 0; i < 16; i++) {\n"
    "        float2 x = vload2(i, q + a * 32), y = vload2(i, k + b * 32);\n"
    "        float2 at = table[rope2d_row(rows[2 * a + i % 2], table_rows) * columns + i];\n"
    "        float2 bt = table[rope2d_row(rows[2 * b + i % 2], table_rows) * columns + i];\n"
    "        if (fused) {\n"
    "            x = (float2)(rope2d_turn_lo(at, x.x, x.y), rope2d_turn_hi(at, x.x, x.y));\n"
    "            y = (float2)(rope2d_turn_lo(bt, y.x, y.y), rope2d_turn_hi(bt, y.x, y.y));\n"
    "        }\n"
    "        float first = x.x * y.x, second = x.y * y.y;\n"
    "        sum = sum + first;\n"
    "        sum = sum + second;\n"
    "    }\n"
    "    out[a * get_global_size(1) + b] = sum;\n"
    "}\n";

#endif
