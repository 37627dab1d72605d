// SPDX-License-Identifier: MIT
// Small specs that have all they need, to be spoilt: two axes and 4 pairs of 8 channels, with params for it,
// and one of 16 channels.
#ifndef TEST_SMALL_PARAMS_H
#define TEST_SMALL_PARAMS_H

#include "rope2d/rope2d.h"

extern const float small_axial_freqs[2][4];
extern const float small_dense_freqs[2][4];

rope2d_spec small_spec(const float freqs[2][4]);
rope2d_positions_params small_params(const rope2d_spec *spec, uint64_t tokens, const float *coordinates);

// Two axes, 8 pairs of 16 channels, the first half of the pairs on axis 0.
extern const float good_freqs[2][8];

rope2d_spec good_spec(void);

#endif
