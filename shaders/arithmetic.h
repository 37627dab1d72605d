// SPDX-License-Identifier: MIT
//
// The arithmetic of every kernel, those of users included (rope2d.glsl, rope2d_cl.h): conversions of 16-bit
// elements and the turn of a pair. One text for GLSL, OpenCL C and C; core.h says what stands before it.
//
// Every product and sum is rounded by itself: a fused multiply-add changes a good part of all outputs.

#include "element.h"

#ifndef R_FN_APART
#define R_FN_APART R_FN
#endif

// Without branches, which lanes that are vectors of a CPU would all take: R_SELECT(c, a, b) is c ? a : b
// without one.

R_FN uint r_widen_f16(uint h) {
    uint rest = h & 0x7fffu;
    // Subnormal: 0.5 has an ulp of 2^-24, and so the difference is exact, and normal as a float.
    precise float small = R_FROM_BITS(0x3f000000u + rest) - 0.5f;
    uint large = (rest << 13) + R_SELECT(rest >= 0x7c00u, 0x70000000u, 0x38000000u);
    return ((h & 0x8000u) << 16) | R_SELECT(rest < 0x400u, R_BITS(small), large);
}

R_FN uint r_narrow_f16(uint f) {
    uint rest = f & 0x7fffffffu;
    // Subnormal: the sum is rounded to multiples of 2^-24.
    precise float grid = R_FROM_BITS(rest) + 0.5f;
    uint small = R_BITS(grid) - 0x3f000000u;
    uint large = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;
    uint bounded = R_SELECT(large < 0x7c00u, large, 0x7c00u); // 65,520 and above round to infinity
    uint number = R_SELECT(rest < 0x38800000u, small, bounded);
    uint nan = 0x7e00u | ((rest >> 13) & 0x3ffu);
    return ((f >> 16) & 0x8000u) | R_SELECT(rest > 0x7f800000u, nan, number);
}

// Rounded to the upper 16 bits; the lower do not count.
R_FN uint r_round_bf16(uint f) {
    uint rounded = f + 0x7fffu + ((f >> 16) & 1u);
    return R_SELECT((f & 0x7fffffffu) > 0x7f800000u, f | 0x400000u, rounded);
}

R_FN uint r_narrow_bf16(uint f) {
    return r_round_bf16(f) >> 16;
}

R_FN uint r_widen(uint type, uint bits) {
    if (type == R_F16)
        return r_widen_f16(bits);
    if (type == R_BF16)
        return bits << 16;
    return bits;
}

R_FN uint r_narrow(uint type, uint bits) {
    if (type == R_F16)
        return r_narrow_f16(bits);
    if (type == R_BF16)
        return r_narrow_bf16(bits);
    return bits;
}

// What passes through keeps its bits, a NaN's payload included, unless the type changes.
R_FN_APART uint r_convert(uint from, uint to, uint bits) {
    if (from == to)
        return bits;
    return r_narrow(to, r_widen(from, bits));
}

R_FN float r_turn_lo(float c, float s, float lo, float hi) {
    precise float a = c * lo;
    precise float b = s * hi;
    precise float turned = a - b;
    return turned;
}

R_FN float r_turn_hi(float c, float s, float lo, float hi) {
    precise float a = s * lo;
    precise float b = c * hi;
    precise float turned = a + b;
    return turned;
}
