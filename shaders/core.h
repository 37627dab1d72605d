// SPDX-License-Identifier: MIT
//
// The indexing of every kernel, over arithmetic.h: one text for GLSL, OpenCL C and C. No pointers, swizzles
// or brace initialisers: what the languages do not share stands in their preludes:
//
// clang-format off
//   R_FN                       how a function begins
//   R_FN_APART                 how one does of which copies would be large; not defined: the same
//   R_MEM, R_M                 the memory a function works on, as first parameter and first argument; empty in GLSL
//   R_UINT(i)                  a conversion of a value
//   R_SELECT(c, a, b)          c ? a : b, without a branch
//   R_BITS(f) R_FROM_BITS(u)   conversions that keep the bits
//   precise                    no contraction of what is assigned to the variable
//   R_IN, R_OUT                element types
//   R_TWO_ANGLES               two angles to a pair or one
//   R_WIDE                     four pairs to a unit or one; not defined: one
//   R_FACTORED                 one entry to an angle, or one of each axis, which are multiplied
//   R_SHAPE(i) R_UNIT(i) R_ROW(i)   words of the shape, units of the plan, row numbers
//   R_RANGE(i)                 words of the shape below R_RANGE_WORDS
//   r_entry r_read_entry(i)    (cos, sin) as a type with .x and .y
//   r_load(k, i)               the bits of element i of input k (R_IN), in the low bits
//   r_store(k, i, bits)        the same for output k (R_OUT); a 16-bit store leaves its neighbour in the word alone
// clang-format on

#include "arithmetic.h"

// The table entry of pair 0 in a row. Rows past the table are clamped to its last, whoever wrote them.
R_FN uint r_first_entry(R_MEM int row, uint head) {
    uint bounded = R_UINT(row);
    if (bounded >= R_SHAPE(R_TABLE_ROWS))
        bounded = R_SHAPE(R_TABLE_ROWS) - 1u;
    return bounded * R_SHAPE(R_TABLE_ROW_STRIDE) + head * R_SHAPE(R_TABLE_HEAD_STRIDE);
}

#if !R_VECTOR
// Of two angles, those of their sum: the one turned by the other.
R_FN r_entry r_multiply(r_entry a, r_entry b) {
    r_entry product = a;
    product.x = r_turn_lo(b.x, b.y, a.x, a.y);
    product.y = r_turn_hi(b.x, b.y, a.x, a.y);
    return product;
}

// The row of a pair that `axis` turns, negative where nothing does; factored: any of the token's.
R_FN int r_find_row(R_MEM uint row_at, uint axis) {
    int row = R_ROW(row_at + axis);
    if (R_FACTORED) {
        for (uint f = 1u; f < R_SHAPE(R_FACTORS); f++) {
            int other = R_ROW(row_at + f);
            row = other > row ? other : row;
        }
    }
    return row;
}

// (cos, sin) of a column, of a row that r_find_row found.
R_FN r_entry r_find_entry(R_MEM uint row_at, int row, uint head, uint column) {
    if (!R_FACTORED)
        return r_read_entry(R_M r_first_entry(R_M row, head) + column);
    r_entry product;
    product.x = 1.0f;
    product.y = 0.0f;
    bool is_first = true;
    for (uint f = 0u; f < R_SHAPE(R_FACTORS); f++) {
        int factor_row = R_ROW(row_at + f);
        if (factor_row < 0)
            continue;
        r_entry factor = r_read_entry(R_M r_first_entry(R_M factor_row, head) +
                                      f * R_SHAPE(R_TABLE_FACTOR_STRIDE) + column);
        if (is_first)
            product = factor;
        else
            product = r_multiply(product, factor);
        is_first = false;
    }
    return product;
}

// Pair `i` of a unit, of all pairs number `pair`; or a channel that passes through. Both are as far from the
// unit's first as in_at and out_at say.
R_FN void r_single_unit(R_MEM uint k, uint word, uint unit, uint i, uint in_at, uint out_at, uint row_at,
                        uint head, uint pair) {
    uint lo = R_UNIT_LO(word);
    uint hi = R_UNIT_HI(word);
    uint lo_bits = r_load(R_M k, in_at + lo);
    if (unit >= R_SHAPE(R_PAIR_UNITS)) {
        r_store(R_M k, out_at + lo, r_convert(R_IN, R_OUT, lo_bits));
        return;
    }
    uint hi_bits = r_load(R_M k, in_at + hi);
    int row = r_find_row(R_M row_at, R_UNIT_AXIS(word, i));
    if (row < 0) { // a token that does not rotate
        r_store(R_M k, out_at + lo, r_convert(R_IN, R_OUT, lo_bits));
        r_store(R_M k, out_at + hi, r_convert(R_IN, R_OUT, hi_bits));
        return;
    }
    uint column = R_TWO_ANGLES ? 2u * pair : pair;
    float x = R_FROM_BITS(r_widen(R_IN, lo_bits));
    float y = R_FROM_BITS(r_widen(R_IN, hi_bits));
    r_entry at_lo = r_find_entry(R_M row_at, row, head, column);
    r_entry at_hi = at_lo;
    if (R_TWO_ANGLES)
        at_hi = r_find_entry(R_M row_at, row, head, column + 1u);
    r_store(R_M k, out_at + lo, r_narrow(R_OUT, R_BITS(r_turn_lo(at_lo.x, at_lo.y, x, y))));
    r_store(R_M k, out_at + hi, r_narrow(R_OUT, R_BITS(r_turn_hi(at_hi.x, at_hi.y, x, y))));
}

R_FN void r_unit(R_MEM uint k, uint unit, uint in_at, uint out_at, uint row_at, uint head) {
    uint word = R_UNIT(unit);
#ifdef R_WIDE
    uint count = R_WIDE ? 4u : 1u;
    bool is_interleaved = R_UNIT_HI(word) == R_UNIT_LO(word) + 1u;
    for (uint i = 0u; i < count; i++) {
        uint at = is_interleaved ? 2u * i : i;
        r_single_unit(R_M k, word, unit, i, in_at + at, out_at + at, row_at, head, count * unit + i);
    }
#else
    r_single_unit(R_M k, word, unit, 0u, in_at, out_at, row_at, head, unit);
#endif
}

// What one invocation of a GPU does: finds its tensor, batch element, token, head and unit.
R_FN void r_invocation(R_MEM uint lane) {
    uint k = 0u;
    for (uint i = 1u; i < R_SHAPE(R_TENSOR_COUNT); i++) {
        if (lane >= R_RANGE(R_RANGE_TENSORS + i * R_RANGE_TENSOR_WORDS + R_LANE_FIRST))
            k = i;
    }
    uint tensor = R_TENSORS + k * R_TENSOR_WORDS;
    uint moving = R_RANGE_TENSORS + k * R_RANGE_TENSOR_WORDS;
    uint item = lane - R_RANGE(moving + R_LANE_FIRST);
    if (item >= R_RANGE(moving + R_LANES))
        return;
    uint unit = item % R_SHAPE(R_UNITS);
    item /= R_SHAPE(R_UNITS);
    uint head = item % R_SHAPE(tensor + R_HEADS);
    item /= R_SHAPE(tensor + R_HEADS);
    uint token = item % R_RANGE(R_TOKENS);
    uint batch = item / R_RANGE(R_TOKENS);
    uint in_at = R_RANGE(moving + R_IN_FIRST) + batch * R_SHAPE(tensor + R_IN_BATCH_STRIDE) +
                 token * R_SHAPE(tensor + R_IN_TOKEN_STRIDE) + head * R_SHAPE(tensor + R_IN_HEAD_STRIDE);
    uint out_at = R_RANGE(moving + R_OUT_FIRST) + batch * R_SHAPE(tensor + R_OUT_BATCH_STRIDE) +
                  token * R_SHAPE(tensor + R_OUT_TOKEN_STRIDE) + head * R_SHAPE(tensor + R_OUT_HEAD_STRIDE);
    uint row_at = R_RANGE(R_ROW_FIRST) + batch * R_SHAPE(R_ROW_BATCH_STRIDE) + token * R_SHAPE(R_ROW_AXES);
    r_unit(R_M k, unit, in_at, out_at, row_at, head);
}
#endif
