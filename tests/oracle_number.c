// SPDX-License-Identifier: MIT
#include "oracle_number.h"

#include <math.h>
#include <string.h>

struct format {
    int fraction_bits;
    int exponent_bits;
    size_t size;
};

static const struct format formats[] = {
    [ORACLE_F32] = {23, 8, 4},
    [ORACLE_F16] = {10, 5, 2},
    [ORACLE_BF16] = {7, 8, 2},
};

static int bias(const struct format *format) {
    return (1 << (format->exponent_bits - 1)) - 1;
}

static uint32_t all_ones_exponent(const struct format *format) {
    return (1u << format->exponent_bits) - 1u;
}

size_t oracle_type_size(enum oracle_type type) {
    return formats[type].size;
}

double oracle_decode(enum oracle_type type, uint32_t bits) {
    const struct format *format = &formats[type];
    uint32_t fraction = bits & ((1u << format->fraction_bits) - 1u);
    uint32_t exponent = (bits >> format->fraction_bits) & all_ones_exponent(format);
    uint32_t negative = (bits >> (format->fraction_bits + format->exponent_bits)) & 1u;
    double magnitude;
    if (exponent == all_ones_exponent(format))
        magnitude = fraction != 0 ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        magnitude = ldexp((double)fraction, 1 - bias(format) - format->fraction_bits);
    else
        magnitude = ldexp((double)(fraction + (1u << format->fraction_bits)),
                          (int)exponent - bias(format) - format->fraction_bits);
    return negative ? -magnitude : magnitude;
}

double oracle_ulp(enum oracle_type type, double value) {
    const struct format *format = &formats[type];
    int exponent = 1 - bias(format);
    if (value != 0 && isfinite(value) && ilogb(value) > exponent)
        exponent = ilogb(value);
    return ldexp(1.0, exponent - format->fraction_bits);
}

double oracle_overflow(enum oracle_type type) {
    const struct format *format = &formats[type];
    int top = bias(format);
    return ldexp(2.0, top) - ldexp(0.5, top - format->fraction_bits);
}

// A multiple of the ulp nearest to the magnitude. Division by a power of two, floor and the remainder are
// exact, so the host's rounding mode does not enter.
static double nearest_count(double magnitude, double ulp) {
    double scaled = magnitude / ulp;
    double count = floor(scaled);
    double rest = scaled - count;
    if (rest > 0.5 || (rest == 0.5 && fmod(count, 2.0) != 0))
        count += 1;
    return count;
}

uint32_t oracle_encode(enum oracle_type type, double value) {
    const struct format *format = &formats[type];
    uint32_t sign = (uint32_t)(signbit(value) != 0) << (format->fraction_bits + format->exponent_bits);
    uint32_t infinity = all_ones_exponent(format) << format->fraction_bits;
    double magnitude = fabs(value);
    if (isnan(value))
        return infinity | (1u << (format->fraction_bits - 1));
    if (magnitude >= oracle_overflow(type))
        return sign | infinity;

    double ulp = oracle_ulp(type, magnitude);
    uint32_t count = (uint32_t)nearest_count(magnitude, ulp);
    // The patterns of a sign count upwards by one ulp through every binade, so a carry needs no care.
    int binade = ilogb(ulp) - (1 - bias(format) - format->fraction_bits);
    return sign | (count + ((uint32_t)binade << format->fraction_bits));
}

uint32_t oracle_load(enum oracle_type type, const void *array, size_t index) {
    const unsigned char *at = (const unsigned char *)array + index * formats[type].size;
    uint32_t word = 0;
    uint16_t half = 0;
    if (formats[type].size == sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        return word;
    }
    memcpy(&half, at, sizeof(half));
    return half;
}

void oracle_store(enum oracle_type type, void *array, size_t index, uint32_t bits) {
    unsigned char *at = (unsigned char *)array + index * formats[type].size;
    uint16_t half = (uint16_t)bits;
    if (formats[type].size == sizeof(bits))
        memcpy(at, &bits, sizeof(bits));
    else
        memcpy(at, &half, sizeof(half));
}
