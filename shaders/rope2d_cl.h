// SPDX-License-Identifier: MIT
//
// What a kernel of the caller's needs to rotate with the bits of rope2d.cl: the same text, without its
// kernel. rope2d_opencl_source() hands it out. Names that begin with r_ or R_ are taken.
#define ROPE2D_FUSED
#define R_IN         0u
#define R_OUT        0u
#define R_WIDE       0
#define R_TWO_ANGLES 0
#define R_TEXTURE    0
#include "rope2d.cl"
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
