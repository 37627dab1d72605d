// SPDX-License-Identifier: MIT
// The three element types seen from outside: what a bit pattern is worth, and which pattern is nearest to a
// value.
#ifndef TEST_ORACLE_NUMBER_H
#define TEST_ORACLE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum oracle_type {
    ORACLE_F32,
    ORACLE_F16,
    ORACLE_BF16,
};

size_t oracle_type_size(enum oracle_type type);

// The value of a pattern, exactly. Every NaN becomes the host's NaN: compare payloads as bits.
double oracle_decode(enum oracle_type type, uint32_t bits);

// The pattern nearest to a value, ties to even, whatever the rounding mode of the host is. From half an ulp
// above the largest finite value on it is an infinity. A NaN becomes the quiet NaN without payload.
uint32_t oracle_encode(enum oracle_type type, double value);

// The distance of neighbours in the binade of |value|, going on above the largest finite value; at least the
// smallest subnormal.
double oracle_ulp(enum oracle_type type, double value);

// The smallest magnitude that rounds to infinity.
double oracle_overflow(enum oracle_type type);

// Element `index` of an array of that type, which need not be aligned.
uint32_t oracle_load(enum oracle_type type, const void *array, size_t index);
void oracle_store(enum oracle_type type, void *array, size_t index, uint32_t bits);

#endif
