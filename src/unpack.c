// SPDX-License-Identifier: MIT
#include "unpack.h"

#define ONE        (1u << 11) // of a model's odds
#define EVEN       (ONE / 2)
#define RATE       4 // a model moves by 1/16 of what it lacks
#define MIN_COPY   2
#define MAX_BITS   24 // of a number, after its first
#define NEAR_LIMIT 128
#define SETS       8  // of literals' models, by the highest bits of the byte before
#define MAX_SHIFT  35 // a word plus NEAR_LIMIT has 33 bits

// ------------------------------------------------------------------------------------------------- range
// coder

typedef uint16_t model; // how many in ONE are 0

typedef struct decoder {
    const unsigned char *packed;
    size_t size;
    size_t at;
    uint32_t range;
    uint32_t code;
} decoder;

typedef struct number_models {
    model bits[32];
    model high[MAX_BITS + 1][8]; // the first three bits after the leading one, by those before them
    model low[32];               // the others, by their place
} number_models;

// Zeros follow the end, which tools/pack.py leaves out.
static uint32_t next_byte(decoder *d) {
    return d->at < d->size ? d->packed[d->at++] : 0;
}

// Without a branch that nobody can foresee.
static uint32_t read_bit(decoder *d, model *odds) {
    const uint32_t bound = d->range / ONE * *odds;
    const uint32_t bit = d->code >= bound;
    const uint32_t mask = 0u - bit;
    d->code -= bound & mask;
    d->range = bound + ((d->range - 2 * bound) & mask);
    *odds = (model)(*odds - ((*odds >> RATE) & mask) + (((ONE - *odds) >> RATE) & ~mask));
    while (d->range < 1u << 24) {
        d->range <<= 8;
        d->code = d->code << 8 | next_byte(d);
    }
    return bit;
}

// `expected`: 256 plus the byte that a copy would have gone on with, which has models of its own as far as it
// is right; or 0.
static unsigned char read_literal(decoder *d, model *models, model *likely, uint32_t expected) {
    uint32_t seen = 1;
    for (uint32_t left = 8; left > 0; left--) {
        const uint32_t next = expected >> (left - 1);
        seen = seen << 1 | read_bit(d, next >> 1 == seen ? &likely[next % 2 * 256 + seen] : &models[seen]);
    }
    return (unsigned char)seen;
}

// At least 1; 0 when no number has so many bits.
static uint32_t read_number(decoder *d, number_models *models) {
    uint32_t bits = 0;
    while (bits <= MAX_BITS && read_bit(d, &models->bits[bits]))
        bits++;
    if (bits > MAX_BITS)
        return 0;
    uint32_t seen = 1;
    for (uint32_t left = bits; left > 0; left--)
        seen = seen << 1 | read_bit(d, seen < 8 ? &models->high[bits][seen] : &models->low[left - 1]);
    return seen;
}

static void reset(model *models, size_t count) {
    for (size_t i = 0; i < count; i++)
        models[i] = EVEN;
}

static void reset_numbers(number_models *models) {
    reset(models->bits, sizeof(models->bits) / sizeof(model));
    reset(models->high[0], sizeof(models->high) / sizeof(model));
    reset(models->low, sizeof(models->low) / sizeof(model));
}

bool rope2d_unpack(const unsigned char *packed, size_t packed_size, unsigned char *bytes, size_t before,
                   size_t size) {
    decoder d = {.packed = packed, .size = packed_size, .range = UINT32_MAX};
    model kinds[2], again[2], literals[SETS][256], likely[2 * 256];
    number_models lengths, distances;
    reset(kinds, 2);
    reset(again, 2);
    reset(literals[0], SETS * (size_t)256);
    reset(likely, 2 * (size_t)256);
    reset_numbers(&lengths);
    reset_numbers(&distances);
    for (int i = 0; i < 4; i++)
        d.code = d.code << 8 | next_byte(&d);
    const size_t end = before + size;
    size_t last = 0;
    uint32_t copied = 0;
    for (size_t at = before; at < end;) {
        const uint32_t after_copy = copied;
        copied = read_bit(&d, &kinds[after_copy]);
        if (!copied) {
            bytes[at] = read_literal(&d, literals[at > 0 ? bytes[at - 1] * SETS / 256 : 0], likely,
                                     after_copy ? 256u + bytes[at - last] : 0);
            at++;
            continue;
        }
        if (!read_bit(&d, &again[after_copy]))
            last = read_number(&d, &distances);
        const size_t number = read_number(&d, &lengths);
        const size_t length = number + MIN_COPY - 1;
        if (last == 0 || last > at || number == 0 || length > end - at)
            return false;
        for (const size_t stop = at + length; at < stop; at++) // may copy what it has just written
            bytes[at] = bytes[at - last];
    }
    return true;
}

// ------------------------------------------------------------------------------------------------------
// SPIR-V

typedef struct reader {
    const unsigned char *at;
    const unsigned char *end;
    bool is_good;
} reader;

static uint64_t read_token(reader *r) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < MAX_SHIFT && r->at < r->end; shift += 7) {
        const unsigned char byte = *r->at++;
        value |= (uint64_t)(byte & 0x7fu) << shift;
        if (byte < 0x80u)
            return value;
    }
    r->is_good = false;
    return 0;
}

bool rope2d_unpack_spirv(const unsigned char *tokens, size_t size, uint32_t *words, size_t count) {
    enum { HEADER = 5, BOUND = 3 };
    reader r = {tokens, tokens + size, count >= HEADER};
    for (size_t i = 0; i < HEADER && r.is_good; i++)
        words[i] = (uint32_t)read_token(&r);
    uint32_t newest = 0;
    size_t at = HEADER;
    while (r.is_good && at < count) {
        const uint64_t opcode = read_token(&r);
        const uint64_t length = read_token(&r);
        if (!r.is_good || opcode > UINT16_MAX || length == 0 || length > UINT16_MAX || length > count - at)
            return false;
        words[at] = (uint32_t)(length << 16 | opcode);
        for (size_t place = 1; place < length; place++) {
            const uint64_t value = read_token(&r);
            uint32_t word = (uint32_t)value;
            if (place > 1 || length == 2)
                word = value < NEAR_LIMIT ? newest + 1 - (uint32_t)value : (uint32_t)(value - NEAR_LIMIT);
            if (word == newest + 1 || (place == 2 && word > newest && word < words[BOUND]))
                newest = word;
            words[at + place] = word;
        }
        at += (size_t)length;
    }
    return r.is_good && r.at == r.end;
}
