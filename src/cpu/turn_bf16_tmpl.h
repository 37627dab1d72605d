// SPDX-License-Identifier: MIT
//
// The kernels of bf16 of one instruction set, a part of turn_all_tmpl.h, or behind turn_pair_tmpl.h. Besides
// what the former wants of words there are
//
//     WHOLE_WORD_STEPS, WHOLE_EVEN_ODD_STEPS   where they are there, LEAST_STEPS of turn_tmpl.h
//     STEPS_ASK                                where it is there, ASK of turn_tmpl.h is
//
// and a kernel of halves where EVEN_ODD_STEPS is there, one of pairs side by side where WORD_STEPS is, and
// both where IS_FEW is.

#if IS_FEW || defined(EVEN_ODD_STEPS)
#ifdef WHOLE_EVEN_ODD_STEPS
#define LEAST_STEPS WHOLE_EVEN_ODD_STEPS
#endif
#ifdef STEPS_ASK
#define ASK HALF_ASK
#endif
#define NAME         half_bf16
#define PAIRS        (2 * HALF_WIDTH)
#define STEP_BYTES   (4 * HALF_WIDTH)
#define STEPS        EVEN_ODD_STEPS
#define ENTRY        even_odd_entries
#define SPLIT        even_odd
#define READ(i, at)  HALF_WORDS_READ(load_words, i, at)
#define WRITE(i, at) HALF_WORDS_WRITE(store_words, i, at)
#if HAS_SHARED
#define ENTRIES_SHARED even_odd_twice
#define READ_SHARED(i, at, before)                                                                           \
    const WORDS x##i = load_both(in - (before) + (at), in + (at));                                           \
    const WORDS y##i = load_both(in_hi - (before) + (at), in_hi + (at));
#define WRITE_SHARED(i, at, before)                                                                          \
    store_both(out - (before) + (at), out + (at), HALF_WORDS_LO(i));                                         \
    store_both(out_hi - (before) + (at), out_hi + (at), HALF_WORDS_HI(i));
#endif
#include "turn_tmpl.h"
#endif

#if IS_FEW || defined(WORD_STEPS)
#ifdef WHOLE_WORD_STEPS
#define LEAST_STEPS WHOLE_WORD_STEPS
#endif
#ifdef STEPS_ASK
#define ASK PAIR_ASK
#endif
#define NAME         interleaved_bf16
#define PAIRS        HALF_WIDTH
#define STEP_BYTES   (4 * HALF_WIDTH)
#define STEPS        WORD_STEPS
#define ENTRY        half_entries
#define SPLIT        half_split
#define READ(i, at)  const WORDS x##i = load_words(in + (at));
#define WRITE(i, at) PAIR_WORDS_WRITE(store_words, i, at)
#define ASKED_BYTES  STEP_BYTES
#include "turn_tmpl.h"
#endif
