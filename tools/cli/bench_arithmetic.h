// SPDX-License-Identifier: MIT
//
// The portable path's conversions, for loops of C and for tests of the others.
#ifndef ROPE2D_CLI_BENCH_ARITHMETIC_H
#define ROPE2D_CLI_BENCH_ARITHMETIC_H

#include <stdint.h>
#include <string.h>

#include "rope2d/rope2d.h"

#define uint uint32_t
#define precise
#define R_FN              static inline
#define R_SELECT(c, a, b) ((c) ? (a) : (b))
#define R_BITS(f)         bench_bits_of(f)
#define R_FROM_BITS(u)    bench_float_of(u)

static inline uint32_t bench_bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float bench_float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#include "../../shaders/arithmetic.h"

static inline float bench_widened(rope2d_element element, uint32_t bits) {
    return bench_float_of(r_widen((uint32_t)element, bits));
}

static inline uint32_t bench_narrowed(rope2d_element element, float value) {
    return r_narrow((uint32_t)element, bench_bits_of(value));
}

#endif
