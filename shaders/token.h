// SPDX-License-Identifier: MIT
//
// The kernel of OpenCL devices that are CPUs and compile for their vectors: a work-item has a few tokens
// whole, and goes through their bytes in order. A token's cosines and sines are laid out once, as its
// channels lie, for all heads; one head alone reads the table where it goes. Built with -DR_RUN, -DR_AXES,
// -DR_RUN_UNITS and -DR_RUN_PAIR_UNITS: channels of a run, row numbers of a token, units and those that
// rotate; -DR_WORDS where the units are few, their words; -DR_HARDWARE=1 for the conversions of f16 that a
// processor has.

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
#else
typedef r_halves r_out;
typedef ushort r_out_unit;
#endif
typedef r_in r_in_memory __attribute__((aligned(4)));
typedef r_out r_out_memory __attribute__((aligned(4)));

// As arithmetic.h has them, for vectors.
static r_floats r_widen_bits(r_in bits) {
#if R_IN == 1 && R_HARDWARE
    typedef __fp16 r_numbers __attribute__((ext_vector_type(R_RUN)));
    union {
        r_in bits;
        r_numbers numbers;
    } same = {bits};
    return r_convert_to(same.numbers, r_floats);
#elif R_IN == 1
    r_uints h = r_convert_to(bits, r_uints);
    r_uints rest = h & 0x7fffu;
    r_uints small = r_as_uints(r_as_floats(rest + 0x3f000000u) - 0.5f);
    r_uints large = (rest << 13) + (rest >= 0x7c00u ? (r_uints)0x70000000u : (r_uints)0x38000000u);
    return r_as_floats(((h & 0x8000u) << 16) | (rest < 0x400u ? small : large));
#elif R_IN == 2
    return r_as_floats(r_convert_to(bits, r_uints) << 16);
#else
    return r_as_floats(bits);
#endif
}

static r_out r_narrow_bits(r_floats value) {
    r_uints f = r_as_uints(value);
#if R_OUT == 1 && R_HARDWARE
    return as_ushort8(__builtin_ia32_vcvtps2ph256(value, 0)); // to nearest even, whatever the thread's mode
#elif R_OUT == 1
    r_uints rest = f & 0x7fffffffu;
    r_uints small = r_as_uints(r_as_floats(rest) + 0.5f) - 0x3f000000u;
    r_uints large = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;
    r_uints number = rest < 0x38800000u ? small : (large < 0x7c00u ? large : (r_uints)0x7c00u);
    r_uints nan = 0x7e00u | ((rest >> 13) & 0x3ffu);
    return r_convert_to(((f >> 16) & 0x8000u) | (rest > 0x7f800000u ? nan : number), r_halves);
#elif R_OUT == 2
    r_uints rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
    return r_convert_to(value != value ? (f >> 16) | 0x40u : rounded, r_halves);
#else
    return f;
#endif
}

#if R_HARDWARE && R_IN == 1
// What these are judged by before a plan may use them.
__kernel void rope2d_widen(__global const ushort *in, __global uint *out) {
    size_t at = 8 * get_global_id(0);
    vstore8(as_uint8(r_widen_bits(vload8(0, in + at))), 0, out + at);
}
#endif
#if R_HARDWARE && R_OUT == 1
__kernel void rope2d_narrow(__global const uint *in, __global ushort *out) {
    size_t at = 8 * get_global_id(0);
    vstore8(r_narrow_bits(as_float8(vload8(0, in + at))), 0, out + at);
}
#endif

static r_out r_pass_bits(r_in bits) {
#if R_IN == R_OUT
    return bits;
#else
    return r_narrow_bits(r_widen_bits(bits));
#endif
}

// What a token's axes turn by: row numbers, negative where they do not, and where these rows begin, in duos.
typedef struct r_place {
    int rows[R_AXES];
    uint duos[R_AXES];
} r_place;

// Cosines and sines of a run of channels. Interleaved, the los' sines are negative.
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
#if R_TEXTURE
    return r_read_texel(R_M place->duos[axis] + (pair >> 1));
#else
    return (table + place->duos[axis])[pair >> 1];
#endif
}

R_INLINE float8 r_read_four(R_MEM const r_place *place, uint first, uint second, uint pair) {
    return (float8)(r_read_duo(R_M place, first, pair), r_read_duo(R_M place, second, pair + 2u));
}

R_INLINE r_side r_read_side(R_MEM const r_place *place, uint unit, uint run) {
    r_side side;
    uint word = R_TOKEN_UNIT(2u * unit);
    uint pairs = R_TOKEN_UNIT(2u * unit + 1u);
    uint pair = run == 0u ? R_UNIT_LO(pairs) : R_UNIT_HI(pairs);
#if R_SIDES == 2 && R_RUN == 8
    uint a = R_UNIT_AXIS(word, 2u * run);
    uint b = R_UNIT_AXIS(word, 2u * run + 1u);
    float8 four = r_read_four(R_M place, a, b, pair);
    side.c = four.s00224466;
    side.s = four.s11335577 * (float8)(-1.0f, 1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f, 1.0f);
    side.row = (int8)((int4)place->rows[a], (int4)place->rows[b]);
#elif R_SIDES == 2
    uint a = R_UNIT_AXIS(word, run);
    float4 two = r_read_duo(R_M place, a, pair);
    side.c = two.s0022;
    side.s = two.s1133 * (float4)(-1.0f, 1.0f, -1.0f, 1.0f);
    side.row = (int4)place->rows[a];
#else
    uint a = R_UNIT_AXIS(word, 0u);
    uint b = R_UNIT_AXIS(word, 1u);
    float8 four = r_read_four(R_M place, a, b, pair);
    int4 rows = (int4)((int2)place->rows[a], (int2)place->rows[b]);
#if R_RUN == 8
    uint c = R_UNIT_AXIS(word, 2u);
    uint d = R_UNIT_AXIS(word, 3u);
    float8 more = r_read_four(R_M place, c, d, pair + 4u);
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

// first + second, or what was there before.
R_INLINE r_out r_sum_bits(r_ints row, bool has_keeps, r_in bits, r_floats first, r_floats second) {
    r_out turned = r_narrow_bits(first + second);
    if (!has_keeps)
        return turned;
#if R_OUT == 0
    return row < 0 ? r_pass_bits(bits) : turned;
#else
    return r_convert_to(row < 0, r_shorts) != (short)0 ? r_pass_bits(bits) : turned;
#endif
}

R_INLINE r_in r_load_bits(__global const r_in_unit *in, uint at) {
    return *(__global const r_in_memory *)(in + at);
}

R_INLINE void r_store_bits(__global r_out_unit *out, uint at, r_out bits) {
    *(__global r_out_memory *)(out + at) = bits;
}

#if R_SIDES == 2
#define R_LAST (2u * R_RUN_PAIR_UNITS)

// All first runs, then all second ones, which are the channels in order.
R_INLINE void r_turn_some(R_MEM const r_token *token, bool has_keeps, const r_place *place,
                          __global const r_in_unit *in, __global r_out_unit *out, uint i) {
    uint run = i < R_RUN_PAIR_UNITS ? 0u : 1u;
    uint unit = i - run * R_RUN_PAIR_UNITS;
    uint word = R_TOKEN_UNIT(2u * unit);
    uint at = run == 0u ? R_UNIT_LO(word) : R_UNIT_HI(word);
    if (run == 1u && at == R_UNIT_LO(word)) // has no second
        return;
    r_side side = r_find_side(R_M token, place, unit, run);
    r_in bits = r_load_bits(in, at);
    r_floats v = r_widen_bits(bits);
#if R_RUN == 8
    r_floats other = v.s10325476;
#else
    r_floats other = v.s1032;
#endif
    r_floats first = v * side.c;
    r_floats second = other * side.s;
    r_store_bits(out, at, r_sum_bits(side.row, has_keeps, bits, first, second));
}
#define R_STEP 1u
#else
#define R_LAST R_RUN_PAIR_UNITS
#define R_STEP (R_OUT == R_F32 ? 4u : 2u)

// Several units, so that what is stored to one place and to the other fills cache lines: lines that are
// written by turns and in parts take nearly twice as long.
R_INLINE void r_turn_some(R_MEM const r_token *token, bool has_keeps, const r_place *place,
                          __global const r_in_unit *in, __global r_out_unit *out, uint unit) {
    r_in lo_bits[4], hi_bits[4];
    r_out lo_out[4], hi_out[4];
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++)
        if (unit + i < R_RUN_PAIR_UNITS)
            lo_bits[i] = r_load_bits(in, R_UNIT_LO(R_TOKEN_UNIT(2u * (unit + i))));
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++)
        if (unit + i < R_RUN_PAIR_UNITS)
            hi_bits[i] = r_load_bits(in, R_UNIT_HI(R_TOKEN_UNIT(2u * (unit + i))));
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++) {
        if (unit + i >= R_RUN_PAIR_UNITS)
            continue;
        r_side side = r_find_side(R_M token, place, unit + i, 0u);
        r_floats lo = r_widen_bits(lo_bits[i]);
        r_floats hi = r_widen_bits(hi_bits[i]);
        r_floats product = side.s * hi;
        lo_out[i] = r_sum_bits(side.row, has_keeps, lo_bits[i], side.c * lo, -product);
        hi_out[i] = r_sum_bits(side.row, has_keeps, hi_bits[i], side.s * lo, side.c * hi);
    }
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++)
        if (unit + i < R_RUN_PAIR_UNITS)
            r_store_bits(out, R_UNIT_LO(R_TOKEN_UNIT(2u * (unit + i))), lo_out[i]);
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++)
        if (unit + i < R_RUN_PAIR_UNITS)
            r_store_bits(out, R_UNIT_HI(R_TOKEN_UNIT(2u * (unit + i))), hi_out[i]);
}
#endif

R_INLINE void r_turn_head(R_MEM const r_token *token, bool has_keeps, const r_place *place, uint in_at,
                          uint out_at) {
    __global const r_in_unit *in = (__global const r_in_unit *)memory->in[0] + in_at;
    __global r_out_unit *out = (__global r_out_unit *)memory->out[0] + out_at;
    R_UNROLL_UNITS
    for (uint i = 0u; i < R_LAST; i += R_STEP)
        r_turn_some(R_M token, has_keeps, place, in, out, i);
    for (uint unit = R_RUN_PAIR_UNITS; unit < R_RUN_UNITS; unit++) {
        uint a = R_UNIT_LO(R_TOKEN_UNIT(2u * unit));
        uint b = R_UNIT_HI(R_TOKEN_UNIT(2u * unit));
        r_store_bits(out, a, r_pass_bits(r_load_bits(in, a)));
        if (b != a)
            r_store_bits(out, b, r_pass_bits(r_load_bits(in, b)));
    }
}

R_INLINE void r_turn_token(R_MEM uint tensor, uint row_at, uint in_at, uint out_at) {
    r_place place;
    r_token token;
    bool has_keeps = false;
    for (uint axis = 0u; axis < R_AXES; axis++) {
        place.rows[axis] = R_ROW(row_at + axis);
        place.duos[axis] = r_first_entry(R_M place.rows[axis], 0u) >> 1;
        has_keeps = has_keeps || place.rows[axis] < 0;
    }
    if (!has_keeps && R_SHAPE(tensor + R_HEADS) == 1u) {
        r_turn_head(R_M 0, false, &place, in_at, out_at);
        return;
    }
    R_UNROLL_UNITS
    for (uint i = 0u; i < R_SIDES * R_RUN_PAIR_UNITS; i++)
        token.sides[i] = r_read_side(R_M & place, i / R_SIDES, i % R_SIDES);
    for (uint head = 0u; head < R_SHAPE(tensor + R_HEADS); head++) {
        if (has_keeps) // a constant each time
            r_turn_head(R_M & token, true, &place, in_at, out_at);
        else
            r_turn_head(R_M & token, false, &place, in_at, out_at);
        in_at += R_SHAPE(tensor + R_IN_HEAD_STRIDE);
        out_at += R_SHAPE(tensor + R_OUT_HEAD_STRIDE);
    }
}

// What a work-group of one work-item does.
static void r_token_lane(R_MEM uint group) {
    uint k = 0u;
    for (uint i = 1u; i < R_SHAPE(R_TENSOR_COUNT); i++) {
        if (group >= R_RANGE(R_RANGE_TENSORS + i * R_RANGE_TENSOR_WORDS + R_LANE_FIRST))
            k = i;
    }
    uint tensor = R_TENSORS + k * R_TENSOR_WORDS;
    uint moving = R_RANGE_TENSORS + k * R_RANGE_TENSOR_WORDS;
    uint item = group - R_RANGE(moving + R_LANE_FIRST);
    if (item >= R_RANGE(moving + R_LANES))
        return;
    uint tile = item / R_SHAPE(tensor + R_SPAN);
    uint batch = item % R_SHAPE(tensor + R_SPAN);
    uint in_batch = R_RANGE(moving + R_IN_FIRST) + batch * R_SHAPE(tensor + R_IN_BATCH_STRIDE);
    uint out_batch = R_RANGE(moving + R_OUT_FIRST) + batch * R_SHAPE(tensor + R_OUT_BATCH_STRIDE);
    uint row_batch = R_RANGE(R_ROW_FIRST) + batch * R_SHAPE(R_ROW_BATCH_STRIDE);
    uint first = tile * R_SHAPE(R_TILE_TOKENS);
    uint end = min(first + R_SHAPE(R_TILE_TOKENS), R_RANGE(R_TOKENS));
    r_choose_slot(memory, k);
    for (uint t = first; t < end; t++)
        r_turn_token(R_M tensor, row_batch + t * R_AXES, in_batch + t * R_SHAPE(tensor + R_IN_TOKEN_STRIDE),
                     out_batch + t * R_SHAPE(tensor + R_OUT_TOKEN_STRIDE));
}
