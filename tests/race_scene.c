// SPDX-License-Identifier: MIT
#include "race_scene.h"

static const float freqs[2][RACE_DIM / 2] = {{1, 0.5f, 0.25f}, {0, 0, 0, 1, 0.5f, 0.25f}};

bool race_make(rope2d_device *device, rope2d_positions **positions, rope2d_plan **plan) {
    float grid[RACE_TOKENS][2];
    const rope2d_spec spec = {
        .struct_size = sizeof(spec), .head_dim = RACE_DIM, .axes = 2, .freqs = freqs[0]};
    const rope2d_positions_params at = {
        .struct_size = sizeof(at), .spec = &spec, .tokens = RACE_TOKENS, .coordinates = grid[0]};
    const rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &spec};
    for (int t = 0; t < RACE_TOKENS; t++) {
        grid[t][0] = (float)(t / 8);
        grid[t][1] = (float)(t % 8);
    }
    return rope2d_positions_create(device, &at, positions) == ROPE2D_OK &&
           rope2d_plan_create(device, &types, plan) == ROPE2D_OK;
}

bool race_scene_create(race_scene *scene, rope2d_backend backend, uint32_t index) {
    const rope2d_device_params where = {.struct_size = sizeof(where), .backend = backend, .index = index};
    race_fill(scene->shared);
    return rope2d_device_create(&where, &scene->device) == ROPE2D_OK &&
           race_make(scene->device, &scene->positions, &scene->plan);
}

void race_scene_destroy(race_scene *scene) {
    rope2d_plan_destroy(scene->plan);
    rope2d_positions_destroy(scene->positions);
    rope2d_device_destroy(scene->device);
}

void race_fill(float *values) {
    for (int i = 0; i < RACE_ELEMENTS; i++)
        values[i] = (float)(i % 97) - 48;
}

bool race_apply(const race_scene *scene, float *values) {
    const rope2d_tensor q = {.heads = RACE_HEADS,
                             .in = rope2d_view_contiguous(values, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1,
                                                          RACE_TOKENS, RACE_HEADS, RACE_DIM)};
    const rope2d_apply_params params = {
        .struct_size = sizeof(params), .batch = 1, .tokens = RACE_TOKENS, .tensor_count = 1, .tensors = &q};
    return rope2d_apply(scene->plan, scene->positions, &params) == ROPE2D_OK;
}
