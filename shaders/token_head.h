// SPDX-License-Identifier: MIT
//
// A head of token.h: loaded, turned by what its token's axes turn by, and stored.

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

typedef struct r_head {
    __global const r_in_unit *in;
    __global r_out_unit *out;
    bool streams;
} r_head;

R_INLINE void r_store_bits(const r_head *head, uint at, r_out bits) {
    __global r_out_unit *out = head->out;
#ifdef R_CACHE
    if (head->streams) {
        __builtin_nontemporal_store(bits, (__global r_out *)(out + at));
        return;
    }
#endif
#ifdef R_PART
    if (R_IS_PART(at))
        *(__global r_out_part *)(out + at) = bits.lo;
    else
#endif
        *(__global r_out_memory *)(out + at) = bits;
}

// What was turned, or where a pair does not rotate what was there before.
R_INLINE void r_store_kept(const r_head *head, uint at, r_ints row, r_in bits, r_floats turned) {
    r_out kept = r_pass_bits(bits), rotated = r_narrow_bits(turned);
#if R_OUT == 0
    r_store_bits(head, at, row < 0 ? kept : rotated);
#else
    r_store_bits(head, at, r_convert_to(row < 0, r_shorts) != (short)0 ? kept : rotated);
#endif
}

#if R_SIDES == 2
#define R_LAST (2u * R_RUN_PAIR_UNITS)
#define R_STEP 2u // runs at a time
#else
#define R_LAST R_RUN_PAIR_UNITS
#ifdef __AVX512VL__
#define R_MOST 11u // units whose results fit the processor's registers
#else
#define R_MOST 5u
#endif
// Units at a time: whole heads, whose lines are stored in order then; rounding to bf16 wants registers
// itself.
#define R_STEP (R_OUT != R_BF16 && R_LAST <= R_MOST ? R_LAST : R_OUT == R_F32 ? 4u : 2u)
#endif

// Several runs, of which two at a time mostly lie side by side.
R_INLINE void r_store_turned(const r_head *head, const uint *at, const r_floats *turned, uint count) {
#if R_OUT == 2 && R_RUN == 8
    if (count == 2u && at[1] == at[0] + 8u) {
        ushort16 first = r_halves_of(turned[0]);
        ushort16 second = r_halves_of(turned[1]);
        ushort16 bits =
            r_round_halves((ushort16)(first.odd, second.odd), (ushort16)(first.even, second.even));
        if (R_IS_PART(at[1])) {
            r_store_bits(head, at[0], bits.lo);
            *(__global r_out_part *)(head->out + at[1]) = bits.s89ab;
        } else {
            *(__global r_halves_memory *)(head->out + at[0]) = bits;
        }
        return;
    }
#endif
    R_UNROLL
    for (uint i = 0u; i < R_STEP; i++)
        if (i < count)
            r_store_bits(head, at[i], r_narrow_bits(turned[i]));
}

R_INLINE void r_turn(const r_side *side, r_floats lo, r_floats hi, r_floats *less, r_floats *more) {
    r_floats a = side->c * lo;
    r_floats b = side->s * hi;
    *less = a - b;
    a = side->s * lo;
    b = side->c * hi;
    *more = a + b;
}

#ifdef R_IS_BF16
typedef uint8 r_words_memory __attribute__((aligned(2)));

// Two runs are words, both of whose halves are nearly an f32: even numbers and odd ones.
R_INLINE void r_load_two(const r_head *head, uint at, r_floats *two) {
    r_uints words = *(__global const r_words_memory *)(head->in + at);
    two[0] = as_float8(words << 16);
    two[1] = as_float8(words & 0xffff0000u);
}

R_INLINE void r_store_two(const r_head *head, uint at, const r_floats *two) {
    ushort16 even = r_halves_of(two[0]), odd = r_halves_of(two[1]);
    ushort16 bits = r_round_halves(
        __builtin_shufflevector(even, odd, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31),
        __builtin_shufflevector(even, odd, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30));
#ifdef R_CACHE
    if (head->streams) {
        __builtin_nontemporal_store(bits, (__global ushort16 *)(head->out + at));
        return;
    }
#endif
    *(__global r_halves_memory *)(head->out + at) = bits;
}

// The sides of two runs become those of their even numbers and of their odd ones.
R_INLINE void r_part_sides(r_side *two) {
    r_side first = two[0], second = two[1];
    two[0].c = (r_floats)(first.c.even, second.c.even);
    two[0].s = (r_floats)(first.s.even, second.s.even);
    two[1].c = (r_floats)(first.c.odd, second.c.odd);
    two[1].s = (r_floats)(first.s.odd, second.s.odd);
}

#endif

#if R_SIDES == 2
// All first runs, then all second ones, which are the channels in order.
R_INLINE void r_turn_runs(const r_side *sides, const uint *at, uint count, bool keeps, const r_head *head) {
#ifdef R_IS_BF16
    if (!keeps && count == 2u && at[1] == at[0] + 8u) { // words are pairs
        r_side two[] = {sides[0], sides[1]};
        r_floats of[2];
        r_part_sides(two);
        r_load_two(head, at[0], of);
        r_turn(two, of[0], of[1], of, of + 1);
        r_store_two(head, at[0], of);
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
        r_store_turned(head, at, turned, count);
    for (uint i = 0u; keeps && i < count; i++)
        r_store_kept(head, at[i], sides[i].row, bits[i], turned[i]);
}

R_INLINE void r_turn_some(R_MEM const r_token *token, const r_place *place, const r_head *head, uint heads,
                          bool keeps, uint first, uint last) {
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
    for (uint k = 0u; k < heads; k++)
        r_turn_runs(sides, at, count, keeps, head + k);
}
#else
R_INLINE void r_turn_runs(const r_side *sides, const uint *lo_at, const uint *hi_at, uint count, bool keeps,
                          const r_head *head) {
#ifdef R_IS_BF16
    if (!keeps && count == 2u && R_ARE_TWO(lo_at) && R_ARE_TWO(hi_at)) {
        r_side two[] = {sides[0], sides[1]};
        r_floats lo[2], hi[2];
        r_part_sides(two);
        r_load_two(head, lo_at[0], lo);
        r_load_two(head, hi_at[0], hi);
        R_UNROLL
        for (uint i = 0u; i < 2u; i++)
            r_turn(two + i, lo[i], hi[i], lo + i, hi + i);
        r_store_two(head, lo_at[0], lo);
        r_store_two(head, hi_at[0], hi);
        return;
    }
#endif
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
        r_turn(sides + i, r_widen_bits(lo_bits[i]), r_widen_bits(hi_bits[i]), lo_turned + i, hi_turned + i);
    }
    if (!keeps) {
        r_store_turned(head, lo_at, lo_turned, count);
        r_store_turned(head, hi_at, hi_turned, count);
    }
    for (uint i = 0u; keeps && i < count; i++) {
        r_store_kept(head, lo_at[i], sides[i].row, lo_bits[i], lo_turned[i]);
        r_store_kept(head, hi_at[i], sides[i].row, hi_bits[i], hi_turned[i]);
    }
}

// Several units, so that what is stored to one place and to the other fills cache lines: lines that are
// written by turns and in parts take nearly twice as long.
R_INLINE void r_turn_some(R_MEM const r_token *token, const r_place *place, const r_head *head, uint heads,
                          bool keeps, uint first, uint last) {
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
    for (uint k = 0u; k < heads; k++)
        r_turn_runs(sides, lo_at, hi_at, last - first, keeps, head + k);
}
#endif

R_INLINE void r_pass_units(const r_head *head) {
    for (uint unit = R_RUN_PAIR_UNITS; unit < R_RUN_UNITS; unit++) {
        uint a = R_UNIT_LO(R_TOKEN_UNIT(2u * unit)), b = R_UNIT_HI(R_TOKEN_UNIT(2u * unit));
        r_store_bits(head, a, r_pass_bits(r_load_bits(head->in, a)));
        if (b != a)
            r_store_bits(head, b, r_pass_bits(r_load_bits(head->in, b)));
    }
}

// By R_STEP, or one by one.
R_INLINE void r_turn_head(R_MEM const r_token *token, const r_place *place, const r_head *head, uint heads) {
    const uint step = R_APART && !token ? 1u : R_STEP;
    R_UNROLL_UNITS
    for (uint i = 0u; i < R_LAST; i += step)
        r_turn_some(R_M token, place, head, heads, false, i, i + step < R_LAST ? i + step : R_LAST);
    for (uint k = 0u; k < heads; k++)
        r_pass_units(head + k);
}

// Of a token of which some pairs do not rotate. Kept small, for drivers compile long.
R_INLINE void r_turn_kept(R_MEM const r_token *token, const r_place *place, const r_head *head) {
    R_ROLLED
    for (uint i = 0u; i < R_LAST; i++)
        r_turn_some(R_M token, place, head, 1u, true, i, i + 1u);
    r_pass_units(head);
}
