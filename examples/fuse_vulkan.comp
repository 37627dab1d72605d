// SPDX-License-Identifier: MIT
//
// Projects tokens x to q, and rotates each pair in registers before it is rounded to f16 and written. With fused = 0 it
// writes the projection in fp32 as it is, for comparison.
#version 450
#include "rope2d.glsl"

layout(local_size_x = 64) in;
layout(push_constant) uniform Sizes {
    uint tokens, features, heads, pairs;
    uint table_rows, columns, row_axes; // of rope2d_vulkan_table
    uint fused;
};
layout(binding = 0, std430) readonly buffer Values {
    float values[]; // x [tokens][features], then weights [heads][pairs][2][features]
};
layout(binding = 1, std430) readonly buffer Table {
    vec2 table[];
};
layout(binding = 2, std430) readonly buffer Rows {
    int rows[];
};
layout(binding = 3, std430) writeonly buffer Out {
    uint words[]; // f16 [tokens][heads][pairs][2], or the same in fp32
};

float project(uint token, uint row) {
    precise float sum = 0.0;
    for (uint i = 0u; i < features; i++) {
        precise float product = values[token * features + i] * values[(tokens + row) * features + i];
        sum = sum + product;
    }
    return sum;
}

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= tokens * heads * pairs)
        return;
    uint pair = index % pairs;
    uint token = index / pairs / heads;
    uint row_of_weights = 2u * (index % (heads * pairs));
    float lo = project(token, row_of_weights);
    float hi = project(token, row_of_weights + 1u);
    if (fused == 0u) {
        words[2u * index] = floatBitsToUint(lo);
        words[2u * index + 1u] = floatBitsToUint(hi);
        return;
    }
    int row = rows[token * row_axes + pair % 2u]; // even pairs turn with y, odd ones with x
    float turned_lo = lo;
    float turned_hi = hi;
    if (row >= 0) { // a class token does not turn
        vec2 entry = table[rope2d_row(row, table_rows) * columns + pair];
        turned_lo = rope2d_turn_lo(entry, lo, hi);
        turned_hi = rope2d_turn_hi(entry, lo, hi);
    }
    words[index] = rope2d_narrow(R_F16, turned_lo) | (rope2d_narrow(R_F16, turned_hi) << 16);
}
