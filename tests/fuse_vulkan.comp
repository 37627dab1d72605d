// SPDX-License-Identifier: MIT
//
// A user's shader that rotates interleaved pairs, of any element types, with a table of either kind (TEXTURE).
#version 450
#include "rope2d.glsl"

layout(local_size_x = 64) in;
layout(push_constant) uniform Sizes {
    uint tokens, heads, pairs;
    uint table_rows, columns, row_axes, texture_fold;
    uint head_stride; // entries, 0: all heads share their frequencies
    uint angles;      // of a pair
    uint in_type, out_type;
};
layout(binding = 0, std430) readonly buffer In {
    uint x[];
};
layout(binding = 1, std430) writeonly buffer Out {
    uint y[];
};
layout(binding = 2, std430) readonly buffer Rows {
    int rows[];
};
#if TEXTURE
layout(binding = 3) uniform sampler2D table;
#define READ(at) rope2d_fetch(table, texture_fold, at)
#else
layout(binding = 3, std430) readonly buffer Table {
    vec2 table[];
};
#define READ(at) table[at]
#endif

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= tokens * heads * pairs)
        return;
    uint pair = index % pairs;
    uint head = index / pairs % heads;
    uint token = index / pairs / heads;
    float lo = rope2d_widen(in_type, in_type == R_F32 ? x[2u * index] : x[index] & 0xffffu);
    float hi = rope2d_widen(in_type, in_type == R_F32 ? x[2u * index + 1u] : x[index] >> 16);
    int row = rows[token * row_axes + (row_axes == 1u ? 0u : pair % 2u)];
    float turned_lo = lo;
    float turned_hi = hi;
    if (row >= 0) {
        uint first = rope2d_row(row, table_rows) * columns + head * head_stride + angles * pair;
        turned_lo = rope2d_turn_lo(READ(first), lo, hi);
        turned_hi = rope2d_turn_hi(READ(first + angles - 1u), lo, hi);
    }
    if (out_type == R_F32) {
        y[2u * index] = rope2d_narrow(out_type, turned_lo);
        y[2u * index + 1u] = rope2d_narrow(out_type, turned_hi);
    } else {
        y[index] = rope2d_narrow(out_type, turned_lo) | (rope2d_narrow(out_type, turned_hi) << 16);
    }
}
