// SPDX-License-Identifier: MIT
//
// The kernels of binary16 of one instruction set, a part of turn_all_tmpl.h, or behind turn_pair_tmpl.h
// alone. Besides what those want of fp32 there are
//
//     load_f16(p), store_f16(p, v)   WIDTH binary16
//     WHOLE_HALF_STEPS, WHOLE_STEPS  where they are there, LEAST_STEPS of turn_tmpl.h
//
// and a kernel of halves where HALF_STEPS is there, one of pairs side by side where BLOCK_STEPS is, of few
// heads always.

#if IS_FEW || defined(HALF_STEPS)
#ifdef WHOLE_HALF_STEPS
#define LEAST_STEPS WHOLE_HALF_STEPS
#endif
#define NAME         half_f16
#define PAIRS        WIDTH
#define STEP_BYTES   (2 * WIDTH)
#define STEPS        HALF_STEPS
#define ENTRY        real_entries
#define SPLIT        split
#define READ(i, at)  HALF_READ(load_f16, i, at)
#define WRITE(i, at) HALF_WRITE(store_f16, i, at)
#define ASKED_BYTES  (2 * STEP_BYTES)
#include "turn_tmpl.h"
#endif

#if IS_FEW || defined(BLOCK_STEPS)
#ifdef WHOLE_STEPS
#define LEAST_STEPS WHOLE_STEPS
#endif
#define NAME         interleaved_f16
#define PAIRS        (WIDTH / 2)
#define STEP_BYTES   (2 * WIDTH)
#define STEPS        BLOCK_STEPS
#define ENTRY        real_entries
#define SPLIT        doubled
#define IS_ALONE     (turn->inner == 1)
#define ASKED_BYTES  STEP_BYTES
#define READ(i, at)  const REAL x##i = load_f16(in + (at));
#define WRITE(i, at) PAIR_WRITE(store_f16, i, at)
#include "turn_tmpl.h"
#endif
