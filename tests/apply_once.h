// SPDX-License-Identifier: MIT
// An apply with a plan and positions that are made for it alone.
#ifndef ROPE2D_TESTS_APPLY_ONCE_H
#define ROPE2D_TESTS_APPLY_ONCE_H

#include "rope2d/rope2d.h"

// The status of the first call that fails.
rope2d_status apply_once(rope2d_device *device, const rope2d_plan_params *types,
                         const rope2d_positions_params *grid, const rope2d_apply_params *all);

#endif
