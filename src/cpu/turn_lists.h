// SPDX-License-Identifier: MIT
//
// Each instruction set's kernels.
#ifndef ROPE2D_CPU_TURN_LISTS_H
#define ROPE2D_CPU_TURN_LISTS_H

#include "turn.h"

extern const rope2d_turn_kernel rope2d_turn_sse2[2];
extern const rope2d_turn_kernel rope2d_turn_avx2[6];
extern const rope2d_turn_kernel rope2d_turn_streamed_avx2[6];
extern const rope2d_turn_kernel rope2d_turn_whole_avx2[4];
extern const rope2d_turn_kernel rope2d_turn_avx512[3];
extern const rope2d_turn_kernel rope2d_turn_bf16_avx512[1];
extern const rope2d_turn_kernel rope2d_turn_few_avx512[6];
extern const rope2d_turn_kernel rope2d_turn_few_avx2[6];
extern const rope2d_turn_kernel rope2d_turn_neon[6];

#endif
