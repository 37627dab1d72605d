// SPDX-License-Identifier: MIT
#include "counter.h"

#include <string.h>

#define GOLDEN_GAMMA UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t z) {
    z ^= z >> 30;
    z *= UINT64_C(0xbf58476d1ce4e5b9);
    z ^= z >> 27;
    z *= UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t counter_word(uint64_t seed, uint64_t stream, uint64_t index) {
    uint64_t word = mix(seed + GOLDEN_GAMMA);
    word = mix(word + stream + GOLDEN_GAMMA);
    return mix(word + index + GOLDEN_GAMMA);
}

uint32_t counter_below(uint64_t word, uint32_t bound) {
    return (uint32_t)((word >> 32) * bound >> 32);
}

float counter_uniform(uint64_t word) {
    return (float)((int32_t)(word >> 40) - (1 << 23)) * 0x1p-23f;
}

float counter_bell(uint64_t word) {
    const uint32_t mask = (1u << 21) - 1u;
    uint32_t sum = (uint32_t)(word & mask) + (uint32_t)(word >> 21 & mask) + (uint32_t)(word >> 42 & mask);
    return (float)((int32_t)(2 * sum) - (int32_t)(3 * mask)) * 0x1p-21f;
}

float counter_scaled(uint64_t word, int exponent) {
    float value = counter_uniform(word);
    for (; exponent > 0; exponent--)
        value *= 2.0f;
    for (; exponent < 0; exponent++)
        value *= 0.5f;
    return value;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

uint16_t counter_bf16(float value) {
    uint32_t bits = bits_of(value);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

// value >> shift, rounded to nearest even; shift is 1 to 31.
static uint32_t shift_to_nearest(uint32_t value, uint32_t shift) {
    uint32_t half = 1u << (shift - 1u);
    uint32_t rest = value & ((half << 1) - 1u);
    uint32_t down = value >> shift;
    return down + (rest > half || (rest == half && (down & 1u) != 0));
}

uint16_t counter_f16(float value) {
    uint32_t bits = bits_of(value);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t exponent = magnitude >> 23;
    if (magnitude >= 0x477ff000u) // 65520
        return (uint16_t)(sign | 0x7c00u);
    if (exponent >= 113) // 2^-14, the smallest normal
        return (uint16_t)(sign | shift_to_nearest(magnitude - (112u << 23), 13));
    if (exponent < 102) // below 2^-25, half the smallest subnormal
        return (uint16_t)sign;
    return (uint16_t)(sign | shift_to_nearest((magnitude & 0x7fffffu) | 0x800000u, 126u - exponent));
}

// The layout of a type's pattern: where its fraction ends, and the exponent of all ones.
struct pattern {
    uint32_t fraction_bits, top_exponent, sign;
};

static const struct pattern patterns[] = {
    [COUNTER_F32] = {23, 255, 0x80000000u},
    [COUNTER_F16] = {10, 31, 0x8000u},
    [COUNTER_BF16] = {7, 255, 0x8000u},
};

static uint32_t number(enum counter_type type, float value) {
    if (type == COUNTER_F16)
        return counter_f16(value);
    if (type == COUNTER_BF16)
        return counter_bf16(value);
    return bits_of(value);
}

// fp32 values about which a conversion has to decide: a normal f16 (exponents 113 to 142) or bf16, and `kept`
// bits of fraction, the next one set, and below it zeros, or a last bit that tips the balance.
static uint32_t near_half(uint32_t free, uint32_t kept, uint32_t tip) {
    uint32_t dropped = 23u - kept;
    uint32_t exponent = 113u + (free >> 23) % 30u;
    uint32_t fraction = (free & 0x7fffffu) >> dropped << dropped | 1u << (dropped - 1u);
    if (tip != 0)
        fraction = (free & 1u) != 0 ? fraction + 1u : fraction - 1u;
    return exponent << 23 | fraction;
}

static uint32_t finite_magnitude(enum counter_type type, uint32_t kind, uint32_t free) {
    const struct pattern *pattern = &patterns[type];
    uint32_t one = 1u << pattern->fraction_bits; // the pattern of the smallest normal
    uint32_t power = (1u + free % (pattern->top_exponent - 1u)) << pattern->fraction_bits;
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return 1u + free % (one - 1u);
    case 3:
        return one - 1u;
    case 4:
        return one;
    case 5:
        return (pattern->top_exponent << pattern->fraction_bits) - 1u;
    case 6:
        return power - 1u;
    case 7:
        return power;
    case 8:
        return power + 1u;
    default:
        break;
    }
    if (type != COUNTER_F32)
        return free % (pattern->top_exponent << pattern->fraction_bits);
    switch (kind) {
    case 9:
        return near_half(free, 10, 0);
    case 10:
        return near_half(free, 7, 0);
    case 11:
        return near_half(free, 10, 1);
    case 12:
        return near_half(free, 7, 1);
    default:
        return (139u << 23) + free % (116u << 23); // from 2^12 up, past what f16 holds
    }
}

uint32_t counter_bits(enum counter_type type, enum counter_mode mode, uint64_t word) {
    const struct pattern *pattern = &patterns[type];
    uint32_t infinity = pattern->top_exponent << pattern->fraction_bits;
    uint32_t quiet = 1u << (pattern->fraction_bits - 1u);
    uint32_t kind = (uint32_t)(word >> 56) % 16u;
    uint32_t sign = (word >> 55 & 1u) != 0 ? pattern->sign : 0;
    uint32_t free = (uint32_t)(word & 0xffffffffu);
    if (mode == COUNTER_UNIFORM)
        return number(type, counter_uniform(word));
    if (mode == COUNTER_BELL)
        return number(type, counter_bell(word));
    if (kind >= 14) // the word's own upper bits are no longer random
        return number(type, counter_bell(mix(word)));
    if (mode == COUNTER_FINITE || kind > 2)
        return sign | finite_magnitude(type, kind, free);
    if (kind == 0)
        return sign | infinity;
    if (kind == 1)
        return sign | infinity | quiet | free % quiet;
    return sign | infinity | (1u + free % (quiet - 1u));
}

void counter_fill(void *dst, enum counter_type type, enum counter_mode mode, uint64_t seed, uint64_t stream,
                  uint64_t first, size_t count) {
    unsigned char *at = dst;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = counter_bits(type, mode, counter_word(seed, stream, first + i));
        uint16_t half = (uint16_t)bits;
        if (type == COUNTER_F32)
            memcpy(at + i * sizeof(bits), &bits, sizeof(bits));
        else
            memcpy(at + i * sizeof(half), &half, sizeof(half));
    }
}

void counter_cancelling(uint64_t word, float cosine, float sine, float *lo, float *hi) {
    float x = counter_bell(word);
    *lo = x * sine;
    *hi = x * cosine;
}
