// SPDX-License-Identifier: MIT
//
// The engine's pass before the rotation: q and k of every token from its features.
#version 450
#include "attention_sizes.h"

layout(local_size_x = 64) in;
layout(binding = 0, std430) readonly buffer Values {
    float values[]; // features [TOKENS][FEATURES], then weights [2][HEADS][HEAD_DIM][FEATURES]
};
layout(binding = 1, std430) writeonly buffer Q {
    float q[]; // [TOKENS][HEADS][HEAD_DIM]
};
layout(binding = 2, std430) writeonly buffer K {
    float k[];
};

float project(uint x, uint weights) {
    precise float sum = 0.0;
    for (uint f = 0u; f < FEATURES; f++) {
        precise float product = values[x + f] * values[weights + f];
        sum = sum + product;
    }
    return sum;
}

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= ELEMENTS)
        return;
    uint x = index / (HEADS * HEAD_DIM) * FEATURES;
    uint weights = TOKENS * FEATURES + index % (HEADS * HEAD_DIM) * FEATURES;
    q[index] = project(x, weights);
    k[index] = project(x, weights + WEIGHTS);
}
