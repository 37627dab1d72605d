// SPDX-License-Identifier: MIT
//
// All kernels of one instruction set. The file that includes this defines, besides TURN_FN, and
// HAS_HALF_F16 and HAS_INTERLEAVED_F16 for the kernels of binary16 that it wants:
//
//     REAL, WIDTH                    a vector of WIDTH fp32, and load(), store(), mul(), add(), sub() of it
//     swapped(v)                     each number and its neighbour, exchanged
//     load_f16(p), store_f16(p, v)   WIDTH binary16
//     WORDS, HALF_WIDTH              a vector of HALF_WIDTH words, load_words(), store_words(), and
//                                    HALF (its fp32), half_load(), half_mul(), half_add(), half_sub()
//     even(w), odd(w)                the bf16 in the lower and the upper half of each word
//     joined(e, o)                   two vectors of fp32, rounded to bf16, in the halves of words
//
// Names are as the kernels' list in turn.c has them, with the instruction set's suffix left off.
//
// The products' order is core.h's, and so is which of two NaNs survives where it is told: never c or s.

#define HALF_READ_F32(i, at)                                                                                 \
    const REAL x##i = load(in + (at));                                                                       \
    const REAL y##i = load(in + (at) + distance);
#define HALF_WRITE_F32(i, at)                                                                                \
    store(out + (at), sub(mul(c##i, x##i), mul(s##i, y##i)));                                                \
    store(out + (at) + distance, add(mul(s##i, x##i), mul(c##i, y##i)));
#define SPLIT_ENTRIES(i, at)                                                                                 \
    const REAL c##i = load((const unsigned char *)(at));                                                     \
    const REAL s##i = load((const unsigned char *)(at) + sizeof(REAL));

#define NAME           half_f32
#define STEP_BYTES     (4 * WIDTH)
#define STEP_FLOATS    (2 * WIDTH)
#define ENTRIES(i, at) SPLIT_ENTRIES(i, at)
#define READ(i, at)    HALF_READ_F32(i, at)
#define WRITE(i, at)   HALF_WRITE_F32(i, at)
#include "turn_tmpl.h"

// The signs of the sines are staged, so that both numbers of a pair are a sum.
#define PAIR_WRITE(store_it, i, at) store_it(out + (at), add(mul(x##i, c##i), mul(swapped(x##i), s##i)));

#define NAME           interleaved_f32
#define STEP_BYTES     (4 * WIDTH)
#define STEP_FLOATS    (2 * WIDTH)
#define ENTRIES(i, at) SPLIT_ENTRIES(i, at)
#define READ(i, at)    const REAL x##i = load(in + (at));
#define WRITE(i, at)   PAIR_WRITE(store, i, at)
#include "turn_tmpl.h"

#if HAS_HALF_F16
#define NAME           half_f16
#define STEP_BYTES     (2 * WIDTH)
#define STEP_FLOATS    (2 * WIDTH)
#define ENTRIES(i, at) SPLIT_ENTRIES(i, at)
#define READ(i, at)                                                                                          \
    const REAL x##i = load_f16(in + (at));                                                                   \
    const REAL y##i = load_f16(in + (at) + distance);
#define WRITE(i, at)                                                                                         \
    store_f16(out + (at), sub(mul(c##i, x##i), mul(s##i, y##i)));                                            \
    store_f16(out + (at) + distance, add(mul(s##i, x##i), mul(c##i, y##i)));
#include "turn_tmpl.h"
#endif

#if HAS_INTERLEAVED_F16
#define NAME           interleaved_f16
#define STEP_BYTES     (2 * WIDTH)
#define STEP_FLOATS    (2 * WIDTH)
#define ENTRIES(i, at) SPLIT_ENTRIES(i, at)
#define READ(i, at)    const REAL x##i = load_f16(in + (at));
#define WRITE(i, at)   PAIR_WRITE(store_f16, i, at)
#include "turn_tmpl.h"
#endif

// Words of two lo and words of two hi: the even ones and the odd ones are turned apart.
#define NAME        half_bf16
#define STEP_BYTES  (4 * HALF_WIDTH)
#define STEP_FLOATS (4 * HALF_WIDTH)
#define ENTRIES(i, at)                                                                                       \
    const HALF ce##i = half_load(at);                                                                        \
    const HALF co##i = half_load((at) + HALF_WIDTH);                                                         \
    const HALF se##i = half_load((at) + 2 * HALF_WIDTH);                                                     \
    const HALF so##i = half_load((at) + 3 * HALF_WIDTH);
#define READ(i, at)                                                                                          \
    const WORDS x##i = load_words(in + (at));                                                                \
    const WORDS y##i = load_words(in + (at) + distance);
#define WRITE(i, at)                                                                                         \
    store_words(out + (at), joined(half_sub(half_mul(ce##i, even(x##i)), half_mul(se##i, even(y##i))),       \
                                   half_sub(half_mul(co##i, odd(x##i)), half_mul(so##i, odd(y##i)))));       \
    store_words(out + (at) + distance,                                                                       \
                joined(half_add(half_mul(se##i, even(x##i)), half_mul(ce##i, even(y##i))),                   \
                       half_add(half_mul(so##i, odd(x##i)), half_mul(co##i, odd(y##i)))));
#include "turn_tmpl.h"

// A word is a pair.
#define NAME        interleaved_bf16
#define STEP_BYTES  (4 * HALF_WIDTH)
#define STEP_FLOATS (2 * HALF_WIDTH)
#define ENTRIES(i, at)                                                                                       \
    const HALF c##i = half_load(at);                                                                         \
    const HALF s##i = half_load((at) + HALF_WIDTH);
#define READ(i, at) const WORDS x##i = load_words(in + (at));
#define WRITE(i, at)                                                                                         \
    store_words(out + (at), joined(half_sub(half_mul(c##i, even(x##i)), half_mul(s##i, odd(x##i))),          \
                                   half_add(half_mul(s##i, even(x##i)), half_mul(c##i, odd(x##i)))));
#include "turn_tmpl.h"

// Stages a table by a function that stages a step.
#define STAGE(name, pairs, floats)                                                                           \
    TURN_FN static void name(const float *entries, const rope2d_block *blocks, uint32_t block_count,         \
                             float *staged) {                                                                \
        for (uint32_t b = 0; b < block_count; b++) {                                                         \
            const float *from = entries + 2 * (size_t)blocks[b].pair;                                        \
            for (uint32_t i = 1; i < blocks[b].steps; i++, staged += (floats))                               \
                name##_step(from + 2 * (size_t)(i - 1) * (pairs), staged);                                   \
            name##_step(from + 2 * (size_t)blocks[b].last_pair, staged);                                     \
            staged += (floats);                                                                              \
        }                                                                                                    \
    }
