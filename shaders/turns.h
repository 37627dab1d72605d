// SPDX-License-Identifier: MIT
//
// What turns the pairs of vector units, for vector.h: where their cosines and sines are in the table, and
// eight channels turned by them.

// Twice four channels, in words that hold one or two each; of 16-bit elements the first two words count.
R_STRUCT(r_run) {
    r_uint4 a, b;
};

// The cosines and sines of four pairs.
R_STRUCT(r_turns) {
    r_float4 lo_c, lo_s, hi_c, hi_s;
};

// Two pairs whose entries stand side by side, `two` * 2 on; `keep`: they do not rotate. Factored: `two` is
// within a row.
R_STRUCT(r_duo) {
    uint two;
    bool keep;
};

R_FN uint r_pair_entry(uint pair) {
    return R_HAS_FLAG(R_TWO_ANGLES_FLAG) ? 2u * pair : pair;
}

#ifdef R_PICKS_ROWS
// The rows of all axes are read, whose number is not known, and one is taken: an address for each pair takes
// NVIDIA's compiler more than the 40 registers with which three quarters of a processor's lanes have room.
R_FN r_duo r_find_duo(R_MEM uint row_at, uint axis, uint pair, bool passes) {
    uint last = R_SHAPE(R_ROW_AXES) - 1u;
    int4 rows = (int4)(R_ROW(row_at), R_ROW(row_at + min(1u, last)), R_ROW(row_at + min(2u, last)),
                       R_ROW(row_at + last));
    uint4 at = min(as_uint4(rows), (uint4)(R_SHAPE(R_TABLE_ROWS) - 1u)) * (R_SHAPE(R_TABLE_ROW_STRIDE) >> 1);
    uint4 signs = as_uint4(rows) >> 31 << (uint4)(0u, 1u, 2u, 3u);
    uint keeps = signs.x | signs.y | signs.z | signs.w;
    at.x = axis & 1u ? at.y : at.x;
    at.z = axis & 1u ? at.w : at.z;
    r_duo duo;
    duo.two = (axis & 2u ? at.z : at.x) + (r_pair_entry(pair) >> 1);
    duo.keep = passes || (keeps >> axis & 1u) != 0u;
    return duo;
}
#else
R_FN r_duo r_find_duo(R_MEM uint row_at, uint axis, uint pair, bool passes) {
    r_duo duo;
    int row = R_ROW(row_at + axis);
    uint entry = r_pair_entry(pair);
    if (R_HAS_FLAG(R_FACTORED_FLAG)) {
        for (uint f = 1u; f < R_SHAPE(R_FACTORS); f++) {
            int other = R_ROW(row_at + f);
            row = other > row ? other : row;
        }
    } else {
        entry += min(R_UINT(row), R_SHAPE(R_TABLE_ROWS) - 1u) * R_SHAPE(R_TABLE_ROW_STRIDE);
    }
    duo.two = entry >> 1;
    duo.keep = passes || row < 0;
    return duo;
}
#endif

// The duos of a lane's unit at a token. No struct in a struct: Rusticl keeps such in memory.
R_STRUCT(r_duos) {
    uint two0, two1, two2, two3;
    bool keep0, keep1, keep2, keep3;
};

// Each by an axis of its own.
R_FN r_duos r_find_four(R_MEM r_lane lane, uint axes, uint row_at) {
    bool eight = R_HAS_FLAG(R_EIGHT_FLAG);
    r_duo d0 = r_find_duo(R_M row_at, R_UNIT_AXIS(axes, 0u), lane.a_pair, lane.passes);
    r_duo d1 =
        r_find_duo(R_M row_at, R_UNIT_AXIS(axes, 1u), eight ? lane.a_pair + 2u : lane.b_pair, lane.passes);
    r_duo d2 = d0, d3 = d1;
    if (eight) {
        d2 = r_find_duo(R_M row_at, R_UNIT_AXIS(axes, 2u), lane.b_pair, lane.passes);
        d3 = r_find_duo(R_M row_at, R_UNIT_AXIS(axes, 3u), lane.b_pair + 2u, lane.passes);
    }
    r_duos duos;
    duos.two0 = d0.two;
    duos.two1 = d1.two;
    duos.two2 = d2.two;
    duos.two3 = d3.two;
    duos.keep0 = d0.keep;
    duos.keep1 = d1.keep;
    duos.keep2 = d2.keep;
    duos.keep3 = d3.keep;
    return duos;
}

R_FN r_duos r_find_duos(R_MEM r_lane lane, uint row_at) {
    r_duos duos;
    if (R_HAS_FLAG(R_ONE_AXIS_FLAG | R_RUN_AXIS_FLAG)) {
        r_duo d0 = r_find_duo(R_M row_at, lane.axis, lane.a_pair, lane.passes);
        duos.two0 = d0.two;
        duos.two1 = d0.two + r_pair_entry(1u);
        duos.two2 = d0.two + lane.b_twos;
        duos.keep0 = d0.keep;
        duos.keep2 = d0.keep;
        if (!R_HAS_FLAG(R_ONE_AXIS_FLAG)) {
            r_duo d2 = r_find_duo(R_M row_at, R_UNIT_AXIS(lane.word, 2u), lane.b_pair, lane.passes);
            duos.two2 = d2.two;
            duos.keep2 = d2.keep;
        } else if (!R_HAS_FLAG(R_EIGHT_FLAG)) {
            duos.two1 = duos.two2;
        }
        duos.two3 = duos.two2 + r_pair_entry(1u);
        duos.keep1 = duos.keep0;
        duos.keep3 = duos.keep2;
    } else {
        duos = r_find_four(R_M lane, lane.word, row_at);
    }
    return duos;
}

// What the second pairs of duos have, where they turn by axes of their own.
R_FN r_duos r_find_odds(R_MEM r_lane lane, r_duos duos, uint row_at) {
    r_duos odds = duos;
    if (R_HAS_FLAG(R_PAIR_AXIS_FLAG))
        odds = r_find_four(R_M lane, lane.pairs, row_at);
    return odds;
}

R_FN r_float4 r_multiply_two(r_float4 a, r_float4 b) {
    return R_FLOAT4(r_turn_lo(b.x, b.y, a.x, a.y), r_turn_hi(b.x, b.y, a.x, a.y),
                    r_turn_lo(b.z, b.w, a.z, a.w), r_turn_hi(b.z, b.w, a.z, a.w));
}

// Here and below every function has one return: several make loops of what drivers inline.
R_FN r_float4 r_find_two(R_MEM uint row_at, uint two, uint head) {
    r_float4 found = R_FLOAT4(1.0f, 0.0f, 1.0f, 0.0f);
    if (R_HAS_FLAG(R_FACTORED_FLAG)) {
        bool is_first = true;
        for (uint f = 0u; f < R_SHAPE(R_FACTORS); f++) {
            int row = R_ROW(row_at + f);
            if (row >= 0) {
                uint first = r_first_entry(R_M row, head) + f * R_SHAPE(R_TABLE_FACTOR_STRIDE);
                r_float4 factor = r_read_two(R_M two + (first >> 1));
                found = is_first ? factor : r_multiply_two(found, factor);
                is_first = false;
            }
        }
    } else if (R_HAS_FLAG(R_HEAD_TABLE_FLAG)) {
        found = r_read_two(R_M two + head * (R_SHAPE(R_TABLE_HEAD_STRIDE) >> 1));
    } else {
        found = r_read_two(R_M two);
    }
    return found;
}

// What turns the pairs of duos i and j, R_TWO_ANGLES_FLAG being 1. A macro: LLVM 14 marks what a function
// returns in memory as it inlines it, by a call that Oclgrind 21.10 does not know.
#define R_READ_TURNS(turns, duos, odds, i, j)                                                                \
    {                                                                                                        \
        r_float4 e0 = r_find_two(R_M row_at, duos.two##i, head);                                             \
        r_float4 e1 = r_find_two(R_M row_at, duos.two##j, head);                                             \
        r_float4 f0 = e0;                                                                                    \
        r_float4 f1 = e1;                                                                                    \
        if (R_HAS_FLAG(R_TWO_ANGLES_FLAG | R_PAIR_AXIS_FLAG)) {                                              \
            uint next = R_FLAGS & R_TWO_ANGLES_FLAG;                                                         \
            f0 = r_find_two(R_M row_at, odds.two##i + next, head);                                           \
            f1 = r_find_two(R_M row_at, odds.two##j + next, head);                                           \
        }                                                                                                    \
        if (R_HAS_FLAG(R_TWO_ANGLES_FLAG)) {                                                                 \
            turns.lo_c = R_FLOAT4(e0.x, f0.x, e1.x, f1.x);                                                   \
            turns.lo_s = R_FLOAT4(e0.y, f0.y, e1.y, f1.y);                                                   \
            turns.hi_c = R_FLOAT4(e0.z, f0.z, e1.z, f1.z);                                                   \
            turns.hi_s = R_FLOAT4(e0.w, f0.w, e1.w, f1.w);                                                   \
        } else {                                                                                             \
            turns.lo_c = R_FLOAT4(e0.x, f0.z, e1.x, f1.z);                                                   \
            turns.lo_s = R_FLOAT4(e0.y, f0.w, e1.y, f1.w);                                                   \
            turns.hi_c = turns.lo_c;                                                                         \
            turns.hi_s = turns.lo_s;                                                                         \
        }                                                                                                    \
    }

// What turns them.
#define R_FIND_TURNS(t0, t1, duos, odds)                                                                     \
    r_turns t0;                                                                                              \
    R_READ_TURNS(t0, duos, odds, 0, 1)                                                                       \
    r_turns t1 = t0;                                                                                         \
    if (R_HAS_FLAG(R_EIGHT_FLAG))                                                                            \
    R_READ_TURNS(t1, duos, odds, 2, 3)

#include "words.h"

// Numbers that do not rotate keep their bits, and are converted where the type changes.
R_FN r_uint4 r_finish_four(bool keep0, bool keep1, bool keep2, bool keep3, r_uint4 words, r_float4 value,
                           r_float4 turned) {
    r_uint4 bits = R_FLOATS_BITS(turned);
    r_uint4 done;
    if (R_IN != R_OUT) {
        bits = R_SELECT4(keep0, keep1, keep2, keep3, R_FLOATS_BITS(value), bits);
        done = r_narrow_four(R_FLOATS_FROM_BITS(bits));
    } else {
#ifdef R_UNPACK_HALVES
        // Stands between the sum and its conversion, which some compilers make one step that rounds once.
        if (R_OUT == R_F16 && R_PACKS_HALVES)
            bits = R_SELECT4(keep0, keep1, keep2, keep3, R_UINT4(0u, 0u, 0u, 0u), bits);
#endif
        done = r_narrow_four(R_FLOATS_FROM_BITS(bits));
        if (R_IN == R_F32) {
            done = R_SELECT4(keep0, keep1, keep2, keep3, words, done);
#ifndef R_RESTORES
        } else if (R_HAS_FLAG(R_PAIR_AXIS_FLAG)) {
            uint first = (keep0 ? 0xffffu : 0u) | (keep1 ? 0xffff0000u : 0u);
            uint second = (keep2 ? 0xffffu : 0u) | (keep3 ? 0xffff0000u : 0u);
            done.x = (words.x & first) | (done.x & ~first);
            done.y = (words.y & second) | (done.y & ~second);
        } else {
            done = R_SELECT4(keep0, keep2, keep2, keep2, words, done);
#endif
        }
    }
    return done;
}

// Eight channels: the los and his of four pairs, or, interleaved, four pairs one after the other.
R_FN r_run r_turn_eight(r_turns t, bool keep0, bool keep1, bool keep2, bool keep3, r_run v) {
    r_float4 a = r_widen_four(v.a);
    r_float4 b = r_widen_four(v.b);
    r_float4 x = a;
    r_float4 y = b;
    if (R_HAS_FLAG(R_INTERLEAVED_FLAG)) {
        x = R_FLOAT4(a.x, a.z, b.x, b.z);
        y = R_FLOAT4(a.y, a.w, b.y, b.w);
    }
    r_float4 lo = R_FLOAT4(r_turn_lo(t.lo_c.x, t.lo_s.x, x.x, y.x), r_turn_lo(t.lo_c.y, t.lo_s.y, x.y, y.y),
                           r_turn_lo(t.lo_c.z, t.lo_s.z, x.z, y.z), r_turn_lo(t.lo_c.w, t.lo_s.w, x.w, y.w));
    r_float4 hi = R_FLOAT4(r_turn_hi(t.hi_c.x, t.hi_s.x, x.x, y.x), r_turn_hi(t.hi_c.y, t.hi_s.y, x.y, y.y),
                           r_turn_hi(t.hi_c.z, t.hi_s.z, x.z, y.z), r_turn_hi(t.hi_c.w, t.hi_s.w, x.w, y.w));
    r_run turned;
    if (R_HAS_FLAG(R_INTERLEAVED_FLAG)) {
        turned.a = r_finish_four(keep0, keep0, keep1, keep1, v.a, a, R_FLOAT4(lo.x, hi.x, lo.y, hi.y));
        turned.b = r_finish_four(keep2, keep2, keep3, keep3, v.b, b, R_FLOAT4(lo.z, hi.z, lo.w, hi.w));
    } else {
        turned.a = r_finish_four(keep0, keep1, keep2, keep3, v.a, a, lo);
        turned.b = r_finish_four(keep0, keep1, keep2, keep3, v.b, b, hi);
    }
    return turned;
}

#ifdef R_RESTORES
#define R_KEEPS(duos)     ((duos).keep0 || (duos).keep1 || (duos).keep2 || (duos).keep3)
#define R_KEEP_MASK(duos) (-(uint4)((duos).keep0, (duos).keep1, (duos).keep2, (duos).keep3))

// OpenCL C alone. Puts back what keeps its bits, from memory once more, by numbers that compilers do not see
// to be the same: what they kept of it would be in registers all the while.
R_FN void r_restore(R_MEM uint k, r_lane lane, uint in_run, uint row_at, uint4 *a, uint4 *b) {
    uint nothing = R_RANGE(R_TOKENS) == 0u;
    r_duos duos = r_find_four(R_M lane, lane.word, row_at + nothing);
    r_duos odds = r_find_four(R_M lane, lane.pairs, row_at + nothing);
    uint4 even = R_KEEP_MASK(duos);
    uint4 odd = R_KEEP_MASK(odds);
    uint4 a_mask = bitselect(odd, even, (uint4)0xffffu);
    uint4 b_mask = a_mask;
    if (R_HAS_FLAG(R_INTERLEAVED_FLAG)) {
        a_mask = (uint4)(even.x, odd.x, even.y, odd.y);
        b_mask = R_HAS_FLAG(R_EIGHT_FLAG) ? (uint4)(even.z, odd.z, even.w, odd.w) : a_mask.zwzw;
    }
    in_run += nothing;
    *a = bitselect(*a, r_load_run(R_M k, in_run + lane.a_run), a_mask);
    if (R_HAS_B(lane))
        *b = bitselect(*b, r_load_run(R_M k, in_run + lane.b_run), b_mask);
}
#endif
