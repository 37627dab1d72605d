// SPDX-License-Identifier: MIT
//
// What a compute shader of the user's needs to rotate with the bits of rope2d_apply. Include it after #version;
// rope2d_vulkan_source() hands it out. Names that begin with r_, R_ or rope2d_ are taken.
#ifndef ROPE2D_GLSL
#define ROPE2D_GLSL

#define R_FN
#define R_BITS(f)      floatBitsToUint(f)
#define R_FROM_BITS(u) uintBitsToFloat(u)
#define R_SELECT(c, a, b) mix(b, a, c)
#include "arithmetic.h"
#undef R_FN
#undef R_FN_APART
#undef R_BITS
#undef R_FROM_BITS
#undef R_SELECT

// The two channels of a pair, turned by an entry (cos, sin) of the table.
float rope2d_turn_lo(vec2 entry, float lo, float hi) {
    return r_turn_lo(entry.x, entry.y, lo, hi);
}
float rope2d_turn_hi(vec2 entry, float lo, float hi) {
    return r_turn_hi(entry.x, entry.y, lo, hi);
}

// 16-bit elements, in the low half of a word, to fp32 and back, rounded to nearest even: type 1 is f16, 2 is bf16.
float rope2d_widen(uint type, uint bits) {
    return uintBitsToFloat(r_widen(type, bits));
}
uint rope2d_narrow(uint type, float value) {
    return r_narrow(type, floatBitsToUint(value));
}

// A row number that is not negative, kept inside the table.
uint rope2d_row(int row, uint table_rows) {
    return min(uint(row), table_rows - 1u);
}

// Entry `at` of a table that is a texture of 2^fold texels width; of a buffer it is table[at].
vec2 rope2d_fetch(sampler2D table, uint fold, uint at) {
    uint texel = at >> 1;
    vec4 two = texelFetch(table, ivec2(int(texel & ((1u << fold) - 1u)), int(texel >> fold)), 0);
    return (at & 1u) == 0u ? two.xy : two.zw;
}

#endif
