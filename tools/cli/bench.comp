// SPDX-License-Identifier: MIT
//
// Copies words, or multiplies them: what a rotation is held against. B_WORD is a lane's load, B_WIDTH words: uint, uvec2
// or uvec4; a lane takes B_ITEMS of them, a workgroup apart, so that neighbours touch neighbours. B_MOVE: 0 copies, 1
// multiplies words as f32, and 2, the limit, does what a rotation cannot do without: it converts each element
// (B_ELEMENT) to f32 and back and takes of it the sum of two products, as a turn does: with one factor, or with B_TABLE
// each with a number of a table, and with another factor.
// B_CONVERTER: f16 by the device's own conversion.
#version 450

#define R_FN
#define R_BITS(f)         floatBitsToUint(f)
#define R_FROM_BITS(u)    uintBitsToFloat(u)
#define R_SELECT(c, a, b) mix(b, a, c)
#include "../../shaders/arithmetic.h"

// Numbers of a lane's load, and how the table is read.
#if B_ELEMENT == 0
#define B_NUMBERS B_WIDTH
#else
#define B_NUMBERS (2 * B_WIDTH)
#endif
#if B_NUMBERS == 1
#define B_ENTRY float
#elif B_NUMBERS == 2
#define B_ENTRY vec2
#else
#define B_ENTRY vec4
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint B_ITEMS = 1u;

layout(set = 0, binding = 0, std430) readonly buffer In {
    B_WORD from[];
};
layout(set = 0, binding = 1, std430) writeonly buffer Out {
    B_WORD to[];
};
layout(set = 0, binding = 2, std430) readonly buffer Table {
    B_ENTRY table[];
};
layout(push_constant) uniform Sizes {
    uint count;    // of lanes' loads; with a table of q's, each of which goes with k's
    uint groups_x; // in a row of the grid
    uint mask;     // of the table's entries
    float factor, other;
};

#if B_TABLE
// The factors of four numbers of a lane's load: the first, or the next four.
vec4 factors(uint at, uint part) {
#if B_NUMBERS == 1
    return vec4(table[at & mask]);
#elif B_NUMBERS == 2
    return table[at & mask].xyxy;
#else
    return table[(at * (B_NUMBERS / 4) + part) & mask];
#endif
}
#endif

#if B_MOVE == 2

// As in a rotation nothing is fused.
vec2 turned(vec2 value, vec2 by) {
    precise vec2 result = value * by + value * other;
    return result;
}

uint limit(uint word, vec2 by) {
#if B_ELEMENT == 0
    return floatBitsToUint(turned(vec2(uintBitsToFloat(word)), by).x);
#elif B_CONVERTER
    return packHalf2x16(turned(unpackHalf2x16(word), by));
#else
    vec2 value = vec2(uintBitsToFloat(r_widen(B_ELEMENT, word & 0xffffu)), uintBitsToFloat(r_widen(B_ELEMENT, word >> 16)));
    uvec2 bits = floatBitsToUint(turned(value, by));
    return r_narrow(B_ELEMENT, bits.x) | (r_narrow(B_ELEMENT, bits.y) << 16);
#endif
}
#endif

// Of a limit `by` and `next` are what the first four numbers and the next are multiplied by.
B_WORD moved(B_WORD words, vec4 by, vec4 next) {
#if B_MOVE == 0
    return words;
#elif B_MOVE == 1
    return floatBitsToUint(uintBitsToFloat(words) * factor);
#elif B_WIDTH == 1
    return limit(words, by.xy);
#elif B_WIDTH == 2 && B_ELEMENT == 0
    return uvec2(limit(words.x, by.xx), limit(words.y, by.yy));
#elif B_WIDTH == 2
    return uvec2(limit(words.x, by.xy), limit(words.y, by.zw));
#elif B_ELEMENT == 0
    return uvec4(limit(words.x, by.xx), limit(words.y, by.yy), limit(words.z, by.zz), limit(words.w, by.ww));
#else
    return uvec4(limit(words.x, by.xy), limit(words.y, by.zw), limit(words.z, next.xy), limit(words.w, next.zw));
#endif
}

void move_at(uint at) {
    vec4 by = vec4(factor), next = by;
#if B_TABLE
    by = factors(at, 0);
#if B_NUMBERS == 8
    next = factors(at, 1);
#endif
    to[at + count] = moved(from[at + count], by, next);
#endif
    to[at] = moved(from[at], by, next);
}

void main() {
    uint group = gl_WorkGroupID.y * groups_x + gl_WorkGroupID.x;
    uint at = group * gl_WorkGroupSize.x * B_ITEMS + gl_LocalInvocationID.x;
    for (uint i = 0u; i < B_ITEMS; ++i) {
        if (at < count)
            move_at(at);
        at += gl_WorkGroupSize.x;
    }
}
