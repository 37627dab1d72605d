// SPDX-License-Identifier: MIT
//
// What a rotation could be at best: turns q and k of one tower, whose heads, channels, axes and pairing the compiler
// knows. It owes what a rotation owes: tokens whose row is negative keep their bits, and a row past the table is its last.
// Tensors are [token][head][channel], k right behind q. A unit is as many lo as hi, or pairs one after the other: twice
// B_WORD, which is uvec2 or uvec4, of B_WIDTH words. B_MODE, what a lane turns: 0 a unit, 1 that of q and of k, 2 both of
// all heads, 3 both of B_ROWS tokens of one head, the last lane of what is left. B_HALF: the pairing. B_SPLIT: a unit's pairs may turn by
// two axes. B_ELEMENT, B_CONVERTER: as in bench.comp. All of these are the preprocessor's, for some drivers keep branches
// that hang on a constant.
#version 450

#define R_FN
#define R_BITS(f)         floatBitsToUint(f)
#define R_FROM_BITS(u)    uintBitsToFloat(u)
#define R_SELECT(c, a, b) mix(b, a, c)
#include "../../shaders/arithmetic.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint B_ROWS = 1u;
layout(constant_id = 2) const uint B_HEADS = 1u;
layout(constant_id = 3) const uint B_HEAD_DIM = 256u;
layout(constant_id = 4) const uint B_AXES = 2u;
layout(constant_id = 5) const uint B_SECOND = 64u; // pair with which the second axis begins, and the third
layout(constant_id = 6) const uint B_THIRD = 128u;

#if B_ELEMENT == 0
#define PAIRS    B_WIDTH // of a unit
#define OF_WORDS 1u      // numbers of a word
#else
#define PAIRS    (2 * B_WIDTH)
#define OF_WORDS 2u
#endif
const uint UNITS = B_HEAD_DIM / OF_WORDS / (2u * B_WIDTH); // of a head

layout(set = 0, binding = 0, std430) readonly buffer In {
    B_WORD from[];
};
layout(set = 0, binding = 1, std430) writeonly buffer Out {
    B_WORD to[];
};
// One buffer: cosines and sines of two pairs, or of one, [row][pair]; and rows, [token][axis].
layout(set = 0, binding = 2, std430) readonly buffer Duos {
    vec4 duos[];
};
layout(set = 0, binding = 2, std430) readonly buffer Entries {
    vec2 entries[];
};
layout(set = 0, binding = 2, std430) readonly buffer Rows {
    int rows[];
};
layout(push_constant) uniform Sizes {
    uint count;             // of lanes
    uint groups_x;          // in a row of the grid
    uint heads;             // of a tensor's tokens
    uint table_at, rows_at; // in pairs and in rows
    uint last;              // row of the table
};

int row_of(uint token, uint pair) {
    return rows[rows_at + token * B_AXES + uint(pair >= B_SECOND) + uint(pair >= B_THIRD)];
}

// The pair before which a row begins.
uint place_of(int row) {
    return table_at + min(uint(row), last) * (B_HEAD_DIM / 2u);
}

struct turns {
    vec4 duos[PAIRS / 2];
#if B_SPLIT
    bvec2 keep[PAIRS / 2]; // the pairs
#else
    bool keep;
#endif
};

#if B_SPLIT
// Of the axes that turn its first pair and its last: an axis has as many pairs as a unit at least.
#define READ_DUO(i)                                                                                          \
    {                                                                                                        \
        uvec2 pairs = pair + 2u * i + uvec2(0u, 1u);                                                         \
        bvec2 is_first = lessThan(pairs, uvec2(end));                                                        \
        uvec2 places = mix(uvec2(next_place), uvec2(place), is_first);                                       \
        t.duos[i] = vec4(entries[places.x + pairs.x], entries[places.y + pairs.y]);                          \
        t.keep[i] = mix(bvec2(next < 0), bvec2(row < 0), is_first);                                          \
    }
#else
#define READ_DUO(i) t.duos[i] = duos[(place + pair) / 2u + i];
#endif

turns read_turns(uint token, uint unit) {
    turns t;
    uint pair = unit * PAIRS;
    int row = row_of(token, pair);
    uint place = place_of(row);
#if B_SPLIT
    int next = row_of(token, pair + PAIRS - 1u);
    uint next_place = place_of(next);
    uint end = mix(B_THIRD, B_SECOND, pair < B_SECOND); // of the first pair's axis
#else
    t.keep = row < 0;
#endif
    READ_DUO(0)
#if PAIRS > 2
    READ_DUO(1)
#endif
#if PAIRS > 4
    READ_DUO(2)
    READ_DUO(3)
#endif
    return t;
}

vec2 turned(vec2 by, float x, float y) {
    return vec2(r_turn_lo(by.x, by.y, x, y), r_turn_hi(by.x, by.y, x, y));
}

#if B_ELEMENT == 0
// Two numbers of a pair.
uvec2 turned_words(vec2 by, uint a, uint b) {
    return floatBitsToUint(turned(by, uintBitsToFloat(a), uintBitsToFloat(b)));
}
#if B_SPLIT
#define KEEP(i) bvec2(i % 2 == 0 ? t.keep[i / 2].x : t.keep[i / 2].y)
#else
#define KEEP(i) bvec2(t.keep)
#endif
#define TURNED(i, a, b) \
    mix(turned_words(i % 2 == 0 ? t.duos[i / 2].xy : t.duos[i / 2].zw, a, b), uvec2(a, b), KEEP(i))
#else
vec2 widened(uint word) {
#if B_CONVERTER
    return unpackHalf2x16(word);
#else
    return vec2(uintBitsToFloat(r_widen(B_ELEMENT, word & 0xffffu)), uintBitsToFloat(r_widen(B_ELEMENT, word >> 16)));
#endif
}

uint narrowed(vec2 value) {
#if B_CONVERTER
    return packHalf2x16(value);
#else
    uvec2 bits = floatBitsToUint(value);
    return r_narrow(B_ELEMENT, bits.x) | (r_narrow(B_ELEMENT, bits.y) << 16);
#endif
}

// Two words of two numbers each: two lo and their hi, or two pairs.
uvec2 turned_words(vec4 by, uint a, uint b) {
    vec2 x = widened(a), y = widened(b);
#if B_HALF
    vec2 first = turned(by.xy, x.x, y.x), second = turned(by.zw, x.y, y.y);
    return uvec2(narrowed(vec2(first.x, second.x)), narrowed(vec2(first.y, second.y)));
#else
    return uvec2(narrowed(turned(by.xy, x.x, x.y)), narrowed(turned(by.zw, y.x, y.y)));
#endif
}

uvec2 kept_words(bvec2 keep, uint a, uint b, uvec2 done) {
#if B_SPLIT && B_HALF
    uint mask = (keep.x ? 0xffffu : 0u) | (keep.y ? 0xffff0000u : 0u);
    return (uvec2(a, b) & mask) | (done & ~mask);
#else
    return mix(done, uvec2(a, b), keep);
#endif
}
#if B_SPLIT
#define KEEP(i) t.keep[i]
#else
#define KEEP(i) bvec2(t.keep)
#endif
#define TURNED(i, a, b) kept_words(KEEP(i), a, b, turned_words(t.duos[i], a, b))
#endif

// A unit of the head that is number `head` of q's, or behind them of k's.
void turn_unit(uint head, uint unit, turns t) {
#if B_HALF
    uint lo = head * (2u * UNITS) + unit, hi = lo + UNITS;
#else
    uint lo = head * (2u * UNITS) + 2u * unit, hi = lo + 1u;
#endif
    B_WORD a = from[lo], b = from[hi];
#if B_HALF
    uvec2 first = TURNED(0, a.x, b.x), second = TURNED(1, a.y, b.y);
    a.xy = uvec2(first.x, second.x);
    b.xy = uvec2(first.y, second.y);
#if B_WIDTH == 4
    first = TURNED(2, a.z, b.z);
    second = TURNED(3, a.w, b.w);
    a.zw = uvec2(first.x, second.x);
    b.zw = uvec2(first.y, second.y);
#endif
#elif B_WIDTH == 2
    a = TURNED(0, a.x, a.y);
    b = TURNED(1, b.x, b.y);
#else
    a = uvec4(TURNED(0, a.x, a.y), TURNED(1, a.z, a.w));
    b = uvec4(TURNED(2, b.x, b.y), TURNED(3, b.z, b.w));
#endif
    to[lo] = a;
    to[hi] = b;
}

void turn(uint place, uint unit) {
#if B_MODE == 0
    uint token = mix(place, place - heads, place >= heads) / B_HEADS; // k's tokens turn as q's do
    turn_unit(place, unit, read_turns(token, unit));
#elif B_MODE == 1
    turns t = read_turns(place / B_HEADS, unit);
    turn_unit(place, unit, t);
    turn_unit(place + heads, unit, t);
#elif B_MODE == 2
    turns t = read_turns(place, unit);
    uint first = place * B_HEADS;
    for (uint head = first; head < first + B_HEADS; ++head) {
        turn_unit(head, unit, t);
        turn_unit(head + heads, unit, t);
    }
#else
    uint first = place * B_ROWS;
    for (uint token = first; token < min(first + B_ROWS, heads); ++token) {
        turns t = read_turns(token, unit);
        turn_unit(token, unit, t);
        turn_unit(token + heads, unit, t);
    }
#endif
}

void main() {
    uint group = gl_WorkGroupID.y * groups_x + gl_WorkGroupID.x;
    uint lane = group * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (lane < count)
        turn(lane / UNITS, lane % UNITS);
}
