// SPDX-License-Identifier: MIT
#include "turn_lists.h"

#if ROPE2D_X86_64

#define TARGET "avx2,f16c"
#include "turn_avx2_tmpl.h"

#include "turn_words_avx2_tmpl.h"

#define IS_FEW     1
#define HAS_F16    1
#define HAS_AHEAD  1
#define HAS_SHARED 0

#include "turn_all_tmpl.h"

const rope2d_turn_kernel rope2d_turn_few_avx2[6] = {
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F32, 8, 32, UINT8_MAX, .is_few = true, .is_past = true,
     .alone = true, .turn = half_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F16, 8, 16, UINT8_MAX, .is_few = true, .turn = half_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 16, 32, UINT8_MAX, .is_few = true, .turn = half_bf16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 4, 32, UINT8_MAX, .is_few = true, .alone = true,
     .turn = interleaved_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F16, 4, 16, UINT8_MAX, .is_few = true, .alone = true,
     .turn = interleaved_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 8, 32, UINT8_MAX, .is_few = true,
     .turn = interleaved_bf16},
};

#endif
