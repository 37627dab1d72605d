// SPDX-License-Identifier: MIT
#include "attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = ROTARY / 2, UP = 3, LEFT = 6 };

// Even pairs turn with y, odd ones with x: a full turn takes 4 to 78 patches.
static float frequency(int pair) {
    return 1.6f * (float)pow(0.55, pair / 2);
}

// 1: background, 2: disc, 3: square. The disc moves from frame to frame.
static int colour(uint32_t frame, int y, int x) {
    const int down = y - 9 - (int)frame, right = x - 9;
    if (down * down + right * right <= 20)
        return 2;
    return abs(y - 18) <= 3 && abs(x - 18) <= 3 ? 3 : 1;
}

void attention_features(uint32_t frame, float features[TOKENS][FEATURES]) {
    memset(features, 0, sizeof(float[TOKENS][FEATURES]));
    for (int t = 0; t < TOKENS; t++) {
        features[t][0] = 1;
        features[t][colour(frame, t / SIDE, t % SIDE)] = 1;
    }
}

uint32_t attention_query(uint32_t frame) {
    static const uint32_t places[FRAMES][2] = {{5, 6}, {9, 11}, {14, 15}, {18, 19}};
    return places[frame][0] * SIDE + places[frame][1];
}

void attention_weights(float weights[2][HEADS][HEAD_DIM][FEATURES]) {
    float(*q)[HEAD_DIM][FEATURES] = weights[0], (*k)[HEAD_DIM][FEATURES] = weights[1];
    memset(weights, 0, sizeof(float[2][HEADS][HEAD_DIM][FEATURES]));
    for (int i = 0; i < PAIRS; i++) {
        const int axis = i % 2; // the other head of 1 and 2 has nothing in this pair
        const float angle = frequency(i) * (axis == 0 ? -UP : -LEFT);
        q[0][2 * i][0] = k[0][2 * i][0] = 1;
        q[1 + axis][2 * i][0] = k[1 + axis][2 * i][0] = 1;
        q[3][2 * i][0] = (float)cos(angle);
        q[3][2 * i + 1][0] = (float)sin(angle);
        k[3][2 * i][0] = 1;
    }
    for (int c = 1; c < FEATURES; c++)
        q[4][ROTARY + c][c] = k[4][ROTARY + c][c] = 2;
}

rope2d_spec attention_spec(void) {
    static float freqs[2][PAIRS];
    for (int i = 0; i < PAIRS; i++)
        freqs[i % 2][i] = frequency(i);
    const rope2d_spec spec = {.struct_size = sizeof(spec),
                              .head_dim = HEAD_DIM,
                              .rotary_dim = ROTARY,
                              .axes = 2,
                              .freqs = &freqs[0][0]};
    return spec;
}

void attention_coordinates(float yx[TOKENS][2]) {
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / SIDE);
        yx[t][1] = (float)(t % SIDE);
    }
}

static void project(float features[TOKENS][FEATURES], float weights[HEADS][HEAD_DIM][FEATURES],
                    float out[TOKENS][HEADS][HEAD_DIM]) {
    for (int i = 0; i < ELEMENTS; i++) {
        const float *x = features[i / (HEADS * HEAD_DIM)],
                    *w = (&weights[0][0][0]) + i % (HEADS * HEAD_DIM) * FEATURES;
        float sum = 0;
        for (int f = 0; f < FEATURES; f++) {
            const float product = x[f] * w[f];
            sum = sum + product;
        }
        (&out[0][0][0])[i] = sum;
    }
}

static rope2d_status rotate(float *q, float *k) {
    static float yx[TOKENS][2];
    const rope2d_spec spec = attention_spec();
    rope2d_device *device = NULL;
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    attention_coordinates(yx);
    const rope2d_device_params cpu = {.struct_size = sizeof(cpu)};
    const rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &spec};
    const rope2d_positions_params grid = {
        .struct_size = sizeof(grid), .spec = &spec, .tokens = TOKENS, .coordinates = &yx[0][0]};
    const rope2d_tensor qk[2] = {
        {HEADS, .in = rope2d_view_contiguous(q, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM)},
        {HEADS, .in = rope2d_view_contiguous(k, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM)}};
    const rope2d_apply_params both = {sizeof(both), .batch = 1, .tokens = TOKENS, .tensor_count = 2,
                                      .tensors = qk};
    rope2d_status status = rope2d_device_create(&cpu, &device);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(device, &types, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(device, &grid, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_apply(plan, positions, &both);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    rope2d_device_destroy(device);
    return status;
}

rope2d_status attention_expected(uint32_t frame, float scores[HEADS][TOKENS]) {
    static float features[TOKENS][FEATURES], weights[2][HEADS][HEAD_DIM][FEATURES];
    static float q[TOKENS][HEADS][HEAD_DIM], k[TOKENS][HEADS][HEAD_DIM];
    attention_features(frame, features);
    attention_weights(weights);
    project(features, weights[0], q);
    project(features, weights[1], k);
    const rope2d_status status = rotate(&q[0][0][0], &k[0][0][0]);
    for (int i = 0; i < HEADS * TOKENS; i++) {
        const float *a = q[attention_query(frame)][i / TOKENS], *b = k[i % TOKENS][i / TOKENS];
        float sum = 0;
        for (int d = 0; d < HEAD_DIM; d++) {
            const float product = a[d] * b[d];
            sum = sum + product;
        }
        scores[i / TOKENS][i % TOKENS] = sum;
    }
    return status;
}
