// SPDX-License-Identifier: MIT
// The smallest spec that has all it needs, two axes and 4 pairs of 8 channels, and params for it.
#ifndef TEST_SMALL_PARAMS_H
#define TEST_SMALL_PARAMS_H

#include "rope2d/rope2d.h"

extern const float small_axial_freqs[2][4];
extern const float small_dense_freqs[2][4];

rope2d_spec small_spec(const float freqs[2][4]);
rope2d_positions_params small_params(const rope2d_spec *spec, uint64_t tokens, const float *coordinates);

#endif
