// SPDX-License-Identifier: MIT
//
// How a step of fp32, whatever it is in memory, is read and written: of pairs in two halves, and side by
// side; and one of bf16's words. A part of turn_all_tmpl.h, or in front of turn_f16_tmpl.h, turn_bf16_tmpl.h
// or turn_streamed_tmpl.h.

#define HALF_READ(load_it, i, at)                                                                            \
    const REAL x##i = load_it(in + (at));                                                                    \
    const REAL y##i = load_it(in_hi + (at));
#define HALF_WRITE(store_it, i, at)                                                                          \
    store_it(out + (at), sub(mul(e##i.c, x##i), mul(e##i.s, y##i)));                                         \
    store_it(out_hi + (at), add(mul(e##i.s, x##i), mul(e##i.c, y##i)));

// Asks for what a step reads from byte `at` on.
#define HALF_ASK(at)                                                                                         \
    rope2d_fetch(in + (at));                                                                                 \
    rope2d_fetch(in_hi + (at));
#define PAIR_ASK(at) rope2d_fetch(in + (at));

// Both numbers of a pair are a sum: the sines have the signs.
#define PAIR_WRITE(store_it, i, at) store_it(out + (at), add(mul(x##i, e##i.c), mul(swapped(x##i), e##i.s)));

// Words of two lo and words of two hi: the even ones and the odd ones are turned apart.
#define HALF_WORDS_READ(load_it, i, at)                                                                      \
    const WORDS x##i = load_it(in + (at));                                                                   \
    const WORDS y##i = load_it(in_hi + (at));
#define HALF_WORDS_LO(i)                                                                                     \
    joined(half_sub(half_mul(e##i.ce, even(x##i)), half_mul(e##i.se, even(y##i))),                           \
           half_sub(half_mul(e##i.co, odd(x##i)), half_mul(e##i.so, odd(y##i))))
#define HALF_WORDS_HI(i)                                                                                     \
    joined(half_add(half_mul(e##i.se, even(x##i)), half_mul(e##i.ce, even(y##i))),                           \
           half_add(half_mul(e##i.so, odd(x##i)), half_mul(e##i.co, odd(y##i))))
#define HALF_WORDS_WRITE(store_it, i, at)                                                                    \
    store_it(out + (at), HALF_WORDS_LO(i));                                                                  \
    store_it(out_hi + (at), HALF_WORDS_HI(i));

// A word is a pair.
#define PAIR_WORDS_WRITE(store_it, i, at)                                                                    \
    store_it(out + (at), joined(half_sub(half_mul(e##i.c, even(x##i)), half_mul(e##i.s, odd(x##i))),         \
                                half_add(half_mul(e##i.s, even(x##i)), half_mul(e##i.c, odd(x##i)))));
