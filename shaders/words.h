// SPDX-License-Identifier: MIT
//
// Four channels at a time from and to the words that hold them, for turns.h.

// The types are constants here and not in r_widen and r_narrow, so that nothing of other types is compiled.
// A word holds two 16-bit elements, the first in its low half.

// Of one f16, that stands above 13 zeros: exponents are moved so that infinities and NaNs become just that,
// and subnormals, 2^97 (1 + m) then, are the only numbers below twice themselves without 2^98.
R_FN float r_widen_shifted(uint shifted) {
    precise float moved = R_FROM_BITS(shifted + 0x70000000u);
    precise float twice = moved + moved;
    precise float small = twice - R_FROM_BITS(0x70800000u);
    precise float widened = min(moved, small) * R_FROM_BITS(0x07800000u);
    return widened;
}

// SwiftShader moves bits one lane after the other, and so takes longer to shift than to multiply or to
// convert: left by a product, right by that of a float, of at most 24 bits that are not 0.
R_FN uint r_scale_right(uint bits, float power) {
    precise float scaled = R_FLOAT(R_INT(bits)) * power;
    return R_UINT(R_INT(scaled));
}

R_FN r_float2 r_widen_halves(uint word) {
    uint lo = (word * 0x2000u) & 0x0fffe000u;
    uint hi;
    if (R_HAS_FLAG(R_SLOW_SHIFTS_FLAG))
        hi = r_scale_right(word & 0x7fff0000u, 0.125f);
    else
        hi = (word >> 3) & 0x0fffe000u;
    lo = R_BITS(r_widen_shifted(lo)) | ((word * 0x10000u) & 0x80000000u);
    hi = R_BITS(r_widen_shifted(hi)) | (word & 0x80000000u);
    return R_FLOAT2(R_FROM_BITS(lo), R_FROM_BITS(hi));
}

R_FN r_float2 r_widen_word(uint word) {
    r_float2 two;
    if (R_IN == R_BF16)
        two = R_FLOAT2(R_FROM_BITS(word * 0x10000u), R_FROM_BITS(word & 0xffff0000u));
#ifdef R_UNPACK_HALVES
    else if (R_HAS_FLAG(R_CONVERTS_FLAG))
        two = R_UNPACK_HALVES(word);
#endif
    else
        two = r_widen_halves(word);
    return two;
}

// Rounded to f16, without its sign. What is right among `small`, a multiple of 2^-24, and `large` is the
// less.
R_FN uint r_round_f16(uint f) {
    uint rest = f & 0x7fffffffu;
    precise float grid = R_FROM_BITS(rest) + 0.5f;
    int small = R_INT(R_BITS(grid)) - 0x3f000000;
    int large = R_INT((rest - 0x387ff001u + ((rest >> 13) & 1u)) >> 13) + 0x400;
    int number = min(min(small, large), 0x7c00);
    return R_SELECT(R_INT(rest) > 0x7f800000, 0x7e00u, R_UINT(number));
}

// As r_round_bf16, for results of arithmetic: their NaNs are quiet, and have only to be kept from
// overflowing.
R_FN uint r_round_quiet_bf16(uint f) {
    uint bounded = min(R_UINT(min(R_INT(f), 0x7fff7fff)), 0xffff7fffu);
    return bounded + 0x7fffu + ((bounded >> 16) & 1u);
}

// The same without shifts: 2^13 ulps are added, so that the sum's last bits are the f16's, less its exponent.
R_FN uint r_add_f16(uint f) {
    uint rest = f & 0x7fffffffu;
    int power = min(max(R_INT(rest & 0x7f800000u), 0x38800000), 0x47800000);
    precise float grid = R_FROM_BITS(rest) + R_FROM_BITS(R_UINT(power) + 0x06800000u);
    int number =
        R_INT(R_BITS(grid)) - power + R_INT(r_scale_right(R_UINT(power), 0.0001220703125f)) - 0x0681c400;
    number = min(number, 0x7c00);
    return R_SELECT(R_INT(rest) > 0x7f800000, 0x7e00u, R_UINT(number));
}

// r_round_quiet_bf16 likewise.
R_FN uint r_add_bf16(uint f) {
    uint bounded = min(R_UINT(min(R_INT(f), 0x7fff7fff)), 0xffff7fffu);
    return bounded + R_SELECT((bounded & 0x10000u) != 0u, 0x8000u, 0x7fffu);
}

R_FN uint r_narrow_without_shifts(uint lo, uint hi) {
    uint word;
    if (R_OUT == R_BF16)
        word = (r_scale_right(r_add_bf16(lo) & 0xffff0000u, 0.0000152587890625f) & 0xffffu) |
               (r_add_bf16(hi) & 0xffff0000u);
    else
        word = r_add_f16(lo) | (r_add_f16(hi) * 0x10000u) | (hi & 0x80000000u) |
               R_SELECT(R_INT(lo) < 0, 0x8000u, 0u);
    return word;
}

// llvmpipe widens f16 by one instruction, but rounds to it by seventy where integers take sixteen.
#define R_PACKS_HALVES (R_HAS_FLAG(R_CONVERTS_FLAG) && !R_HAS_FLAG(R_ORDER_FLAG))

R_FN uint r_narrow_word(r_float2 two) {
    uint lo = R_BITS(two.x);
    uint hi = R_BITS(two.y);
    uint word;
    if (R_HAS_FLAG(R_SLOW_SHIFTS_FLAG) && R_IN == R_OUT)
        word = r_narrow_without_shifts(lo, hi);
    else if (R_OUT == R_BF16 && R_IN == R_BF16)
        word = (r_round_quiet_bf16(lo) >> 16) | (r_round_quiet_bf16(hi) & 0xffff0000u);
    else if (R_OUT == R_BF16)
        word = (r_round_bf16(lo) >> 16) | (r_round_bf16(hi) & 0xffff0000u);
#ifdef R_UNPACK_HALVES
    else if (R_PACKS_HALVES)
        word = R_PACK_HALVES(two);
#endif
    else
        word = r_round_f16(lo) | (r_round_f16(hi) << 16) | ((lo >> 16) & 0x8000u) | (hi & 0x80000000u);
    return word;
}

// Four channels, in the first words that they take.
R_FN r_float4 r_widen_four(r_uint4 words) {
    r_float4 four;
    if (R_IN == R_F32) {
        four = R_FLOATS_FROM_BITS(words);
    } else {
        r_float2 first = r_widen_word(words.x);
        r_float2 second = r_widen_word(words.y);
        four = R_FLOAT4(first.x, first.y, second.x, second.y);
    }
    return four;
}

R_FN r_uint4 r_narrow_four(r_float4 v) {
    r_uint4 words;
    if (R_OUT == R_F32) {
        words = R_FLOATS_BITS(v);
    } else {
        uint first = r_narrow_word(v.xy);
        uint second = r_narrow_word(v.zw);
        words = R_UINT4(first, second, first, second);
    }
    return words;
}
