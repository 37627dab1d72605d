// SPDX-License-Identifier: MIT
//
// All kernels of one instruction set. The file that includes this defines, besides TURN_FN,
// IS_FEW and HAS_AHEAD, as in turn_tmpl.h, HAS_F16, whether it wants kernels of binary16, and
// HAS_SHARED, whether its kernel of bf16 halves shares:
//
//     REAL, WIDTH                    a vector of WIDTH fp32, and load(), store(), mul(), add(), sub() of it
//     swapped(v)                     each number and its neighbour, exchanged
//     WORDS, HALF_WIDTH              a vector of HALF_WIDTH words, load_words(), store_words(), and
//                                    HALF (its fp32), half_load(), half_mul(), half_add(), half_sub()
//     even(w), odd(w)                the bf16 in the lower and the upper half of each word
//     joined(e, o)                   two vectors of fp32, rounded to bf16, in the halves of words
//     split(p), half_split(p)        .c and .s: the cosines and the sines of consecutive pairs
//     doubled(p)                     the same of half as many pairs: each cosine twice, each sine with the
//                                    signs that it has in a pair's two sums, - and +
//     even_odd(p)                    .ce, .co, .se, .so: those of even pairs and of odd ones
//     HALF_STEPS, BLOCK_STEPS        as many steps as registers have room for: of halves of fp32 or binary16,
//                                    and of their interleaved pairs
//     WORD_STEPS, EVEN_ODD_STEPS     the same of bf16: of words that are pairs, and of halves; where IS_FEW
//                                    there are none of the four, elsewhere those without steps are left out
//
// and with HAS_SHARED
//
//     even_odd_twice(p)              even_odd() of half as many pairs, twice
//     load_both(p, q)                words, the first half from p and the second from q
//     store_both(p, q, w)            likewise
//
// Names are as rope2d_turn_kernel_name makes them, with the instruction set's left off.
//
// The products' order is core.h's, and so is which of two NaNs survives where it is told: never c or s.
#include "turn_pair_tmpl.h"

#define NAME         half_f32
#define PAIRS        WIDTH
#define STEP_BYTES   (4 * WIDTH)
#define STEPS        HALF_STEPS
#define FOLLOWS      (IS_FEW && WIDTH == 8 ? HALVES_FOLLOW : 0) // the wide one is not asked to: is_past
#define ENTRY        real_entries
#define SPLIT        split
#define READ(i, at)  HALF_READ(load, i, at)
#define WRITE(i, at) HALF_WRITE(store, i, at)
#if WIDTH == 16 && !IS_FEW // AVX-512 has the registers
#define READS_FIRST
#endif
#include "turn_tmpl.h"

#define NAME         interleaved_f32
#define PAIRS        (WIDTH / 2)
#define STEP_BYTES   (4 * WIDTH)
#define STEPS        BLOCK_STEPS
#define FOLLOWS      (IS_FEW * PAIRS_FOLLOW)
#define ENTRY        real_entries
#define SPLIT        doubled
#define READ(i, at)  const REAL x##i = load(in + (at));
#define WRITE(i, at) PAIR_WRITE(store, i, at)
#include "turn_tmpl.h"

#if HAS_F16
#include "turn_f16_tmpl.h"
#endif

#if IS_FEW || defined(WORD_STEPS) || defined(EVEN_ODD_STEPS)
#include "turn_bf16_tmpl.h"
#endif
