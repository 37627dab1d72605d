// SPDX-License-Identifier: MIT
#include "turn_lists.h"

#if ROPE2D_X86_64

#define TARGET "avx2,f16c"
#include "turn_avx2_tmpl.h"

#define HAS_F16        1
#define HAS_AHEAD      1
#define IS_FEW         0
#define BLOCK_STEPS    5
#define HALF_STEPS     BLOCK_STEPS
#define WORD_STEPS     BLOCK_STEPS
#define EVEN_ODD_STEPS 3
#define HAS_SHARED     0
// Of bf16, which has few steps to a head: each jump of a loop counts beside them.
#define STEPS_ASK

#include "turn_words_avx2_tmpl.h"

#include "turn_all_tmpl.h"

const rope2d_turn_kernel rope2d_turn_avx2[6] = {
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F32, 8, 32, HALF_STEPS, .turn = half_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F16, 8, 16, HALF_STEPS, .turn = half_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 16, 32, EVEN_ODD_STEPS, .shares = HAS_SHARED,
     .turn = half_bf16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 4, 32, BLOCK_STEPS, .turn = interleaved_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F16, 4, 16, BLOCK_STEPS, .turn = interleaved_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 8, 32, WORD_STEPS, .turn = interleaved_bf16},
};

#endif
