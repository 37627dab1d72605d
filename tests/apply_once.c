// SPDX-License-Identifier: MIT
#include "apply_once.h"

#include <string.h>

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

void once_params_fill(once_params *made, rope2d_element type, uint32_t tokens, uint32_t width) {
    memset(made, 0, sizeof(*made));
    for (int i = 0; i < ONCE_DIM / 2; i++)
        made->freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (uint32_t t = 0; t < tokens && t < ONCE_MOST_TOKENS; t++) {
        made->yx[t][0] = (float)(t / width);
        made->yx[t][1] = (float)(t % width);
    }
    made->spec = (rope2d_spec){
        .struct_size = sizeof(made->spec), .head_dim = ONCE_DIM, .axes = 2, .freqs = made->freqs[0]};
    made->types = (rope2d_plan_params){.struct_size = sizeof(made->types),
                                       .spec = &made->spec,
                                       .in = type,
                                       .out = type,
                                       .flags = ROPE2D_PLAN_NO_SELF_TEST};
    made->grid = (rope2d_positions_params){
        .struct_size = sizeof(made->grid), .spec = &made->spec, .tokens = tokens, .coordinates = made->yx[0]};
}
