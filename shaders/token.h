// SPDX-License-Identifier: MIT
//
// The kernel of OpenCL devices that are CPUs and compile for their vectors: a work-item has a few tokens
// whole, and goes through their bytes in order. A token's cosines and sines are laid out once, as its
// channels lie, for all heads. Built with -DR_RUN, -DR_PAIRS, -DR_RUN_UNITS and -DR_RUN_PAIR_UNITS: channels
// of a run, pairs, units and those that rotate.

#define R_JOIN_(a, b)  a##b
#define R_JOIN(a, b)   R_JOIN_(a, b)
#define r_floats       R_JOIN(float, R_RUN)
#define r_uints        R_JOIN(uint, R_RUN)
#define r_ints         R_JOIN(int, R_RUN)
#define r_halves       R_JOIN(ushort, R_RUN)
#define r_vload        R_JOIN(vload, R_RUN)
#define r_vstore       R_JOIN(vstore, R_RUN)
#define r_as_floats    R_JOIN(as_, r_floats)
#define r_as_uints     R_JOIN(as_, r_uints)
#define r_as_ints      R_JOIN(as_, r_ints)
#define r_to_uints(v)  __builtin_convertvector(v, r_uints)
#define r_to_halves(v) __builtin_convertvector(v, r_halves)

#if R_FLAGS & 8 // R_INTERLEAVED_FLAG: each channel has its own copy, the los' sines negative
#define R_COPIES 2
#else
#define R_COPIES 1
#endif

typedef struct r_token {
    float cosines[R_COPIES * R_PAIRS];
    float sines[R_COPIES * R_PAIRS];
    int keeps[R_COPIES * R_PAIRS]; // -1 where a pair does not rotate
    bool has_keeps;
} r_token;

static r_uints r_load_bits(__global const uint *in, uint at) {
#if R_IN == 0
    return r_vload(0, in + at);
#else
    return r_to_uints(r_vload(0, (__global const ushort *)in + at));
#endif
}

static void r_store_bits(__global uint *out, uint at, r_uints bits) {
#if R_OUT == 0
    r_vstore(bits, 0, out + at);
#else
    r_vstore(r_to_halves(bits), 0, (__global ushort *)out + at);
#endif
}

// As arithmetic.h has them, for vectors.
static r_uints r_widen_bits(r_uints h) {
#if R_IN == 1
    r_uints rest = h & 0x7fffu;
    r_uints small = r_as_uints(r_as_floats(rest + 0x3f000000u) - 0.5f);
    r_uints large = (rest << 13) + (rest >= 0x7c00u ? (r_uints)0x70000000u : (r_uints)0x38000000u);
    return ((h & 0x8000u) << 16) | (rest < 0x400u ? small : large);
#elif R_IN == 2
    return h << 16;
#else
    return h;
#endif
}

static r_uints r_narrow_bits(r_uints f) {
#if R_OUT == 1
    r_uints rest = f & 0x7fffffffu;
    r_uints small = r_as_uints(r_as_floats(rest) + 0.5f) - 0x3f000000u;
    r_uints large = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;
    r_uints number = rest < 0x38800000u ? small : (large < 0x7c00u ? large : (r_uints)0x7c00u);
    r_uints nan = 0x7e00u | ((rest >> 13) & 0x3ffu);
    return ((f >> 16) & 0x8000u) | (rest > 0x7f800000u ? nan : number);
#elif R_OUT == 2
    r_uints rounded = (f + 0x7fffu + ((f >> 16) & 1u)) >> 16;
    return (f & 0x7fffffffu) > 0x7f800000u ? (f >> 16) | 0x40u : rounded;
#else
    return f;
#endif
}

static r_uints r_pass_bits(r_uints bits) {
#if R_IN == R_OUT
    return bits;
#else
    return r_narrow_bits(r_widen_bits(bits));
#endif
}

// first + second, or what was there before.
static r_uints r_sum_bits(const r_token *token, bool has_keeps, uint at, r_uints bits, r_floats first,
                          r_floats second) {
    r_uints turned = r_narrow_bits(r_as_uints(first + second));
    if (has_keeps)
        turned = r_vload(0, token->keeps + at) < 0 ? r_pass_bits(bits) : turned;
    return turned;
}

static void r_read_duo(R_MEM uint row_at, uint axis, uint pair, r_token *token) {
    int row = R_ROW(row_at + axis);
    float4 two = r_read_two(R_M r_first_entry(R_M row, 0u) + pair);
    uint at = R_COPIES * pair;
    int keep = row < 0 ? -1 : 0;
    token->has_keeps = token->has_keeps || row < 0;
#if R_COPIES == 2
    vstore4(two.xxzz, 0, token->cosines + at);
    vstore4((float4)(-two.y, two.y, -two.w, two.w), 0, token->sines + at);
    vstore4((int4)(keep), 0, token->keeps + at);
#else
    vstore2(two.xz, 0, token->cosines + at);
    vstore2(two.yw, 0, token->sines + at);
    vstore2((int2)(keep), 0, token->keeps + at);
#endif
}

// Four pairs that turn by the same axis, at once.
static void r_read_four(R_MEM uint row_at, uint axis, uint pair, r_token *token) {
    int row = R_ROW(row_at + axis);
    uint entry = r_first_entry(R_M row, 0u) + pair;
    float8 four = (float8)(r_read_two(R_M entry), r_read_two(R_M entry + 2u));
    uint at = R_COPIES * pair;
    int keep = row < 0 ? -1 : 0;
    token->has_keeps = token->has_keeps || row < 0;
#if R_COPIES == 2
    vstore8(four.s00224466, 0, token->cosines + at);
    vstore8(four.s11335577 * (float8)(-1.0f, 1.0f, -1.0f, 1.0f, -1.0f, 1.0f, -1.0f, 1.0f), 0,
            token->sines + at);
    vstore8((int8)(keep), 0, token->keeps + at);
#else
    vstore4(four.even, 0, token->cosines + at);
    vstore4(four.odd, 0, token->sines + at);
    vstore4((int4)(keep), 0, token->keeps + at);
#endif
}

static void r_read_side(R_MEM uint row_at, uint word, uint first, uint pair, r_token *token) {
    if (R_RUN == 8 && R_UNIT_AXIS(word, first) == R_UNIT_AXIS(word, first + 1u)) {
        r_read_four(R_M row_at, R_UNIT_AXIS(word, first), pair, token);
        return;
    }
    for (uint i = 0u; i < R_RUN / 4u; i++)
        r_read_duo(R_M row_at, R_UNIT_AXIS(word, first + i), pair + 2u * i, token);
}

static void r_read_token(R_MEM uint row_at, r_token *token) {
    token->has_keeps = false;
    for (uint unit = 0u; unit < R_RUN_PAIR_UNITS; unit++) {
        uint word = R_UNIT(2u * unit);
        uint pairs = R_UNIT(2u * unit + 1u);
        r_read_side(R_M row_at, word, 0u, R_UNIT_LO(pairs), token);
        r_read_side(R_M row_at, word, R_RUN / 4u, R_UNIT_HI(pairs), token);
    }
}

#if R_COPIES == 2
static void r_turn_run(const r_token *token, bool has_keeps, __global const uint *in, __global uint *out,
                       uint at, uint out_at, uint pair) {
    r_uints bits = r_load_bits(in, at);
    r_floats v = r_as_floats(r_widen_bits(bits));
#if R_RUN == 8
    r_floats other = v.s10325476;
#else
    r_floats other = v.s1032;
#endif
    r_floats first = v * r_vload(0, token->cosines + 2u * pair);
    r_floats second = other * r_vload(0, token->sines + 2u * pair);
    r_store_bits(out, out_at, r_sum_bits(token, has_keeps, 2u * pair, bits, first, second));
}
#endif

static void r_turn_head(R_MEM const r_token *token, bool has_keeps, uint in_at, uint out_at) {
    __global const uint *in = memory->in[0];
    __global uint *out = memory->out[0];
    for (uint unit = 0u; unit < R_RUN_PAIR_UNITS; unit++) {
        uint word = R_UNIT(2u * unit);
        uint pairs = R_UNIT(2u * unit + 1u);
        uint a = R_UNIT_LO(word);
        uint b = R_UNIT_HI(word);
#if R_COPIES == 2
        r_turn_run(token, has_keeps, in, out, in_at + a, out_at + a, R_UNIT_LO(pairs));
        if (b != a)
            r_turn_run(token, has_keeps, in, out, in_at + b, out_at + b, R_UNIT_HI(pairs));
#else
        uint pair = R_UNIT_LO(pairs);
        r_uints lo_bits = r_load_bits(in, in_at + a);
        r_uints hi_bits = r_load_bits(in, in_at + b);
        r_floats lo = r_as_floats(r_widen_bits(lo_bits));
        r_floats hi = r_as_floats(r_widen_bits(hi_bits));
        r_floats c = r_vload(0, token->cosines + pair);
        r_floats s = r_vload(0, token->sines + pair);
        r_floats product = s * hi;
        r_store_bits(out, out_at + a, r_sum_bits(token, has_keeps, pair, lo_bits, c * lo, -product));
        r_store_bits(out, out_at + b, r_sum_bits(token, has_keeps, pair, hi_bits, s * lo, c * hi));
#endif
    }
    for (uint unit = R_RUN_PAIR_UNITS; unit < R_RUN_UNITS; unit++) {
        uint word = R_UNIT(2u * unit);
        uint a = R_UNIT_LO(word);
        uint b = R_UNIT_HI(word);
        r_store_bits(out, out_at + a, r_pass_bits(r_load_bits(in, in_at + a)));
        if (b != a)
            r_store_bits(out, out_at + b, r_pass_bits(r_load_bits(in, in_at + b)));
    }
}

// What a work-group of one work-item does.
static void r_token_lane(R_MEM uint group) {
    r_token token;
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
    uint first = tile * R_SHAPE(R_TILE_TOKENS);
    uint end = min(first + R_SHAPE(R_TILE_TOKENS), R_RANGE(R_TOKENS));
    r_choose_slot(memory, k);
    for (uint t = first; t < end; t++) {
        uint in_at = in_batch + t * R_SHAPE(tensor + R_IN_TOKEN_STRIDE);
        uint out_at = out_batch + t * R_SHAPE(tensor + R_OUT_TOKEN_STRIDE);
        r_read_token(R_M R_RANGE(R_ROW_FIRST) + batch * R_SHAPE(R_ROW_BATCH_STRIDE) + t * R_SHAPE(R_ROW_AXES),
                     &token);
        for (uint head = 0u; head < R_SHAPE(tensor + R_HEADS); head++) {
            if (token.has_keeps) // a constant each time
                r_turn_head(R_M & token, true, in_at, out_at);
            else
                r_turn_head(R_M & token, false, in_at, out_at);
            in_at += R_SHAPE(tensor + R_IN_HEAD_STRIDE);
            out_at += R_SHAPE(tensor + R_OUT_HEAD_STRIDE);
        }
    }
}
