// SPDX-License-Identifier: MIT
// Test inputs from a counter: element `index` of stream `stream` under `seed` is a pure function of the
// three, so a seed means the same bytes on every machine, in any order and in any language. tests/counter.py
// is the same in Python.
//
// All arithmetic is modulo 2^64:
//
//     mix(z):  z ^= z >> 30;  z *= 0xbf58476d1ce4e5b9;  z ^= z >> 27;  z *= 0x94d049bb133111eb;  z ^= z >> 31
//     word  =  mix(mix(mix(seed + G) + stream + G) + index + G)         with G = 0x9e3779b97f4a7c15
//
// A word becomes a number by integer steps, one exact conversion and one exact scaling, never through libm.
// The 16-bit types take the same number rounded to nearest even, by integers as well.
#ifndef TEST_COUNTER_H
#define TEST_COUNTER_H

#include <stddef.h>
#include <stdint.h>

enum counter_type {
    COUNTER_F32,
    COUNTER_F16,
    COUNTER_BF16,
};

enum counter_mode {
    // (word >> 40) - 2^23, times 2^-23: uniform in [-1, 1).
    COUNTER_UNIFORM,

    // Three fields of 21 bits a, b, c from the lowest up: 2 (a + b + c) - 3 (2^21 - 1), times 2^-21. A bell
    // of standard deviation 1 in (-3, 3), symmetric, never zero.
    COUNTER_BELL,

    // By (word >> 56) % 16, with the sign and the free bits of the pattern from the rest of the word (see
    // counter.c): 0 zero, 1 smallest subnormal, 2 subnormal, 3 largest subnormal, 4 smallest normal,
    // 5 largest finite, 6 just under a power of two, 7 a power of two, 8 just over it, 9 halfway between
    // f16, 10 halfway between bf16, 11 beside the halfway of f16, 12 beside that of bf16, 13 2^12 or more,
    // 14 and 15 the bell of mix(word). In the 16-bit types 9 to 13 are any finite pattern.
    COUNTER_FINITE,

    // The same with 0 to 2 in turn an infinity, a quiet NaN and a signalling NaN, each with a payload.
    COUNTER_SPECIAL,
};

uint64_t counter_word(uint64_t seed, uint64_t stream, uint64_t index);

// A whole number in [0, bound), bound below 2^32: the upper half of word * bound taken from the word's upper
// half.
uint32_t counter_below(uint64_t word, uint32_t bound);

// The number that a word becomes. Both are exact in fp32.
float counter_uniform(uint64_t word);
float counter_bell(uint64_t word);

// uniform * 2^exponent, exact while it is normal: values in [-2^exponent, 2^exponent).
float counter_scaled(uint64_t word, int exponent);

// The pattern of an element, in the low bits.
uint32_t counter_bits(enum counter_type type, enum counter_mode mode, uint64_t word);

// Elements first to first + count - 1 of a stream, written one after the other; dst need not be aligned.
void counter_fill(void *dst, enum counter_type type, enum counter_mode mode, uint64_t seed, uint64_t stream,
                  uint64_t first, size_t count);

// A pair that a rotation by (cosine, sine) nearly cancels: lo = x * sine and hi = x * cosine, each rounded
// once, with x from the bell, so that cosine * lo - sine * hi is what the roundings left over.
void counter_cancelling(uint64_t word, float cosine, float sine, float *lo, float *hi);

// Rounded to nearest even from a finite or infinite number.
uint16_t counter_f16(float value);
uint16_t counter_bf16(float value);

#endif
