// SPDX-License-Identifier: MIT
// An apply with a plan and positions that are made for it alone, and params for such ones.
#ifndef ROPE2D_TESTS_APPLY_ONCE_H
#define ROPE2D_TESTS_APPLY_ONCE_H

#include "rope2d/rope2d.h"

// The status of the first call that fails.
rope2d_status apply_once(rope2d_device *device, const rope2d_plan_params *types,
                         const rope2d_positions_params *grid, const rope2d_apply_params *all);

enum { ONCE_DIM = 32, ONCE_MOST_TOKENS = 16 };

// Two axes that turn by turns the pairs of ONCE_DIM channels, and tokens in rows of `width`. It points into
// itself.
typedef struct once_params {
    float freqs[2][ONCE_DIM / 2];
    float yx[ONCE_MOST_TOKENS][2];
    rope2d_spec spec;
    rope2d_plan_params types; // without a self-test
    rope2d_positions_params grid;
} once_params;

void once_params_fill(once_params *made, rope2d_element type, uint32_t tokens, uint32_t width);

#endif
