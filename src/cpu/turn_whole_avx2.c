// SPDX-License-Identifier: MIT
//
// Heads of 16-bit numbers that are one block of more steps than registers have room for: what is left over of
// cosines and sines the nearest cache has, and memory is read in order, where several blocks would take some
// heads by turns. Conversions take as long as reading, so it costs nothing.
#include "turn_lists.h"

#if ROPE2D_X86_64

#define TARGET "avx2,f16c"
#include "turn_avx2_tmpl.h"

#include "turn_words_avx2_tmpl.h"

#define HAS_AHEAD            1
#define IS_FEW               0
#define HAS_SHARED           0
#define WHOLE_HALF_STEPS     6
#define HALF_STEPS           8
#define WHOLE_STEPS          8
#define BLOCK_STEPS          11
#define WHOLE_WORD_STEPS     8
#define WORD_STEPS           8
#define WHOLE_EVEN_ODD_STEPS 4
#define EVEN_ODD_STEPS       4

#include "turn_pair_tmpl.h"

#include "turn_f16_tmpl.h"

#include "turn_bf16_tmpl.h"

const rope2d_turn_kernel rope2d_turn_whole_avx2[4] = {
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F16, 8, 16, HALF_STEPS, ROPE2D_LENGTH(0) | ROPE2D_LENGTH(2),
     .turn = half_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 16, 32, EVEN_ODD_STEPS, ROPE2D_LENGTH(0),
     .turn = half_bf16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F16, 4, 16, BLOCK_STEPS,
     ROPE2D_LENGTH(0) | ROPE2D_LENGTH(1) | ROPE2D_LENGTH(3), .turn = interleaved_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 8, 32, WORD_STEPS, ROPE2D_LENGTH(0),
     .turn = interleaved_bf16},
};

#endif
