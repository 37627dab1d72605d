// SPDX-License-Identifier: MIT
//
// The arithmetic of every kernel, those of users included (rope2d.glsl, rope2d_cl.h): conversions of 16-bit
// elements and the turn of a pair. One text for GLSL, OpenCL C and C; core.h says what stands before it.
//
// Every product and sum is rounded by itself: a fused multiply-add changes a good part of all outputs.

#include "element.h"

R_FN uint r_widen_f16(uint h) {
    uint sign = (h & 0x8000u) << 16;
    uint rest = h & 0x7fffu;
    if (rest >= 0x7c00u)
        return sign | 0x7f800000u | ((rest & 0x3ffu) << 13);
    if (rest >= 0x400u)
        return sign | ((rest << 13) + 0x38000000u);
    // Subnormal: an integer times 2^-24, exact, and normal as a float.
    precise float value = R_FLOAT(rest) * 5.9604644775390625e-8f;
    return sign | R_BITS(value);
}

R_FN uint r_narrow_f16(uint f) {
    uint sign = (f >> 16) & 0x8000u;
    uint rest = f & 0x7fffffffu;
    if (rest > 0x7f800000u)
        return sign | 0x7e00u | ((rest >> 13) & 0x3ffu);
    if (rest >= 0x477ff000u) // 65,520 and above round to infinity
        return sign | 0x7c00u;
    if (rest >= 0x38800000u)
        return sign | ((rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13);
    if (rest < 0x33000000u) // below 2^-25
        return sign;
    uint shift = 126u - (rest >> 23);
    uint significand = (rest & 0x7fffffu) | 0x800000u;
    uint quotient = significand >> shift;
    uint remainder = significand & ((1u << shift) - 1u);
    uint tie = 1u << (shift - 1u);
    if (remainder > tie || (remainder == tie && (quotient & 1u) == 1u))
        quotient += 1u;
    return sign | quotient;
}

R_FN uint r_narrow_bf16(uint f) {
    if ((f & 0x7fffffffu) > 0x7f800000u)
        return (f >> 16) | 0x40u;
    return (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
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
R_FN uint r_convert(uint from, uint to, uint bits) {
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
