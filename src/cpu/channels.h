// SPDX-License-Identifier: MIT
//
// Heads whose pairs no vector kernel knows: two angles to a pair, channels in runs shorter than a vector,
// tokens of which some axes turn nothing. Channel by channel, eight at a time, with AVX2 and F16C: each is
// multiplied by a cosine of its own, its partner by a sine.
#ifndef ROPE2D_CPU_CHANNELS_H
#define ROPE2D_CPU_CHANNELS_H

#include "isa.h"
#include "portable.h"

// With the portable kernel's bits; or that kernel itself, for processors without AVX2, heads of more than 512
// channels or of no multiple of eight, and patterns with factors.
rope2d_cpu_kernel *rope2d_channels_kernel(rope2d_isa isa, const rope2d_pattern *pattern);

#endif
