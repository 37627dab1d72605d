// SPDX-License-Identifier: MIT
//
// bf16 whose pairs lie side by side, by 512 bits: half the instructions of 256, also where a head's last step
// overlaps the one before by half.
#include "turn_lists.h"

#if ROPE2D_X86_64

#include "turn_avx512_tmpl.h"

#include "turn_words_avx512_tmpl.h"

#define store_words(p, w) store_words_where(p, w, turn->direct)

#define HAS_AHEAD  1
#define IS_FEW     0
#define WORD_STEPS 5

#include "turn_pair_tmpl.h"

#include "turn_bf16_tmpl.h"

const rope2d_turn_kernel rope2d_turn_bf16_avx512[1] = {
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 16, 64, WORD_STEPS, .may_stream = true,
     .turn = interleaved_bf16},
};

#endif
