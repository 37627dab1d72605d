// SPDX-License-Identifier: MIT
//
// core.h and vector.h as Vulkan compute shaders. R_VECTOR tells the two modules apart (16 bytes at a time, or single
// pairs); everything else is a specialization constant, and src/vulkan/fold.c takes out what is not asked for, such as
// all but one of several kinds of a binding.
#version 450
// Two features that nobody need have: without R_FEATURES kernels ask for none, and two flags say nothing.
#ifdef R_FEATURES
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint R_IN = 0u;
layout(constant_id = 2) const uint R_OUT = 0u;
layout(constant_id = 3) const uint R_FLAGS = 0u;

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
layout(set = 0, binding = 3) uniform sampler2D table_texture;
#if R_VECTOR
layout(set = 0, binding = 3, std430) readonly buffer Table {
    vec4 table[];
};
#ifdef R_FEATURES
layout(set = 0, binding = 3, std430) readonly buffer LongTable {
    u64vec2 long_table[];
};
#endif
#else
layout(set = 0, binding = 3, std430) readonly buffer Table {
    vec2 table[];
};
#endif

// Several views of one binding: what a kernel's types call for is used, and no two of them on the same bytes but for
// loads that come before the stores that depend on them.
#define R_DECLARE_VIEW(type, suffix, k)                                          \
    layout(set = 0, binding = 4 + 2 * k, std430) readonly buffer In##suffix##k { \
        type in##suffix##k[];                                                    \
    };                                                                           \
    layout(set = 0, binding = 5 + 2 * k, std430) buffer Out##suffix##k {         \
        type out##suffix##k[];                                                   \
    };
#ifdef R_FEATURES
#define R_DECLARE_LONG(k) R_DECLARE_VIEW(u64vec2, _long, k)
#else
#define R_DECLARE_LONG(k)
#endif
#if R_VECTOR
#define R_DECLARE_SLOT(k)              \
    R_DECLARE_VIEW(uvec2, _eight, k)   \
    R_DECLARE_VIEW(uvec4, _sixteen, k) \
    R_DECLARE_LONG(k)
#else
#define R_DECLARE_SLOT(k) R_DECLARE_VIEW(uint, _, k)
#endif
R_DECLARE_SLOT(0)
R_DECLARE_SLOT(1)

#define R_FN
#define R_MEM
#define R_M
#define R_UINT(i)      uint(i)
#define R_BITS(f)      floatBitsToUint(f)
#define R_FROM_BITS(u) uintBitsToFloat(u)
#define R_SELECT(c, a, b) mix(b, a, c)
#define R_SHAPE(i)     (shape.words[(i) >> 2][(i) & 3])
#define R_RANGE(i)     (range.words[i])
#define R_UNIT(i)      (units.words[(i) >> 2][(i) & 3])
#define R_ROW(i)       (rows[i])
#define r_entry        vec2

#define R_TWO_ANGLES   ((R_FLAGS & R_TWO_ANGLES_FLAG) != 0u)
#define R_FACTORED     ((R_FLAGS & R_FACTORED_FLAG) != 0u)

#define R_TEXTURE      ((R_FLAGS & R_TEXTURE_FLAG) != 0u)
#define R_TWO_SLOTS    ((R_FLAGS & R_TWO_SLOTS_FLAG) != 0u)

vec4 r_read_texel(uint texel) {
    uint fold = R_SHAPE(R_TABLE_FOLD);
    return texelFetch(table_texture, ivec2(int(texel & ((1u << fold) - 1u)), int(texel >> fold)), 0);
}

// Nested, so that what fold.c leaves is decided by k alone, a constant wherever a driver inlines the call.
#define R_FOR_SLOT(k, S) \
    if (R_TWO_SLOTS) {   \
        if (k != 0u) {   \
            S(1)         \
        } else {         \
            S(0)         \
        }                \
    } else {             \
        S(0)             \
    }

#if R_VECTOR

#define R_GROUP_LANES  gl_WorkGroupSize.x
#define R_BARRIER      barrier();
#define R_FINDS_LATE   (R_IN == R_F32)
#define R_TENSOR(k, i) (shape.words[R_TENSORS / 4 + (k) * (R_TENSOR_WORDS / 4) + (i) / 4][(i) % 4])
#define R_TENSOR_RANGE(k, i) (range.words[R_RANGE_TENSORS + (k) * R_RANGE_TENSOR_WORDS + (i)])
#define R_READ_UNIT(a, b, i)               \
    {                                      \
        uvec4 two = units.words[(i) / 2u]; \
        bool is_odd = ((i) & 1u) != 0u;    \
        a = is_odd ? two.z : two.x;        \
        b = is_odd ? two.w : two.y;        \
    }
#define R_STRUCT(name) struct name
#define r_uint4        uvec4
#define r_float4       vec4
#define r_float2       vec2
#define R_UINT4        uvec4
#define R_FLOAT4       vec4
#define R_FLOAT2       vec2
#define R_INT(i)       int(i)
#define R_FLOAT(i)     float(i)
#define R_FLOATS_BITS(v)      floatBitsToUint(v)
#define R_FLOATS_FROM_BITS(v) uintBitsToFloat(v)
#define R_SELECT4(c, d, e, f, a, b) mix(b, a, bvec4(c, d, e, f))
#ifdef R_FEATURES
#define R_UNPACK_HALVES(w)    vec2(unpackFloat2x16(w))
#define R_PACK_HALVES(v)      packFloat2x16(f16vec2(v))
#endif

uint R_HIGH(uint a, uint b) {
    uint high, low;
    umulExtended(a, b, high, low);
    return high;
}

// lavapipe moves each of a vector's numbers by itself, and so takes half as long for half as many.
#ifdef R_FEATURES
#define R_LONG ((R_FLAGS & R_LONG_FLAG) != 0u)
#define R_UNPACK(to, from) u64vec2 two_longs = from; to = uvec4(unpack32(two_longs.x), unpack32(two_longs.y));
#define R_PACK(from)       u64vec2(pack64(from.xy), pack64(from.zw))
#define R_READ_LONG(slot)  R_UNPACK(words, in_long##slot[at])
#define R_WRITE_LONG(slot) out_long##slot[at] = R_PACK(words);
#define R_READ_LONG_TABLE  R_UNPACK(bits, long_table[at])
#else
#define R_LONG             false
#define R_READ_LONG(slot)  words = uvec4(0u);
#define R_WRITE_LONG(slot)
#define R_READ_LONG_TABLE  bits = uvec4(0u);
#endif

vec4 r_read_two(uint at) {
    vec4 two;
    if (R_TEXTURE) {
        two = r_read_texel(at);
    } else if (R_LONG) {
        uvec4 bits;
        R_READ_LONG_TABLE
        two = uintBitsToFloat(bits);
    } else {
        two = table[at];
    }
    return two;
}

uvec4 r_load_run(uint k, uint at) {
    uvec4 words;
    if (R_LONG && (R_IN == R_F32 || (R_FLAGS & R_EIGHT_FLAG) != 0u)) {
        R_FOR_SLOT(k, R_READ_LONG)
    } else if (R_IN == R_F32) {
#define R_READ_4(slot) words = in_sixteen##slot[at];
        R_FOR_SLOT(k, R_READ_4)
    } else if ((R_FLAGS & R_EIGHT_FLAG) != 0u) {
#define R_READ_8(slot) words = in_sixteen##slot[at];
        R_FOR_SLOT(k, R_READ_8)
    } else {
#define R_READ_HALVES(slot) words = in_eight##slot[at].xyxy;
        R_FOR_SLOT(k, R_READ_HALVES)
    }
    return words;
}

void r_store_run(uint k, uint at, uvec4 words) {
    if (R_LONG && (R_FLAGS & R_LONG_STORES_FLAG) != 0u && (R_OUT == R_F32 || (R_FLAGS & R_EIGHT_FLAG) != 0u)) {
        R_FOR_SLOT(k, R_WRITE_LONG)
    } else if (R_OUT == R_F32) {
#define R_WRITE_4(slot) out_sixteen##slot[at] = words;
        R_FOR_SLOT(k, R_WRITE_4)
    } else if ((R_FLAGS & R_EIGHT_FLAG) != 0u) {
#define R_WRITE_8(slot) out_sixteen##slot[at] = words;
        R_FOR_SLOT(k, R_WRITE_8)
    } else {
#define R_WRITE_HALVES(slot) out_eight##slot[at] = words.xy;
        R_FOR_SLOT(k, R_WRITE_HALVES)
    }
}

// A slot that is constant from here on, so that a driver need not choose at each load and store.
#define R_WITH_SLOT(k, call, a, b, c, d) \
    if (R_TWO_SLOTS && k != 0u)          \
        call(1u, a, b, c, d);            \
    else                                 \
        call(0u, a, b, c, d);
#define R_CHOOSE_SLOT(k)
#define R_TAKES_TOKENS
#define R_HAS_BOTH (R_SHAPE(R_TENSOR_COUNT) == 2u)

#else

vec2 r_read_entry(uint at) {
    if (!R_TEXTURE)
        return table[at];
    vec4 two = r_read_texel(at >> 1);
    return (at & 1u) == 0u ? two.xy : two.zw;
}

uint r_load(uint k, uint at) {
    uint word = R_IN == R_F32 ? at : at >> 1;
    uint bits = 0u;
#define R_READ(slot) bits = in_##slot[word];
    R_FOR_SLOT(k, R_READ)
    return R_IN == R_F32 ? bits : (bits >> (16u * (at & 1u))) & 0xffffu;
}

void r_store(uint k, uint at, uint bits) {
    if (R_OUT == R_F32) {
#define R_WRITE(slot) out_##slot[at] = bits;
        R_FOR_SLOT(k, R_WRITE)
    } else {
        // The other half of the word may belong to another invocation or to the caller.
        uint word = at >> 1;
        uint shift = 16u * (at & 1u);
        uint keep = ~(0xffffu << shift);
        uint half_word = bits << shift;
#define R_MERGE(slot) atomicAnd(out_##slot[word], keep); atomicOr(out_##slot[word], half_word);
        R_FOR_SLOT(k, R_MERGE)
    }
}

#endif

#include "core.h"
#if R_VECTOR
#include "vector.h"
#endif

void main() {
    uint group = gl_WorkGroupID.y * R_RANGE(R_GROUPS_X) + gl_WorkGroupID.x;
#if R_VECTOR
    r_vector_lane(group, gl_LocalInvocationIndex);
#else
    r_invocation(group * gl_WorkGroupSize.x + gl_LocalInvocationIndex);
#endif
}
