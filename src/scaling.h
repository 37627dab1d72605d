// SPDX-License-Identifier: MIT
//
// The scaling laws, as the frequencies of presets use them.
#ifndef ROPE2D_SCALING_H
#define ROPE2D_SCALING_H

#include "internal.h"
#include "rope2d/rope2d_presets.h"

// Refuses numbers that the law cannot take for an axis of `channels`.
rope2d_status rope2d_scaling_check(const rope2d_scaling *scaling, uint32_t channels, const rope2d_host *host);
// The law with its own numbers where there are zeros.
rope2d_scaling rope2d_scaling_defaults(const rope2d_scaling *scaling);
// What the law makes of the base; of one that is not above 0 nothing sensible.
double rope2d_scaled_base(const rope2d_scaling *scaling, double base, uint32_t channels);
// What the law, with its defaults filled in, makes of the frequency base^(-2 pair / channels).
double rope2d_scaled_frequency(const rope2d_scaling *own, double frequency, double pair, double base,
                               uint32_t channels);

#endif
