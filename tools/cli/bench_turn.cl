// SPDX-License-Identifier: MIT
//
// What a rotation could be at best where OpenCL's device is a CPU whose compiler has clang's vectors: turns q
// and k of one tower, of which the compiler knows everything, and which looks after nothing else. Tensors are
// [token][head][channel], k right behind q, and a half of a head has 16 channels at least. Built with -DELEMENT
// (0 f32, 1 f16, 2 bf16), -DHALF, the pairing, -DHEADS, -DHEAD_DIM, -DAXES, -DSECOND and -DTHIRD, the pairs with
// which these axes begin, -DAPART=1 for one tensor after the other, -DAHEAD, how many bytes before they are read
// lines are asked for, or 0, and -DSTREAM=1 for stores past the caches.

#pragma OPENCL FP_CONTRACT OFF

#define INLINE static __attribute__((always_inline))
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("clang loop unroll(disable)")

typedef float8 floats __attribute__((aligned(4)));

#if ELEMENT == 0
typedef float number;
typedef float8 loaded;
#else
typedef ushort number;
#if ELEMENT == 1
typedef ushort8 loaded;
#else
typedef uint8 loaded; // words of two numbers: an f32's upper half each
#endif
#endif
typedef loaded loaded_anywhere __attribute__((aligned(sizeof(number))));

// Numbers of a load, of which a vector of eight is turned at a time: bf16's even ones and its odd ones.
#if ELEMENT == 2
#define VECTORS 2
#else
#define VECTORS 1
#endif
#define NUMBERS (8u * VECTORS)
#define RUN     (HALF ? HEAD_DIM / 2u : HEAD_DIM) // channels that units follow each other in
#define UNITS   ((RUN + NUMBERS - 1u) / NUMBERS)

typedef struct values {
    float8 of[VECTORS];
} values;

INLINE values load(__global const number *from) {
    const loaded bits = *(__global const loaded_anywhere *)from;
    values v;
#if ELEMENT == 0
    v.of[0] = bits;
#elif ELEMENT == 2
    v.of[0] = as_float8(bits << 16);
    v.of[1] = as_float8(bits & 0xffff0000u);
#elif defined(__F16C__)
    typedef __fp16 halves __attribute__((ext_vector_type(8)));
    const union {
        loaded bits;
        halves numbers;
    } same = {bits};
    v.of[0] = __builtin_convertvector(same.numbers, float8);
#else
    v.of[0] = vload_half8(0, (__global const half *)from);
#endif
    return v;
}

#if ELEMENT == 2
// Numbers alone, so that NaN need no care.
INLINE uint8 rounded(float8 value) {
    const uint8 bits = as_uint8(value);
    return bits + 0x7fffu + ((bits >> 16) & 1u);
}
#endif

INLINE void store(__global number *to, values v) {
#if ELEMENT == 0
    const loaded bits = v.of[0];
#elif ELEMENT == 2
    const loaded bits = (rounded(v.of[0]) >> 16) | (rounded(v.of[1]) & 0xffff0000u);
#elif defined(__F16C__)
    const loaded bits = as_ushort8(__builtin_ia32_vcvtps2ph256(v.of[0], 0));
#else
    vstore_half8_rte(v.of[0], 0, (__global half *)to);
    return;
#endif
#if STREAM
    __builtin_nontemporal_store(bits, (__global loaded *)to);
#else
    *(__global loaded_anywhere *)to = bits;
#endif
}

// What turns a unit. f32's and f16's pairs side by side have a cosine for each channel, and a sine that has the
// sign of what is taken of it.
typedef struct side {
    float8 c[VECTORS], s[VECTORS];
} side;

// Cosines and sines of four pairs from `pair` on, each of its own axis.
INLINE float8 read_four(__global const float *const *places, uint pair) {
    const uint begins[] = {0u, SECOND, THIRD};
    const uint8 pairs = pair + (uint8)(0u, 0u, 1u, 1u, 2u, 2u, 3u, 3u);
    float8 found = *(__global const floats *)(places[0] + 2u * pair);
    UNROLL
    for (uint axis = 1u; axis < AXES; axis++) {
        if (pair + 4u <= begins[axis])
            continue;
        const float8 other = *(__global const floats *)(places[axis] + 2u * pair);
        found = pairs >= begins[axis] ? other : found;
    }
    return found;
}

INLINE side read_side(__global const float *const *places, uint pair) {
    side found;
#if HALF && ELEMENT == 2
    const float8 a = read_four(places, pair), b = read_four(places, pair + 4u);
    const float8 c = read_four(places, pair + 8u), d = read_four(places, pair + 12u);
    found.c[0] = (float8)(a.s04, b.s04, c.s04, d.s04);
    found.s[0] = (float8)(a.s15, b.s15, c.s15, d.s15);
    found.c[1] = (float8)(a.s26, b.s26, c.s26, d.s26);
    found.s[1] = (float8)(a.s37, b.s37, c.s37, d.s37);
#elif HALF || ELEMENT == 2
    const float8 a = read_four(places, pair), b = read_four(places, pair + 4u);
    found.c[0] = (float8)(a.even, b.even);
    found.s[0] = (float8)(a.odd, b.odd);
#else
    const float8 a = read_four(places, pair);
    found.c[0] = a.s00224466;
    found.s[0] = a.s11335577 * (float8)(-1.0f, 1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f, 1.0f);
#endif
    return found;
}

// The channel with which a unit begins: the last one ends where the run does.
#define FIRST(unit) ((unit) + 1u < UNITS ? (unit) * NUMBERS : RUN - NUMBERS)

typedef struct unit {
    values lo, hi; // hi of halves alone
} unit;

INLINE unit load_unit(__global const number *from, uint i) {
    unit u;
    u.lo = load(from + FIRST(i));
    if (HALF)
        u.hi = load(from + RUN + FIRST(i));
    return u;
}

INLINE void turn_unit(unit u, const side *by, __global number *to, uint i) {
#if HALF
    values lo, hi;
    UNROLL
    for (uint k = 0u; k < VECTORS; k++) {
        const float8 a = by->c[k] * u.lo.of[k], b = by->s[k] * u.hi.of[k];
        const float8 c = by->s[k] * u.lo.of[k], d = by->c[k] * u.hi.of[k];
        lo.of[k] = a - b;
        hi.of[k] = c + d;
    }
    store(to + FIRST(i), lo);
    store(to + RUN + FIRST(i), hi);
#elif ELEMENT == 2
    values v;
    const float8 a = by->c[0] * u.lo.of[0], b = by->s[0] * u.lo.of[1];
    const float8 c = by->s[0] * u.lo.of[0], d = by->c[0] * u.lo.of[1];
    v.of[0] = a - b;
    v.of[1] = c + d;
    store(to + FIRST(i), v);
#else
    values v;
    const float8 a = u.lo.of[0] * by->c[0], b = u.lo.of[0].s10325476 * by->s[0];
    v.of[0] = a + b;
    store(to + FIRST(i), v);
#endif
}

// The last two units may share channels, and so both are loaded before one is stored.
INLINE void turn_head(__global const number *from, __global number *to, const side *sides) {
#if AHEAD
    UNROLL
    for (uint at = 0u; at < HEAD_DIM * sizeof(number); at += 64u)
        __builtin_prefetch((__global const char *)from + AHEAD + at);
#endif
    UNROLL
    for (uint i = 0u; i + 2u < UNITS; i++)
        turn_unit(load_unit(from, i), &sides[i], to, i);
    const unit last = load_unit(from, UNITS - 1u);
    if (UNITS > 1u)
        turn_unit(load_unit(from, UNITS - 2u), &sides[UNITS - 2u], to, UNITS - 2u);
    turn_unit(last, &sides[UNITS - 1u], to, UNITS - 1u);
}

INLINE void turn_token(__global const number *from, __global number *to, __global const float *table,
                       __global const int *rows, uint token, uint tokens, uint first, uint last) {
    __global const float *places[AXES];
    side sides[UNITS];
    UNROLL
    for (uint axis = 0u; axis < AXES; axis++)
        places[axis] = table + (uint)rows[token * AXES + axis] * HEAD_DIM;
    UNROLL
    for (uint i = 0u; i < UNITS; i++)
        sides[i] = read_side(places, HALF ? FIRST(i) : FIRST(i) / 2u);
    for (uint tensor = first; tensor < last; tensor++) {
        const size_t at = ((size_t)tensor * tokens + token) * (HEADS * HEAD_DIM);
        ROLLED
        for (uint head = 0u; head < HEADS; head++)
            turn_head(from + at + head * HEAD_DIM, to + at + head * HEAD_DIM, sides);
    }
}

__kernel void turn(__global const number *from, __global number *to, __global const float *table,
                   __global const int *rows, uint tokens, uint item_tokens) {
    const uint first = (uint)get_group_id(0) * item_tokens, end = min(first + item_tokens, tokens);
#if APART
    for (uint tensor = 0u; tensor < 2u; tensor++)
        for (uint token = first; token < end; token++)
            turn_token(from, to, table, rows, token, tokens, tensor, tensor + 1u);
#else
    for (uint token = first; token < end; token++)
        turn_token(from, to, table, rows, token, tokens, 0u, 2u);
#endif
#if STREAM
    __builtin_ia32_sfence();
#endif
}
