// SPDX-License-Identifier: MIT
//
// The kernel of OpenCL devices that are CPUs and compile for their vectors: a work-item has a few tokens
// whole, of all tensors, and goes through their bytes in order, wherever they lie. A token's cosines and
// sines are laid out once, as its channels lie, for all heads; tensors of one head, and what goes past the
// last cache, read the table where they go. Built with -DR_RUN, -DR_AXES, -DR_RUN_UNITS and
// -DR_RUN_PAIR_UNITS: channels of a run, row numbers of a token, units and those that rotate; -DR_WORDS where
// the units are few, their words; -DR_PART=1 where the last is of four pairs; -DR_HARDWARE=1 for the
// conversions of f16 that a processor has; -DR_CACHE: bytes in half of the last cache; -DR_AMD=1 where the
// processor is AMD's.

#if R_FLAGS & 8 // R_INTERLEAVED_FLAG: each channel has its own cosine
#define R_SIDES 2
#else
#define R_SIDES 1
#endif

// Half pairs in f32 on AMD's processors with AVX-512, measured on Zen 4: what reads the table where it goes
// turns units one by one, and out of place all heads do, one tensor of a tile after the other. Whole heads,
// of two tensors by turns, take a tenth to a third longer.
#if R_AMD && defined(__AVX512VL__) && R_SIDES == 1 && !R_IN && !R_OUT
#define R_APART true
#else
#define R_APART false
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
#if !defined(__AVX__) || !defined(R_WORDS) || R_IN != R_OUT || R_IN == 1 || R_RUN != 8 ||                    \
    R_RUN_UNITS % (R_IN == 2 ? 4 : 2) || R_RUN_UNITS != R_RUN_PAIR_UNITS
#undef R_CACHE // stores of f16 fill too little of a line
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

// The axes of a duo's pairs.
#define R_EVEN(i) R_UNIT_AXIS(word, i)
#define R_ODD(i)  (R_FLAGS & R_PAIR_AXIS_FLAG ? R_UNIT_AXIS(pairs, i) : R_EVEN(i))

// The entries of duos i and i + 1, and the rows of their pairs.
R_INLINE float8 r_read_pairs(R_MEM const r_place *place, uint word, uint pairs, uint i, uint pair,
                             int4 *rows) {
    float8 even = r_read_four(R_M place, R_EVEN(i), R_EVEN(i + 1u), pair);
    *rows = (int4)(place->rows[R_EVEN(i)], place->rows[R_ODD(i)], place->rows[R_EVEN(i + 1u)],
                   place->rows[R_ODD(i + 1u)]);
    if (R_FLAGS & R_PAIR_AXIS_FLAG) {
        float8 odd = r_read_four(R_M place, R_ODD(i), R_ODD(i + 1u), pair);
        even = (float8)(even.s01, odd.s23, even.s45, odd.s67);
    }
    return even;
}

R_INLINE r_side r_read_side(R_MEM const r_place *place, uint unit, uint run) {
    r_side side;
    int4 rows;
    uint word = R_TOKEN_UNIT(2u * unit);
    uint pairs = R_TOKEN_UNIT(2u * unit + 1u);
    uint pair = run == 0u ? R_UNIT_LO(pairs) : R_UNIT_HI(pairs);
#if R_SIDES == 2 && R_RUN == 8
    float8 four = r_read_pairs(R_M place, word, pairs, 2u * run, pair, &rows);
    side.c = four.s00224466;
    side.s = four.s11335577;
    side.row = rows.s00112233;
#elif R_SIDES == 2
    float4 two = r_read_duo(R_M place, R_EVEN(run), pair);
    if (R_FLAGS & R_PAIR_AXIS_FLAG)
        two.hi = r_read_duo(R_M place, R_ODD(run), pair).hi;
    side.c = two.s0022;
    side.s = two.s1133;
    side.row = (int4)((int2)place->rows[R_EVEN(run)], (int2)place->rows[R_ODD(run)]);
#else
    float8 four = r_read_pairs(R_M place, word, pairs, 0u, pair, &rows);
#if R_RUN == 8
    int4 more_rows;
    float8 more = r_read_pairs(R_M place, word, pairs, 2u, R_UNIT_HI(pairs), &more_rows);
    side.c = (float8)(four.even, more.even);
    side.s = (float8)(four.odd, more.odd);
    side.row = (int8)(rows, more_rows);
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

// bf16 goes two runs at a time where they lie side by side.
#if R_IN == 2 && R_OUT == 2 && R_RUN == 8
#define R_IS_BF16
#define R_ARE_TWO(at) ((at)[1] == (at)[0] + 8u && !R_IS_PART((at)[1]))
#endif

#include "token_head.h"

R_INLINE r_head r_first_head(R_MEM uint k, uint2 at) {
    return (r_head){(__global const r_in_unit *)memory->in[k] + at.x,
                    (__global r_out_unit *)memory->out[k] + at.y, false};
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
        if (!head->streams)
            __builtin_prefetch(head->out + i, 1);
#endif
}

// The heads of some tensors, with the table read where it goes. What is lone is asked for first.
R_INLINE void r_turn_reading(R_MEM const r_place *place, const uint2 *at, uint2 tensors, bool is_lone,
                             bool streams) {
    for (uint k = tensors.x; is_lone && k < tensors.y; k++) {
        r_head head = r_first_head(R_M k, at[k]);
        head.streams = streams;
        r_fetch_head(&head);
    }
#ifdef R_IS_BF16
    if (is_lone && tensors.y == 2u) { // both, for bf16 is never apart: what turns the one turns the other
        r_head heads[] = {r_first_head(R_M 0u, at[0]), r_first_head(R_M 1u, at[1])};
        heads[0].streams = heads[1].streams = streams;
        r_turn_head(R_M 0, place, heads, 2u);
        return;
    }
#endif
    for (uint k = tensors.x; k < tensors.y; k++) {
        uint tensor = R_TENSORS + k * R_TENSOR_WORDS;
        r_head head = r_first_head(R_M k, at[k]);
        head.streams = streams;
        R_ROLLED
        for (uint i = 0u; i < R_SHAPE(tensor + R_HEADS); i++) {
            r_turn_head(R_M 0, place, &head, 1u);
            head.in += R_SHAPE(tensor + R_IN_HEAD_STRIDE);
            head.out += R_SHAPE(tensor + R_OUT_HEAD_STRIDE);
        }
    }
}

// A token of tensors x to before y; `at`: for each its first element of the input and of the output.
R_INLINE void r_turn_token(R_MEM uint row_at, const uint2 *at, uint2 tensors, bool is_lone, bool is_apart,
                           bool streams) {
    r_place place;
    r_token token;
    bool keeps = false;
    for (uint axis = 0u; axis < R_AXES; axis++) {
        place.rows[axis] = R_ROW(row_at + axis);
        place.duos[axis] = r_first_entry(R_M place.rows[axis], 0u) >> 1;
        keeps = keeps || place.rows[axis] < 0;
    }
#ifdef R_CACHE
    if (streams && !keeps) {
        r_turn_reading(R_M & place, at, tensors, is_lone, true);
        return;
    }
#endif
    if ((is_lone || is_apart) && !keeps) {
        r_turn_reading(R_M & place, at, tensors, is_lone, false);
        return;
    }
    R_UNROLL_UNITS
    for (uint i = 0u; i < R_SIDES * R_RUN_PAIR_UNITS; i++)
        token.sides[i] = r_read_side(R_M & place, i / R_SIDES, i % R_SIDES);
    for (uint k = tensors.x; k < tensors.y; k++) {
        uint tensor = R_TENSORS + k * R_TENSOR_WORDS;
        r_head head = r_first_head(R_M k, at[k]);
        for (uint i = 0u; i < R_SHAPE(tensor + R_HEADS); i++) {
            if (keeps)
                r_turn_kept(R_M & token, &place, &head);
            else
                r_turn_head(R_M & token, &place, &head, 1u);
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
    ulong heads = 0u;
    for (uint k = 0u; k < R_SHAPE(R_TENSOR_COUNT); k++) {
        is_lone = is_lone && R_SHAPE(R_TENSORS + k * R_TENSOR_WORDS + R_HEADS) == 1u;
        heads += R_SHAPE(R_TENSORS + k * R_TENSOR_WORDS + R_HEADS);
    }
    bool streams = false;
#ifdef R_CACHE
    // Outputs that with their inputs are larger than the last cache go past it, where they are whole lines.
    const uint length = 2u * R_RUN * R_RUN_UNITS;
    streams = heads * R_RANGE(R_TOKENS) * R_SHAPE(R_BATCH) * length * sizeof(r_out_unit) > R_CACHE &&
              (R_IN == R_F32 || is_lone);
    for (uint k = 0u; k < R_SHAPE(R_TENSOR_COUNT); k++) {
        uint tensor = R_TENSORS + k * R_TENSOR_WORDS;
        uint moving = R_RANGE_TENSORS + k * R_RANGE_TENSOR_WORDS;
        uint steps = R_RANGE(moving + R_OUT_FIRST) | R_SHAPE(tensor + R_OUT_BATCH_STRIDE) |
                     R_SHAPE(tensor + R_OUT_TOKEN_STRIDE) | R_SHAPE(tensor + R_OUT_HEAD_STRIDE);
        streams = streams && memory->in[k] != memory->out[k] &&
                  (((ulong)memory->out[k] | sizeof(r_out_unit) * steps) & 63u) == 0u;
    }
    R_UNROLL
    for (uint i = 0u; i < R_RUN_UNITS; i++)
        streams = streams && R_TOKEN_UNIT(2u * i) << 8 == (8u * i | (8u * (i + R_RUN_UNITS)) << 12) << 8;
#endif
    bool is_apart = R_APART && !is_lone && memory->in[0] != memory->out[0];
    uint step = is_apart ? 1u : R_SHAPE(R_TENSOR_COUNT);
    for (uint from = 0u; from < R_SHAPE(R_TENSOR_COUNT); from += step) {
        for (uint t = first; t < end; t++) {
            uint2 at[R_MAX_DISPATCH_TENSORS];
            for (uint k = from; k < from + step; k++) {
                uint tensor = R_TENSORS + k * R_TENSOR_WORDS;
                uint moving = R_RANGE_TENSORS + k * R_RANGE_TENSOR_WORDS;
                at[k].x = R_RANGE(moving + R_IN_FIRST) + batch * R_SHAPE(tensor + R_IN_BATCH_STRIDE) +
                          t * R_SHAPE(tensor + R_IN_TOKEN_STRIDE);
                at[k].y = R_RANGE(moving + R_OUT_FIRST) + batch * R_SHAPE(tensor + R_OUT_BATCH_STRIDE) +
                          t * R_SHAPE(tensor + R_OUT_TOKEN_STRIDE);
            }
            r_turn_token(R_M row_batch + t * R_AXES, at, (uint2)(from, from + step), is_lone, is_apart,
                         streams);
        }
    }
#ifdef R_CACHE
    if (streams)
        __builtin_ia32_sfence();
#endif
}
