// SPDX-License-Identifier: MIT
//
// How a step of fp32, whatever it is in memory, is read and written: of pairs in two halves, and side by
// side. A part of turn_all_tmpl.h, or in front of turn_f16_tmpl.h or turn_streamed_tmpl.h.

#define HALF_READ(load_it, i, at)                                                                            \
    const REAL x##i = load_it(in + (at));                                                                    \
    const REAL y##i = load_it(in_hi + (at));
#define HALF_WRITE(store_it, i, at)                                                                          \
    store_it(out + (at), sub(mul(e##i.c, x##i), mul(e##i.s, y##i)));                                         \
    store_it(out_hi + (at), add(mul(e##i.s, x##i), mul(e##i.c, y##i)));

// Both numbers of a pair are a sum: the sines have the signs.
#define PAIR_WRITE(store_it, i, at) store_it(out + (at), add(mul(x##i, e##i.c), mul(swapped(x##i), e##i.s)));
