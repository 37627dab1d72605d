// SPDX-License-Identifier: MIT
//
// The kernel of tensors whose channels can be moved 16 bytes at a time: one text for GLSL and OpenCL C, over
// core.h. A lane has one vector unit (shape.h) of one token and head, in OpenCL perhaps of two, or on CPUs
// of several: their cosines and sines are read once. Neighbouring lanes have neighbouring bytes. Besides what
// core.h lists, a prelude supplies:
//
// clang-format off
//   r_uint4 r_float4 r_float2  vectors, made by R_UINT4(a, b, c, d), R_FLOAT4(a, b, c, d) and R_FLOAT2(a, b)
//   R_FLOATS_BITS(v) R_FLOATS_FROM_BITS(v)   conversions of four that keep the bits
//   R_SELECT4(c, d, e, f, a, b)   c ? a.x : b.x and so on
//   R_INT(u) R_FLOAT(i)        conversions of a value
//   R_UNPACK_HALVES(w) R_PACK_HALVES(v)   conversions by the device, used where R_CONVERTS_FLAG is; may be missing
//   r_load_run(k, i)           the words of run i of input k, the first two of a run of four 16-bit elements
//   r_store_run(k, i, words)   the same for output k
//   r_read_two(i)              table entries 2 i and 2 i + 1 as r_float4
//   R_HIGH(a, b)               the high word of a product
//   R_WITH_SLOT(k, call, ...)  call(slot, ...), with a slot that the compiler knows where that helps
//   R_CHOOSE_SLOT(k)           makes tensor k's buffers those of slot 0, where they are not one buffer
//   R_TAKES_TOKENS             defined where R_TOKENS_FLAG and R_ORDER_FLAG are known, and then
//   R_TWO_SLOTS R_HAS_BOTH     whether there may be two tensors, and there are
//   R_GROUP_LANES              lanes of a workgroup
//   R_BARRIER                  waits for all of them
//   R_FINDS_LATE               what a lane finds behind the barrier is behind a branch, too, which keeps compilers from
//                              moving it up; measured on NVIDIA's, type by type
//   R_TAKES_TWO_HEADS          defined where R_TWO_HEADS_FLAG is known
//   R_PICKS_ROWS R_RESTORES    may be defined, in OpenCL C, where pairs turn by axes of their own: see turns.h
//   R_TENSOR(k, i) R_TENSOR_RANGE(k, i)   words of tensor k
//   R_READ_UNIT(a, b, i)       sets a and b to the two words of vector unit i
//   R_STRUCT(name)             how a struct's declaration begins
//   R_FLAGS                    those of shape.h
// clang-format on

#define R_HAS_FLAG(flag) ((R_FLAGS & (flag)) != 0u)
#define R_STEP           (R_HAS_FLAG(R_ORDER_FLAG) ? R_SHAPE(R_HEAD_STEP) : 1u)
#define R_TWO_LOADS      (R_HAS_FLAG(R_EIGHT_FLAG) && R_IN == R_F32)           // to a run of eight
#define R_RUN_SHIFT      (R_HAS_FLAG(R_EIGHT_FLAG) && R_IN != R_F32 ? 3u : 2u) // log2 of a load's elements

// n divided by what src/shape.c prepared, for every n.
R_FN uint r_divide(uint n, uint magic, uint shifts) {
    uint high = R_HIGH(n, magic);
    return (high + ((n - high) >> (shifts & 1u))) >> ((shifts >> 1) & 31u);
}

// What a lane knows before it comes to a token: its unit and its first head.
R_STRUCT(r_lane) {
    uint word, pairs, a_run, b_run, a_pair, b_pair;
    uint axis;   // of the first duo
    uint b_twos; // from the first run's entries to the second's
    bool passes;
    uint head;
};

// With one run the lane loads and stores no other: what it stored must not be loaded again. (Where all units
// have but one, compilers leave out what turns the other.)
#define R_HAS_B(lane)                                                                                        \
    (!R_HAS_FLAG(R_ONE_RUN_FLAG) && (!R_HAS_FLAG(R_LONE_FLAG) || (lane).a_run != (lane).b_run))

#include "turns.h"

R_FN r_lane r_find_lane(R_MEM uint unit, uint head) {
    r_lane lane;
    R_READ_UNIT(lane.word, lane.pairs, unit)
    lane.a_run = R_UNIT_LO(lane.word) >> R_RUN_SHIFT;
    lane.b_run = R_UNIT_HI(lane.word) >> R_RUN_SHIFT;
    lane.a_pair = R_UNIT_LO(lane.pairs);
    lane.b_pair = R_UNIT_HI(lane.pairs);
    lane.axis = R_UNIT_AXIS(lane.word, 0u);
    lane.b_twos = r_pair_entry(lane.b_pair - lane.a_pair) >> 1;
    lane.passes = unit >= R_SHAPE(R_PAIR_UNITS);
    lane.head = head;
    return lane;
}

// Where the lane's heads of a tensor are, in runs.
R_STRUCT(r_heads) {
    uint in_run, out_run; // of the first of them
    uint in_step, out_step, end;
};

R_FN r_heads r_find_heads(R_MEM uint k, uint batch, uint token, uint head) {
    uint in_at = R_TENSOR_RANGE(k, R_IN_FIRST) + batch * R_TENSOR(k, R_IN_BATCH_STRIDE) +
                 token * R_TENSOR(k, R_IN_TOKEN_STRIDE) + head * R_TENSOR(k, R_IN_HEAD_STRIDE);
    uint out_at = R_TENSOR_RANGE(k, R_OUT_FIRST) + batch * R_TENSOR(k, R_OUT_BATCH_STRIDE) +
                  token * R_TENSOR(k, R_OUT_TOKEN_STRIDE) + head * R_TENSOR(k, R_OUT_HEAD_STRIDE);
    r_heads heads;
    heads.in_run = in_at >> R_RUN_SHIFT;
    heads.out_run = out_at >> R_RUN_SHIFT;
    heads.in_step = (R_TENSOR(k, R_IN_HEAD_STRIDE) >> R_RUN_SHIFT) * R_STEP;
    heads.out_step = (R_TENSOR(k, R_OUT_HEAD_STRIDE) >> R_RUN_SHIFT) * R_STEP;
    heads.end = R_TENSOR(k, R_HEADS);
    return heads;
}

// A unit's channels of one head: loaded, turned and stored. Of a run of eight the second four are in its last
// two words, or, with `two` loads to a run, in four of their own. Macros: SwiftShader moves what functions
// are given and give back.
#define R_LOAD_HEAD(two, a, a2, b, b2, k, lane, in_run)                                                      \
    a = r_load_run(R_M k, (in_run) + (lane).a_run);                                                          \
    a2 = a.zwzw;                                                                                             \
    if (two)                                                                                                 \
        a2 = r_load_run(R_M k, (in_run) + (lane).a_run + 1u);                                                \
    b = a;                                                                                                   \
    b2 = a2;                                                                                                 \
    if (R_HAS_B(lane)) {                                                                                     \
        b = r_load_run(R_M k, (in_run) + (lane).b_run);                                                      \
        b2 = b.zwzw;                                                                                         \
        if (two)                                                                                             \
            b2 = r_load_run(R_M k, (in_run) + (lane).b_run + 1u);                                            \
    }

#define R_TURN_HEAD(two, a, a2, b, b2, duos, odds, t0, t1)                                                   \
    {                                                                                                        \
        bool eight = R_HAS_FLAG(R_EIGHT_FLAG);                                                               \
        bool crosses = eight && R_HAS_FLAG(R_INTERLEAVED_FLAG);                                              \
        r_run v;                                                                                             \
        r_run w;                                                                                             \
        v.a = a;                                                                                             \
        v.b = b;                                                                                             \
        if (eight) {                                                                                         \
            w.a = a2;                                                                                        \
            w.b = b2;                                                                                        \
            if (crosses) {                                                                                   \
                v.b = a2;                                                                                    \
                w.a = b;                                                                                     \
            }                                                                                                \
            w = r_turn_eight(t1, (duos).keep2, (odds).keep2, (duos).keep3, (odds).keep3, w);                 \
        }                                                                                                    \
        v = r_turn_eight(t0, (duos).keep0, (odds).keep0, (duos).keep1, (odds).keep1, v);                     \
        a = v.a;                                                                                             \
        b = v.b;                                                                                             \
        if (eight) {                                                                                         \
            a2 = w.a;                                                                                        \
            b2 = w.b;                                                                                        \
            if (crosses) {                                                                                   \
                a2 = v.b;                                                                                    \
                b = w.a;                                                                                     \
            }                                                                                                \
            if (!two) {                                                                                      \
                a = R_UINT4(a.x, a.y, a2.x, a2.y);                                                           \
                b = R_UINT4(b.x, b.y, b2.x, b2.y);                                                           \
            }                                                                                                \
        }                                                                                                    \
    }

#define R_STORE_HEAD(two, a, a2, b, b2, k, lane, out_run)                                                    \
    r_store_run(R_M k, (out_run) + (lane).a_run, a);                                                         \
    if (two)                                                                                                 \
        r_store_run(R_M k, (out_run) + (lane).a_run + 1u, a2);                                               \
    if (R_HAS_B(lane)) {                                                                                     \
        r_store_run(R_M k, (out_run) + (lane).b_run, b);                                                     \
        if (two)                                                                                             \
            r_store_run(R_M k, (out_run) + (lane).b_run + 1u, b2);                                           \
    }

// A lane's head of one token, and in OpenCL perhaps the next one. What comes from memory is asked for before
// what is in caches, and nothing is stored before all of the group have asked: a line of memory is several
// lanes', and in place one that was written before others had read it would cost NVIDIA's caches twice.
R_FN void r_vector_token(R_MEM uint k, r_lane lane, r_heads heads, uint row_at, bool is_there) {
    r_uint4 a = R_UINT4(0u, 0u, 0u, 0u);
    r_uint4 a2 = a;
    r_uint4 b = a;
    r_uint4 b2 = a;
    if (is_there) {
        R_LOAD_HEAD(false, a, a2, b, b2, k, lane, heads.in_run)
    }
#ifdef R_TAKES_TWO_HEADS
    bool has_next = R_HAS_FLAG(R_TWO_HEADS_FLAG) && is_there && lane.head + 1u < heads.end;
    r_uint4 next_a = a;
    r_uint4 next_b = a;
    if (has_next) { // of fours: they have no a2 and b2
        R_LOAD_HEAD(false, next_a, a2, next_b, b2, k, lane, heads.in_run + heads.in_step)
    }
#endif
    R_BARRIER
    bool goes_on = true;
    if (R_FINDS_LATE)
        goes_on = is_there;
    if (goes_on) {
        r_duos duos = r_find_duos(R_M lane, row_at);
        r_duos odds = r_find_odds(R_M lane, duos, row_at);
#ifdef R_RESTORES
        bool keeps = R_KEEPS(duos) || R_KEEPS(odds);
#endif
        uint head = lane.head;
        R_FIND_TURNS(t0, t1, duos, odds)
        R_TURN_HEAD(false, a, a2, b, b2, duos, odds, t0, t1)
        if (is_there) {
#ifdef R_RESTORES
            if (keeps)
                r_restore(R_M k, lane, heads.in_run, row_at, &a, &b);
#endif
            R_STORE_HEAD(false, a, a2, b, b2, k, lane, heads.out_run)
        }
#ifdef R_TAKES_TWO_HEADS
        if (has_next) {
            head++;
            if (R_HAS_FLAG(R_HEAD_TABLE_FLAG))
                R_READ_TURNS(t0, duos, odds, 0, 1)
            a = next_a;
            b = next_b;
            R_TURN_HEAD(false, a, a2, b, b2, duos, odds, t0, t1)
#ifdef R_RESTORES
            if (keeps)
                r_restore(R_M k, lane, heads.in_run + heads.in_step, row_at, &a, &b);
#endif
            R_STORE_HEAD(false, a, a2, b, b2, k, lane, heads.out_run + heads.out_step)
        }
#endif
    }
}

#ifdef R_TAKES_TOKENS
#include "tiles.h"
#endif

// Of invocations that lie as tensors do, so that a group's bytes are in one place. A lane with several heads
// would read fewer cosines, but caches have these, and its group would have many places: two stand side by
// side.
R_FN void r_head_lane(R_MEM uint k, uint item, uint lane) {
    uint shifts = R_TENSOR(k, R_SHIFTS);
    uint place = item * R_GROUP_LANES + lane;
    uint run = r_divide(place, R_SHAPE(R_UNIT_MAGIC), R_SHAPE(R_UNIT_SHIFTS));
    uint token = r_divide(run, R_TENSOR(k, R_SPAN_MAGIC), shifts >> 8);
    uint head = run - token * R_TENSOR(k, R_SPAN);
    uint batch = r_divide(head, R_TENSOR(k, R_HEADS_MAGIC), shifts);
#ifdef R_TAKES_TWO_HEADS
    if (R_HAS_FLAG(R_TWO_HEADS_FLAG))
        head = 2u * (head - batch * ((R_TENSOR(k, R_HEADS) + 1u) >> 1));
    else
#endif
        head -= batch * R_TENSOR(k, R_HEADS);
    // Lanes past the end take their cosines as the last token's do.
    bool is_there = token < R_RANGE(R_TOKENS);
    token = min(token, R_RANGE(R_TOKENS) - 1u);
    uint row_at = R_RANGE(R_ROW_FIRST) + batch * R_SHAPE(R_ROW_BATCH_STRIDE) + token * R_SHAPE(R_ROW_AXES);
    r_lane own = r_find_lane(R_M place - run * R_SHAPE(R_UNITS), head);
    r_heads heads = r_find_heads(R_M k, batch, token, head);
    R_WITH_SLOT(k, r_vector_token, own, heads, row_at, is_there)
}

// What `lane` of a workgroup does.
R_FN void r_vector_lane(R_MEM uint group, uint lane) {
    uint k = 0u;
    for (uint i = 1u; i < R_UINT(R_MAX_DISPATCH_TENSORS); i++) {
        if (group >= R_TENSOR_RANGE(i, R_LANE_FIRST))
            k = i;
    }
    uint item = group - R_TENSOR_RANGE(k, R_LANE_FIRST);
#ifdef R_TAKES_TOKENS
    if (R_HAS_FLAG(R_TOKENS_FLAG | R_ORDER_FLAG))
        r_tile_lane(R_M k, item, lane);
    else
#endif
        r_head_lane(R_M k, item, lane);
}
