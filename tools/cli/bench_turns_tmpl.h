// SPDX-License-Identifier: MIT
//
// A head's turn by vectors of one width, for bench_turns_avx2.c and bench_turns_avx512.c, which define
//
//     WIDTH, REAL, WORDS     numbers of a vector, its type, and that of its words
//     V(name)                an intrinsic of that width
//     T(name)                a name of this width
//     AS_WORDS(v), AS_REAL(w)
//     LOAD_F16(p), STORE_F16(p, v)
//     STREAM_F16(p, v)       past the caches, as `streams` asks for; the address has a store's alignment
//     MASK                   with HAS_AVX512: one bit for each number
//     LOAD_WORDS(p)          without
//     LOWER(a, b)            likewise, of both the lower 128 bits, whose shuffles leave numbers in order
//     UPPER(a, b)            and the upper ones
//
// Bits are those of a rotation: products and sums as in shaders/core.h, none fused.

typedef struct T(entries) {
    REAL c, s, odd_c, odd_s; // the latter two of bf16's halves alone
} T(entries);

typedef struct T(step) {
    REAL x, y;
} T(step);

// Compilers would read what is used twice from memory twice.
FN REAL T(load)(const void *p) {
    REAL v = V(loadu_ps)(p);
    __asm__("" : "+v"(v));
    return v;
}

// The entries of WIDTH / 2 pairs from `pair` on, of the rows of one axis, or of two.
FN REAL T(pick)(const struct rows *rows, int pair) {
    const int first = axis_of(rows, pair), axis = axis_of(rows, pair + WIDTH / 2 - 1);
    const REAL entries = V(loadu_ps)(rows->of[axis] + 2 * pair);
    if (first == axis)
        return entries;
    const int others = 2 * (rows->ends[first] - pair);
#if HAS_AVX512
    return V(mask_loadu_ps)(entries, (MASK)((1u << others) - 1), rows->of[first] + 2 * pair);
#else
    const WORDS are_others = V(cmpgt_epi32)(V(set1_epi32)(others), LOAD_WORDS(places));
    return V(blendv_ps)(entries, V(loadu_ps)(rows->of[first] + 2 * pair), AS_REAL(are_others));
#endif
}

FN REAL T(chosen)(REAL a, REAL b, int odd) {
#if HAS_AVX512
    const WORDS which = V(add_epi32)(V(loadu_epi32)(evens), V(set1_epi32)(odd));
    return V(permutex2var_ps)(a, which, b);
#else
    const REAL lower = LOWER(a, b), upper = UPPER(a, b);
    return odd ? V(shuffle_ps)(lower, upper, 0xdd) : V(shuffle_ps)(lower, upper, 0x88);
#endif
}

// Cosines and sines of WIDTH pairs, or of bf16, whose words are two, of twice as many.
FN T(entries) T(half_entries)(const struct rows *rows, int pair, rope2d_element element) {
    const REAL a = T(pick)(rows, pair), b = T(pick)(rows, pair + WIDTH / 2);
    const REAL c = T(chosen)(a, b, 0), s = T(chosen)(a, b, 1);
    if (element != ROPE2D_BF16)
        return (T(entries)){.c = c, .s = s};
    const REAL d = T(pick)(rows, pair + WIDTH), e = T(pick)(rows, pair + WIDTH + WIDTH / 2);
    const REAL next_c = T(chosen)(d, e, 0), next_s = T(chosen)(d, e, 1);
    return (T(entries)){T(chosen)(c, next_c, 0), T(chosen)(s, next_s, 0), T(chosen)(c, next_c, 1),
                        T(chosen)(s, next_s, 1)};
}

// Of WIDTH / 2 pairs each number's own, sines with the signs that they have in a pair's two sums; or of bf16,
// whose words are pairs, of WIDTH.
FN T(entries) T(pair_entries)(const struct rows *rows, int pair, rope2d_element element) {
    if (element == ROPE2D_BF16)
        return T(half_entries)(rows, pair, ROPE2D_F32);
    const REAL a = T(pick)(rows, pair);
    return (T(entries)){
        .c = V(moveldup_ps)(a),
        .s = V(xor_ps)(V(movehdup_ps)(a), V(loadu_ps)(signs)),
    };
}

FN REAL T(read)(const void *p, rope2d_element element) {
    return element == ROPE2D_F16 ? LOAD_F16(p) : T(load)(p);
}

FN void T(store)(void *p, REAL v, bool streams) {
    if (streams)
        V(stream_ps)(p, v);
    else
        V(storeu_ps)(p, v);
}

FN void T(write)(void *p, REAL v, const struct shape *shape) {
    if (shape->element != ROPE2D_F16)
        T(store)(p, v, shape->streams);
    else if (shape->streams)
        STREAM_F16(p, v);
    else
        STORE_F16(p, v);
}

FN REAL T(even)(REAL words) {
    return AS_REAL(V(slli_epi32)(AS_WORDS(words), 16));
}

FN REAL T(odd)(REAL words) {
    return V(and_ps)(words, AS_REAL(V(set1_epi32)((int)0xffff0000u)));
}

// Rounded to bf16, to nearest even: the upper halves, one more where the lower half with the upper's last bit
// is more than a half.
FN REAL T(joined)(REAL e, REAL o) {
#if HAS_AVX512
    const WORDS swaps = V(loadu_epi32)(swapped_halves);
    const WORDS ones = V(set1_epi16)(1);
    const WORDS lower =
        V(mask_shuffle_epi8)(AS_WORDS(e), 0xccccccccccccccccu >> (64 - 4 * WIDTH), AS_WORDS(o), swaps);
    const WORDS upper =
        V(mask_shuffle_epi8)(AS_WORDS(o), 0x3333333333333333u >> (64 - 4 * WIDTH), AS_WORDS(e), swaps);
    const WORDS rest = V(ternarylogic_epi32)(lower, upper, ones, 0xf8); // lower | (upper & 1)
    return AS_REAL(
        V(mask_add_epi16)(upper, V(cmpgt_epu16_mask)(rest, V(set1_epi16)(INT16_MIN)), upper, ones));
#else
    const WORDS lower = V(blend_epi16)(AS_WORDS(e), V(slli_epi32)(AS_WORDS(o), 16), 0xaa);
    const WORDS upper = V(blend_epi16)(V(srli_epi32)(AS_WORDS(e), 16), AS_WORDS(o), 0xaa);
    const REAL is_even = V(andnot_ps)(AS_REAL(upper), AS_REAL(V(set1_epi16)(1)));
    const WORDS more = V(subs_epu16)(lower, AS_WORDS(is_even)); // a half at least: one more
    return AS_REAL(V(add_epi16)(upper, V(srli_epi16)(more, 15)));
#endif
}

FN REAL T(difference)(REAL c, REAL x, REAL s, REAL y) {
    return V(sub_ps)(V(mul_ps)(c, x), V(mul_ps)(s, y));
}

FN REAL T(sum)(REAL s, REAL x, REAL c, REAL y) {
    return V(add_ps)(V(mul_ps)(s, x), V(mul_ps)(c, y));
}

FN T(step) T(half_read)(const unsigned char *lo, const unsigned char *hi, rope2d_element element) {
    return (T(step)){T(read)(lo, element), T(read)(hi, element)};
}

FN void T(half_write)(unsigned char *lo, unsigned char *hi, T(step) v, const T(entries) * e,
                      const struct shape *shape) {
    if (shape->element == ROPE2D_BF16) {
        const REAL x = T(even)(v.x), y = T(even)(v.y), odd_x = T(odd)(v.x), odd_y = T(odd)(v.y);
        const REAL odd_lo = T(difference)(e->odd_c, odd_x, e->odd_s, odd_y);
        const REAL odd_hi = T(sum)(e->odd_s, odd_x, e->odd_c, odd_y);
        T(store)(lo, T(joined)(T(difference)(e->c, x, e->s, y), odd_lo), shape->streams);
        T(store)(hi, T(joined)(T(sum)(e->s, x, e->c, y), odd_hi), shape->streams);
    } else {
        T(write)(lo, T(difference)(e->c, v.x, e->s, v.y), shape);
        T(write)(hi, T(sum)(e->s, v.x, e->c, v.y), shape);
    }
}

FN void T(pair_turn)(unsigned char *to, const unsigned char *from, const T(entries) * e,
                     const struct shape *shape) {
    const REAL v = T(read)(from, shape->element);
    if (shape->element == ROPE2D_BF16) {
        const REAL x = T(even)(v), y = T(odd)(v);
        const REAL joined = T(joined)(T(difference)(e->c, x, e->s, y), T(sum)(e->s, x, e->c, y));
        T(store)(to, joined, shape->streams);
    } else {
        T(write)(to, V(add_ps)(V(mul_ps)(v, e->c), V(mul_ps)(V(permute_ps)(v, 0xb1), e->s)), shape);
    }
}

#undef WIDTH
#undef REAL
#undef WORDS
#undef MASK
#undef LOAD_WORDS
#undef LOWER
#undef UPPER
#undef V
#undef T
#undef AS_WORDS
#undef AS_REAL
#undef LOAD_F16
#undef STORE_F16
#undef STREAM_F16
