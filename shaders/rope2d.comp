// SPDX-License-Identifier: MIT
//
// core.h as a Vulkan compute shader. Macros tell the modules apart: R_TEXTURE (the table is a texture or a buffer) and
// R_SLOTS (tensors of a dispatch: 1, 2 or 4); everything else is a specialization constant.
#version 450

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint R_IN = 0u;
layout(constant_id = 2) const uint R_OUT = 0u;
layout(constant_id = 3) const bool R_WIDE = false;
layout(constant_id = 4) const bool R_TWO_ANGLES = false;
layout(constant_id = 5) const bool R_FACTORED = false;

#include "shape.h"

// Padded to 16 bytes: uniform arrays have that stride.
layout(set = 0, binding = 0, std140) uniform Shape {
    uvec4 words[R_SHAPE_WORDS / 4];
} shape;
layout(push_constant, std430) uniform Range {
    uint words[R_RANGE_WORDS];
} range;
layout(set = 0, binding = 1, std140) uniform Units {
    uvec4 words[1024]; // ROPE2D_MAX_HEAD_DIM / 4: 16 KiB, the least that every device can bind
} units;
layout(set = 0, binding = 2, std430) readonly buffer Rows {
    int rows[];
};
#if R_TEXTURE
layout(set = 0, binding = 3) uniform sampler2D table;
#else
layout(set = 0, binding = 3, std430) readonly buffer Table {
    vec2 table[];
};
#endif

#define R_DECLARE_SLOT(k)                                                        \
    layout(set = 0, binding = 4 + 2 * k, std430) readonly buffer In##k {         \
        uint in##k[];                                                            \
    };                                                                           \
    layout(set = 0, binding = 5 + 2 * k, std430) buffer Out##k {                 \
        uint out##k[];                                                           \
    };
R_DECLARE_SLOT(0)
#if R_SLOTS > 1
R_DECLARE_SLOT(1)
#endif
#if R_SLOTS > 2
R_DECLARE_SLOT(2)
R_DECLARE_SLOT(3)
#endif

#define R_FN
#define R_MEM
#define R_M
#define R_UINT(i)      uint(i)
#define R_BITS(f)      floatBitsToUint(f)
#define R_FROM_BITS(u) uintBitsToFloat(u)
#define R_SHAPE(i)     (shape.words[(i) >> 2][(i) & 3])
#define R_RANGE(i)     (range.words[i])
#define R_UNIT(i)      (units.words[(i) >> 2][(i) & 3])
#define R_ROW(i)       (rows[i])
#define r_entry        vec2

vec2 r_read_entry(uint at) {
#if R_TEXTURE
    uint texel = at >> 1;
    uint fold = R_SHAPE(R_TABLE_FOLD);
    vec4 two = texelFetch(table, ivec2(int(texel & ((1u << fold) - 1u)), int(texel >> fold)), 0);
    return (at & 1u) == 0u ? two.xy : two.zw;
#else
    return table[at];
#endif
}

// What a slot's buffers are asked for, once for each slot that the module has.
#if R_SLOTS > 2
#define R_FOR_SLOT(k, S) if (k == 0u) { S(0) } else if (k == 1u) { S(1) } else if (k == 2u) { S(2) } else { S(3) }
#elif R_SLOTS > 1
#define R_FOR_SLOT(k, S) if (k == 0u) { S(0) } else { S(1) }
#else
#define R_FOR_SLOT(k, S) S(0)
#endif

uint r_load(uint k, uint at) {
    uint word = R_IN == R_F32 ? at : at >> 1;
    uint bits = 0u;
#define R_READ(slot) bits = in##slot[word];
    R_FOR_SLOT(k, R_READ)
    return R_IN == R_F32 ? bits : (bits >> (16u * (at & 1u))) & 0xffffu;
}

void r_store(uint k, uint at, uint bits) {
    if (R_OUT == R_F32) {
#define R_WRITE(slot) out##slot[at] = bits;
        R_FOR_SLOT(k, R_WRITE)
    } else {
        // The other half of the word may belong to another invocation or to the caller.
        uint word = at >> 1;
        uint shift = 16u * (at & 1u);
        uint keep = ~(0xffffu << shift);
        uint half_word = bits << shift;
#define R_MERGE(slot) atomicAnd(out##slot[word], keep); atomicOr(out##slot[word], half_word);
        R_FOR_SLOT(k, R_MERGE)
    }
}

void r_store_two(uint k, uint at, uint both) {
    uint word = at >> 1;
#define R_WRITE_TWO(slot) out##slot[word] = both;
    R_FOR_SLOT(k, R_WRITE_TWO)
}

#include "core.h"

void main() {
    r_invocation((gl_WorkGroupID.y * R_RANGE(R_GROUPS_X) + gl_WorkGroupID.x) * gl_WorkGroupSize.x +
                 gl_LocalInvocationID.x);
}
