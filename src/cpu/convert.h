// SPDX-License-Identifier: MIT
//
// Turns of heads from one element type to another, by way of f32, with AVX2 and F16C.
#ifndef ROPE2D_CPU_CONVERT_H
#define ROPE2D_CPU_CONVERT_H

#include "apply.h"
#include "convert_avx2.h"

// For heads of which all channels turn, a multiple of those.
void rope2d_turn_converted(const rope2d_cpu_job *job, const rope2d_turn *t);

#endif
