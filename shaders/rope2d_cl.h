// SPDX-License-Identifier: MIT
//
// What a kernel of the caller's needs to rotate with the bits of rope2d_apply. rope2d_opencl_source() hands
// it out. Names that begin with r_, R_ or rope2d_ are taken.
#ifndef ROPE2D_CL_H
#define ROPE2D_CL_H

#pragma OPENCL FP_CONTRACT OFF

#ifdef __FAST_RELAXED_MATH__
#error "rope2d needs IEEE arithmetic"
#endif

#define R_FN              static
#define R_BITS(f)         as_uint(f)
#define R_FROM_BITS(u)    as_float(u)
#define R_SELECT(c, a, b) ((c) ? (a) : (b))
#define precise
#include "arithmetic.h"
#undef R_FN
#undef R_FN_APART
#undef R_BITS
#undef R_FROM_BITS
#undef R_SELECT
#undef precise

// The two channels of a pair, turned by an entry (cos, sin) of the table.
static float rope2d_turn_lo(float2 entry, float lo, float hi) {
    return r_turn_lo(entry.x, entry.y, lo, hi);
}
static float rope2d_turn_hi(float2 entry, float lo, float hi) {
    return r_turn_hi(entry.x, entry.y, lo, hi);
}

// 16-bit elements to fp32 and back, rounded to nearest even: type 1 is f16, 2 is bf16.
static float rope2d_widen(uint type, ushort bits) {
    return as_float(r_widen(type, bits));
}
static ushort rope2d_narrow(uint type, float value) {
    return (ushort)r_narrow(type, as_uint(value));
}

// A row number that is not negative, kept inside the table.
static uint rope2d_row(int row, uint table_rows) {
    return min((uint)row, table_rows - 1u);
}

// Entry `at` of a table that is a texture of 2^fold texels width; of a buffer it is table[at].
#ifdef __IMAGE_SUPPORT__
__constant sampler_t rope2d_sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

static float2 rope2d_fetch(__read_only image2d_t table, uint fold, uint at) {
    uint texel = at >> 1;
    float4 two =
        read_imagef(table, rope2d_sampler, (int2)((int)(texel & ((1u << fold) - 1u)), (int)(texel >> fold)));
    return (at & 1u) == 0u ? two.xy : two.zw;
}
#endif

#endif
