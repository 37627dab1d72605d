// SPDX-License-Identifier: MIT
//
// Turns of heads from one element type to another, by way of f32, with AVX2 and F16C. The conversions are
// those of core.h, but a signalling NaN of f16 becomes quiet, as a product would make it.
#ifndef ROPE2D_CPU_CONVERT_H
#define ROPE2D_CPU_CONVERT_H

#include "apply.h"

#define ROPE2D_CONVERTED 8 // channels at a time

// For heads of which all channels turn, a multiple of those.
void rope2d_turn_converted(const rope2d_cpu_job *job, const rope2d_turn *t);

#endif
