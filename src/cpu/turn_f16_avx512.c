// SPDX-License-Identifier: MIT
//
// Heads of binary16 whose halves are blocks of six or eight steps, with twice AVX2's registers: what several
// blocks of fewer steps take by turns is one here. Vectors have 256 bits, since conversions of 512 take
// longer.
#include "turn_lists.h"

#if ROPE2D_X86_64

#define TARGET "avx512f,avx512bw,avx512dq,avx512vl,f16c"
#include "turn_avx2_tmpl.h"

#define HAS_AHEAD        1
#define IS_FEW           0
#define WHOLE_HALF_STEPS 6
#define HALF_STEPS       8

#include "turn_pair_tmpl.h"

#include "turn_f16_tmpl.h"

const rope2d_turn_kernel rope2d_turn_f16_avx512[1] = {
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_HALF, ROPE2D_F16, 8, 16, HALF_STEPS,
     ROPE2D_LENGTH(0) | ROPE2D_LENGTH(2), .turn = half_f16},
};

#endif
