// SPDX-License-Identifier: MIT
//
// The kernel of OpenCL devices that are CPUs and compile for their vectors: a work-item has a few tokens
// whole, of all tensors, and goes through their bytes in order, wherever they lie. A token's cosines and
// sines are laid out once, as its channels lie, for all heads; tensors of one head read the table where they
// go. Built with -DR_RUN, -DR_AXES, -DR_RUN_UNITS and -DR_RUN_PAIR_UNITS: channels of a run, row numbers of a
// token, units and those that rotate; -DR_WORDS where the units are few, their words; -DR_PART=1 where the
// last is of four pairs; -DR_HARDWARE=1 for the conversions of f16 that a processor has.

#if R_FLAGS & 8 // R_INTERLEAVED_FLAG: each channel has its own cosine
#define R_SIDES 2
#else
#define R_SIDES 1
#endif

#define R_JOIN_(a, b)         a##b
#define R_JOIN(a, b)          R_JOIN_(a, b)
#define r_floats              R_JOIN(float, R_RUN)
#define r_uints               R_JOIN(uint, R_RUN)
#define r_ints                R_JOIN(int, R_RUN)
#define r_shorts              R_JOIN(short, R_RUN)
#define r_halves              R_JOIN(ushort, R_RUN)
#define r_as_floats           R_JOIN(as_, r_floats)
#define r_as_uints            R_JOIN(as_, r_uints)
#define r_convert_to(v, type) __builtin_convertvector(v, type)

#ifndef __F16C__
#undef R_HARDWARE
#endif

#define R_INLINE static __attribute__((always_inline)) // with what is constant in its arguments
#define R_UNROLL _Pragma("unroll")
#define R_ROLLED _Pragma("clang loop unroll(disable)")

#ifdef R_WORDS
__constant uint r_words_of_units[] = {R_WORDS};
#define R_TOKEN_UNIT(i) r_words_of_units[i]
#define R_UNROLL_UNITS  R_UNROLL
#else
#define R_TOKEN_UNIT(i) R_UNIT(i)
#define R_UNROLL_UNITS
#endif

// Runs of channels, and as they lie in memory: vstore would take halves one by one.
#if R_IN == 0
typedef r_uints r_in;
typedef uint r_in_unit;
#else
typedef r_halves r_in;
typedef ushort r_in_unit;
#endif
#if R_OUT == 0
typedef r_uints r_out;
typedef uint r_out_unit;
typedef uint4 r_out_part __attribute__((aligned(sizeof(uint))));
#else
typedef r_halves r_out;
typedef ushort r_out_unit;
typedef ushort4 r_out_part __attribute__((aligned(sizeof(ushort))));
#endif
typedef r_in r_in_memory __attribute__((aligned(sizeof(r_in_unit))));
typedef r_out r_out_memory __attribute__((aligned(sizeof(r_out_unit))));
typedef ushort16 r_halves_memory __attribute__((aligned(2)));

#include "token_element.h"

// What a token's axes turn by: row numbers, negative where they do not, and where these rows begin, in duos.
typedef struct r_place {
    int rows[R_AXES];
    uint duos[R_AXES];
} r_place;

// Cosines and sines of a run of channels.
typedef struct r_side {
    r_floats c;
    r_floats s;
    r_ints row; // negative where a pair does not rotate
} r_side;

typedef struct r_token {
    r_side sides[R_SIDES * (R_RUN_PAIR_UNITS + 1u)];
} r_token;

// The entries of two pairs that stand side by side.
R_INLINE float4 r_read_duo(R_MEM const r_place *place, uint axis, uint pair) {
    return (table + place->duos[axis])[pair >> 1];
}

typedef float8 r_four_memory __attribute__((aligned(16)));

// Where all turn by one axis, by one load: two at places that a compiler cannot compare stay two.
R_INLINE float8 r_read_four(R_MEM const r_place *place, uint first, uint second, uint pair) {
    if (first == second)
        return *(__global const r_four_memory *)((__global const float4 *)table + place->duos[first] +
                                                 (pair >> 1));
    return (float8)(r_read_duo(R_M place, first, pair), r_read_duo(R_M place, second, pair + 2u));
}

R_INLINE r_side r_read_side(R_MEM const r_place *place, uint unit, uint run) {
    r_side side;
    uint word = R_TOKEN_UNIT(2u * unit);
    uint pairs = R_TOKEN_UNIT(2u * unit + 1u);
    uint pair = run == 0u ? R_UNIT_LO(pairs) : R_UNIT_HI(pairs);
#if R_SIDES == 2 && R_RUN == 8
    uint a = R_UNIT_AXIS(word, 2u * run), b = R_UNIT_AXIS(word, 2u * run + 1u);
    float8 four = r_read_four(R_M place, a, b, pair);
    side.c = four.s00224466;
    side.s = four.s11335577;
    side.row = (int8)((int4)place->rows[a], (int4)place->rows[b]);
#elif R_SIDES == 2
    uint a = R_UNIT_AXIS(word, run);
    float4 two = r_read_duo(R_M place, a, pair);
    side.c = two.s0022;
    side.s = two.s1133;
    side.row = (int4)place->rows[a];
#else
    uint a = R_UNIT_AXIS(word, 0u), b = R_UNIT_AXIS(word, 1u);
    float8 four = r_read_four(R_M place, a, b, pair);
    int4 rows = (int4)((int2)place->rows[a], (int2)place->rows[b]);
#if R_RUN == 8
    uint c = R_UNIT_AXIS(word, 2u), d = R_UNIT_AXIS(word, 3u);
    float8 more = r_read_four(R_M place, c, d, R_UNIT_HI(pairs));
    side.c = (float8)(four.even, more.even);
    side.s = (float8)(four.odd, more.odd);
    side.row = (int8)(rows, (int2)place->rows[c], (int2)place->rows[d]);
#else
    side.c = four.even;
    side.s = four.odd;
    side.row = rows;
#endif
#endif
    return side;
}

// Of a token that was laid out; NULL: none was.
R_INLINE r_side r_find_side(R_MEM const r_token *token, const r_place *place, uint unit, uint run) {
    return token ? token->sides[R_SIDES * unit + run] : r_read_side(R_M place, unit, run);
}

// Whether a run is of four channels: the last unit's, which has them twice.
#ifdef R_PART
#define R_IS_PART_OF(at, word) ((at) == R_UNIT_LO(word) || (at) == R_UNIT_HI(word))
#define R_IS_PART(at)          R_IS_PART_OF(at, R_TOKEN_UNIT(2u * R_RUN_PAIR_UNITS - 2u))
#else
#define R_IS_PART(at) false
#endif

R_INLINE r_in r_load_bits(__global const r_in_unit *in, uint at) {
#ifdef R_PART
    if (R_IS_PART(at))
        return vload4(0, in + at).s01230123;
#endif
    return *(__global const r_in_memory *)(in + at);
}

R_INLINE void r_store_bits(__global r_out_unit *out, uint at, r_out bits) {
#ifdef R_PART
    if (R_IS_PART(at))
        *(__global r_out_part *)(out + at) = bits.lo;
    else
#endif
        *(__global r_out_memory *)(out + at) = bits;
}

// What was turned, or where a pair does not rotate what was there before.
R_INLINE void r_store_kept(__global r_out_unit *out, uint at, r_ints row, r_in bits, r_floats turned) {
    r_out kept = r_pass_bits(bits), rotated = r_narrow_bits(turned);
#if R_OUT == 0
    r_store_bits(out, at, row < 0 ? kept : rotated);
#else
    r_store_bits(out, at, r_convert_to(row < 0, r_shorts) != (short)0 ? kept : rotated);
#endif
}

#if R_SIDES == 2
#define R_LAST (2u * R_RUN_PAIR_UNITS)
#define R_STEP 2u // runs at a time
#else
#define R_LAST R_RUN_PAIR_UNITS
#define R_STEP (R_OUT == R_F32 ? 4u : 2u) // units
#endif

// Several runs, of which two at a time mostly lie side by side.
R_INLINE void r_store_turned(__global r_out_unit *out, const uint *at, const r_floats *turned, uint count) {
#if R_OUT == 2 && R_RUN == 8
    if (count == 2u && at[1] == at[0] + 8u && !R_IS_PART(at[1])) {
        ushort16 first = r_round_turned(turned[0]);
        ushort16 second = r_round_turned(turned[1]);
        *(__global r_halves_memory *)(out + at[0]) = (ushort16)(first.odd, second.odd);
        return;
    }
#endif
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++)
        if (i < count)
            r_store_bits(out, at[i], r_narrow_bits(turned[i]));
}

typedef struct r_head {
    __global const r_in_unit *in;
    __global r_out_unit *out;
} r_head;

#if R_SIDES == 2
#if R_IN == 2 && R_OUT == 2 && R_RUN == 8
typedef uint8 r_pairs_memory __attribute__((aligned(2)));

// Two runs of bf16 that lie side by side: a word is a pair, and both of its halves nearly an f32.
R_INLINE void r_turn_pairs(const r_side *sides, uint at, const r_head *head) {
    r_uints pairs = *(__global const r_pairs_memory *)(head->in + at);
    r_floats lo = as_float8(pairs << 16), hi = as_float8(pairs & 0xffff0000u);
    r_floats c = (r_floats)(sides[0].c.even, sides[1].c.even);
    r_floats s = (r_floats)(sides[0].s.even, sides[1].s.even);
    r_floats a = c * lo;
    r_floats b = s * hi;
    ushort16 first = r_round_turned(a - b);
    a = s * lo;
    b = c * hi;
    ushort16 second = r_round_turned(a + b);
    *(__global r_halves_memory *)(head->out + at) =
        __builtin_shufflevector(first, second, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
}
#endif

// All first runs, then all second ones, which are the channels in order.
R_INLINE void r_turn_runs(const r_side *sides, const uint *at, uint count, bool keeps, const r_head *head) {
#if R_IN == 2 && R_OUT == 2 && R_RUN == 8
    if (!keeps && count == 2u && at[1] == at[0] + 8u) {
        r_turn_pairs(sides, at[0], head);
        return;
    }
#endif
    r_in bits[R_STEP];
    r_floats turned[R_STEP];
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++)
        if (i < count)
            bits[i] = r_load_bits(head->in, at[i]);
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++) {
        if (i >= count)
            continue;
        r_floats v = r_widen_bits(bits[i]);
#if R_RUN == 8
        r_floats other = v.s10325476;
#else
        r_floats other = v.s1032;
#endif
        r_side side = sides[i];
        r_floats first = v * side.c;
        r_floats second = other * side.s;
        r_floats less = first - second, more = first + second;
#if R_RUN == 8
        turned[i] = __builtin_shufflevector(less, more, 0, 9, 2, 11, 4, 13, 6, 15);
#else
        turned[i] = __builtin_shufflevector(less, more, 0, 5, 2, 7);
#endif
    }
    if (!keeps)
        r_store_turned(head->out, at, turned, count);
    for (uint i = 0u; keeps && i < count; i++)
        r_store_kept(head->out, at[i], sides[i].row, bits[i], turned[i]);
}

R_INLINE void r_turn_some(R_MEM const r_token *token, const r_place *place, const r_head *head, bool keeps,
                          uint first, uint last) {
    r_side sides[R_STEP];
    uint at[R_STEP];
    uint count = 0u;
    R_UNROLL
    for (uint step = 0u; step < R_STEP; step++) {
        uint i = first + step;
        if (i >= last)
            continue;
        uint run = i < R_RUN_PAIR_UNITS ? 0u : 1u;
        uint unit = i - run * R_RUN_PAIR_UNITS, word = R_TOKEN_UNIT(2u * unit);
        at[count] = run == 0u ? R_UNIT_LO(word) : R_UNIT_HI(word);
        if (run == 1u && at[count] == R_UNIT_LO(word)) // has no second
            continue;
        sides[count++] = r_find_side(R_M token, place, unit, run);
    }
    r_turn_runs(sides, at, count, keeps, head);
}
#else
R_INLINE void r_turn_runs(const r_side *sides, const uint *lo_at, const uint *hi_at, uint count, bool keeps,
                          const r_head *head) {
    r_in lo_bits[R_STEP], hi_bits[R_STEP];
    r_floats lo_turned[R_STEP], hi_turned[R_STEP];
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++)
        if (i < count)
            lo_bits[i] = r_load_bits(head->in, lo_at[i]);
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++)
        if (i < count)
            hi_bits[i] = r_load_bits(head->in, hi_at[i]);
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++) {
        if (i >= count)
            continue;
        r_floats lo = r_widen_bits(lo_bits[i]);
        r_floats hi = r_widen_bits(hi_bits[i]);
        r_side side = sides[i];
        r_floats a = side.c * lo;
        r_floats b = side.s * hi;
        lo_turned[i] = a - b;
        a = side.s * lo;
        b = side.c * hi;
        hi_turned[i] = a + b;
    }
    if (!keeps) {
        r_store_turned(head->out, lo_at, lo_turned, count);
        r_store_turned(head->out, hi_at, hi_turned, count);
    }
    for (uint i = 0u; keeps && i < count; i++) {
        r_store_kept(head->out, lo_at[i], sides[i].row, lo_bits[i], lo_turned[i]);
        r_store_kept(head->out, hi_at[i], sides[i].row, hi_bits[i], hi_turned[i]);
    }
}

// Several units, so that what is stored to one place and to the other fills cache lines: lines that are
// written by turns and in parts take nearly twice as long.
R_INLINE void r_turn_some(R_MEM const r_token *token, const r_place *place, const r_head *head, bool keeps,
                          uint first, uint last) {
    r_side sides[R_STEP];
    uint lo_at[R_STEP], hi_at[R_STEP];
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++) {
        if (first + i >= last)
            continue;
        uint word = R_TOKEN_UNIT(2u * (first + i));
        lo_at[i] = R_UNIT_LO(word);
        hi_at[i] = R_UNIT_HI(word);
        sides[i] = r_find_side(R_M token, place, first + i, 0u);
    }
    r_turn_runs(sides, lo_at, hi_at, last - first, keeps, head);
}
#endif

R_INLINE void r_pass_units(const r_head *head) {
    for (uint unit = R_RUN_PAIR_UNITS; unit < R_RUN_UNITS; unit++) {
        uint a = R_UNIT_LO(R_TOKEN_UNIT(2u * unit)), b = R_UNIT_HI(R_TOKEN_UNIT(2u * unit));
        r_store_bits(head->out, a, r_pass_bits(r_load_bits(head->in, a)));
        if (b != a)
            r_store_bits(head->out, b, r_pass_bits(r_load_bits(head->in, b)));
    }
}

R_INLINE void r_turn_head(R_MEM const r_token *token, const r_place *place, const r_head *head) {
    R_UNROLL_UNITS
    for (uint i = 0u; i < R_LAST; i += R_STEP)
        r_turn_some(R_M token, place, head, false, i, i + R_STEP < R_LAST ? i + R_STEP : R_LAST);
    r_pass_units(head);
}

// Of a token of which some pairs do not rotate. Kept small, for drivers compile long.
R_INLINE void r_turn_kept(R_MEM const r_token *token, const r_place *place, const r_head *head) {
    R_ROLLED
    for (uint i = 0u; i < R_LAST; i++)
        r_turn_some(R_M token, place, head, true, i, i + 1u);
    r_pass_units(head);
}

R_INLINE r_head r_first_head(R_MEM uint k, uint2 at) {
    return (r_head){(__global const r_in_unit *)memory->in[k] + at.x,
                    (__global r_out_unit *)memory->out[k] + at.y};
}

// Heads that are read and written at two places by turns come sooner when they were asked for in their order.
R_INLINE void r_fetch_head(const r_head *head) {
#if R_SIDES == 1 && R_OUT != R_BF16
    const uint length = 2u * R_RUN * R_RUN_UNITS;
    R_UNROLL_UNITS
    for (uint i = 0u; i < length; i += 64u / sizeof(r_in_unit))
        __builtin_prefetch(head->in + i);
    R_UNROLL_UNITS
    for (uint i = 0u; i < length; i += 64u / sizeof(r_out_unit))
        __builtin_prefetch(head->out + i, 1);
#endif
}

// A token of all tensors; `at`: for each its first element of the input and of the output.
R_INLINE void r_turn_token(R_MEM uint row_at, const uint2 *at, bool is_lone) {
    r_place place;
    r_token token;
    bool keeps = false;
    for (uint axis = 0u; axis < R_AXES; axis++) {
        place.rows[axis] = R_ROW(row_at + axis);
        place.duos[axis] = r_first_entry(R_M place.rows[axis], 0u) >> 1;
        keeps = keeps || place.rows[axis] < 0;
    }
    if (is_lone && !keeps) {
        for (uint k = 0u; k < R_SHAPE(R_TENSOR_COUNT); k++) {
            r_head head = r_first_head(R_M k, at[k]);
            r_fetch_head(&head);
        }
        for (uint k = 0u; k < R_SHAPE(R_TENSOR_COUNT); k++) {
            r_head head = r_first_head(R_M k, at[k]);
            r_turn_head(R_M 0, &place, &head);
        }
        return;
    }
    R_UNROLL_UNITS
    for (uint i = 0u; i < R_SIDES * R_RUN_PAIR_UNITS; i++)
        token.sides[i] = r_read_side(R_M & place, i / R_SIDES, i % R_SIDES);
    for (uint k = 0u; k < R_SHAPE(R_TENSOR_COUNT); k++) {
        uint tensor = R_TENSORS + k * R_TENSOR_WORDS;
        r_head head = r_first_head(R_M k, at[k]);
        for (uint i = 0u; i < R_SHAPE(tensor + R_HEADS); i++) {
            if (keeps)
                r_turn_kept(R_M & token, &place, &head);
            else
                r_turn_head(R_M & token, &place, &head);
            head.in += R_SHAPE(tensor + R_IN_HEAD_STRIDE);
            head.out += R_SHAPE(tensor + R_OUT_HEAD_STRIDE);
        }
    }
}

// What a work-group of one work-item does: a tile of all tensors, numbered as the first tensor's.
static void r_token_lane(R_MEM uint group) {
    if (group >= R_RANGE(R_RANGE_TENSORS + R_LANES))
        return;
    uint tile = group / R_SHAPE(R_TENSORS + R_SPAN);
    uint batch = group % R_SHAPE(R_TENSORS + R_SPAN);
    uint row_batch = R_RANGE(R_ROW_FIRST) + batch * R_SHAPE(R_ROW_BATCH_STRIDE);
    uint first = tile * R_SHAPE(R_TILE_TOKENS);
    uint end = min(first + R_SHAPE(R_TILE_TOKENS), R_RANGE(R_TOKENS));
    bool is_lone = true;
    for (uint k = 0u; k < R_SHAPE(R_TENSOR_COUNT); k++)
        is_lone = is_lone && R_SHAPE(R_TENSORS + k * R_TENSOR_WORDS + R_HEADS) == 1u;
    for (uint t = first; t < end; t++) {
        uint2 at[R_MAX_DISPATCH_TENSORS];
        for (uint k = 0u; k < R_SHAPE(R_TENSOR_COUNT); k++) {
            uint tensor = R_TENSORS + k * R_TENSOR_WORDS;
            uint moving = R_RANGE_TENSORS + k * R_RANGE_TENSOR_WORDS;
            at[k].x = R_RANGE(moving + R_IN_FIRST) + batch * R_SHAPE(tensor + R_IN_BATCH_STRIDE) +
                      t * R_SHAPE(tensor + R_IN_TOKEN_STRIDE);
            at[k].y = R_RANGE(moving + R_OUT_FIRST) + batch * R_SHAPE(tensor + R_OUT_BATCH_STRIDE) +
                      t * R_SHAPE(tensor + R_OUT_TOKEN_STRIDE);
        }
        r_turn_token(R_M row_batch + t * R_AXES, at, is_lone);
    }
}
