// SPDX-License-Identifier: MIT
#include "apply_once.h"

rope2d_status apply_once(rope2d_device *device, const rope2d_plan_params *types,
                         const rope2d_positions_params *grid, const rope2d_apply_params *all) {
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    rope2d_status status = rope2d_plan_create(device, types, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(device, grid, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_apply(plan, positions, all);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    return status;
}
