// SPDX-License-Identifier: MIT
//
// The least there is to it: four patches, a head of four channels, on the CPU. Channels 0 and 1 turn with y,
// 2 and 3 with x.
#include <rope2d/rope2d.h>

#include <stdio.h>

int main(void) {
    const float freqs[2][2] = {{1, 0}, {0, 1}}, yx[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
    float q[4][4] = {{1, 0, 1, 0}, {1, 0, 1, 0}, {1, 0, 1, 0}, {1, 0, 1, 0}};
    rope2d_device *device = NULL;
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;

    rope2d_device_params cpu = {.struct_size = sizeof(cpu)};
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = 4, .axes = 2, .freqs = &freqs[0][0]};
    rope2d_positions_params grid = {sizeof(grid), &spec, .tokens = 4, .coordinates = &yx[0][0]};
    rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &spec};
    rope2d_tensor tensor = {1, .in = rope2d_view_contiguous(q, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, 4, 1, 4)};
    rope2d_apply_params all = {sizeof(all), .batch = 1, .tokens = 4, .tensor_count = 1, .tensors = &tensor};
    int failed = rope2d_device_create(&cpu, &device) || rope2d_positions_create(device, &grid, &positions) ||
                 rope2d_plan_create(device, &types, &plan) || rope2d_apply(plan, positions, &all);
    for (int t = 0; t < 4 && !failed; t++)
        printf("y %g x %g: %f %f %f %f\n", yx[t][0], yx[t][1], q[t][0], q[t][1], q[t][2], q[t][3]);

    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    rope2d_device_destroy(device);
    return failed;
}
