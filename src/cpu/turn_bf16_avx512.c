// SPDX-License-Identifier: MIT
//
// Heads of bf16 whose halves are two vectors of 512 bits, or whose pairs side by side are four: half the
// instructions of turn_avx512.c.
#include "turn_lists.h"

#if ROPE2D_X86_64

#include "turn_avx512_tmpl.h"

#include "turn_words_avx512_tmpl.h"

#define HAS_AHEAD            1
#define IS_FEW               0
#define HAS_SHARED           0
#define WHOLE_EVEN_ODD_STEPS 2
#define EVEN_ODD_STEPS       2
#define WHOLE_WORD_STEPS     4
#define WORD_STEPS           4

#include "turn_bf16_tmpl.h"

const rope2d_turn_kernel rope2d_turn_bf16_avx512[2] = {
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 32, 64, EVEN_ODD_STEPS, ROPE2D_LENGTH(0),
     .turn = half_bf16},
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 16, 64, WORD_STEPS, ROPE2D_LENGTH(0),
     .turn = interleaved_bf16},
};

#endif
