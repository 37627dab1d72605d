// SPDX-License-Identifier: MIT
//
// Elements of token.h to f32 and back, as arithmetic.h has them, for vectors: what they are is token.h's.

static r_floats r_widen_bits(r_in bits) {
#if R_IN == 1 && R_HARDWARE
    typedef __fp16 r_numbers __attribute__((ext_vector_type(R_RUN)));
    union {
        r_in bits;
        r_numbers numbers;
    } same = {bits};
    return r_convert_to(same.numbers, r_floats);
#elif R_IN == 1
    r_uints h = r_convert_to(bits, r_uints);
    r_uints rest = h & 0x7fffu;
    r_uints small = r_as_uints(r_as_floats(rest + 0x3f000000u) - 0.5f);
    r_uints large = (rest << 13) + (rest >= 0x7c00u ? (r_uints)0x70000000u : (r_uints)0x38000000u);
    return r_as_floats(((h & 0x8000u) << 16) | (rest < 0x400u ? small : large));
#elif R_IN == 2
    return r_as_floats(r_convert_to(bits, r_uints) << 16);
#else
    return r_as_floats(bits);
#endif
}

static r_uints r_round_bits(r_uints f) { // to bf16
    return f + 0x7fffu + ((f >> 16) & 1u);
}

#if R_OUT == 2 && R_RUN == 8
// An f32's halves. A NaN of arithmetic is quiet, and stays one where nothing is added: of bf16's, on these
// processors, the lower half is 0.
static ushort16 r_halves_of(r_floats turned) {
    r_uints f = r_as_uints(turned);
#if R_IN != 2 || !(defined(__x86_64__) || defined(__aarch64__))
    f = turned == turned ? f : f & 0xffff0000u;
#endif
    return as_ushort16(f);
}

// To bf16: upper halves, one more where the lower half, less one where the upper is even, is a half at least.
static ushort16 r_round_halves(ushort16 upper, ushort16 lower) {
    ushort16 is_even = ~upper & (ushort16)1;
    return upper + ((max(lower, is_even) - is_even) >> (ushort16)15);
}
#endif

static r_out r_narrow_bits(r_floats value) {
    r_uints f = r_as_uints(value);
#if R_OUT == 1 && R_HARDWARE
    return as_ushort8(__builtin_ia32_vcvtps2ph256(value, 0)); // to nearest even, whatever the thread's mode
#elif R_OUT == 1
    r_uints rest = f & 0x7fffffffu;
    r_uints small = r_as_uints(r_as_floats(rest) + 0.5f) - 0x3f000000u;
    r_uints large = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;
    r_uints number = rest < 0x38800000u ? small : (large < 0x7c00u ? large : (r_uints)0x7c00u);
    r_uints nan = 0x7e00u | ((rest >> 13) & 0x3ffu);
    return r_convert_to(((f >> 16) & 0x8000u) | (rest > 0x7f800000u ? nan : number), r_halves);
#elif R_OUT == 2
    r_uints rounded = r_round_bits(f) >> 16;
    return r_convert_to(value != value ? (f >> 16) | 0x40u : rounded, r_halves);
#else
    return f;
#endif
}

static r_out r_pass_bits(r_in bits) {
#if R_IN == R_OUT
    return bits;
#else
    return r_narrow_bits(r_widen_bits(bits));
#endif
}
