// SPDX-License-Identifier: MIT
//
// The engine's pass after the rotation: what one token attends to, in every head.
#version 450
#include "attention_sizes.h"

layout(local_size_x = 64) in;
layout(push_constant) uniform Frame {
    uint query;
};
layout(binding = 0, std430) readonly buffer Q {
    float q[]; // [TOKENS][HEADS][HEAD_DIM]
};
layout(binding = 1, std430) readonly buffer K {
    float k[];
};
layout(binding = 2, std430) writeonly buffer Scores {
    float scores[]; // [HEADS][TOKENS]
};

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= HEADS * TOKENS)
        return;
    uint head = index / TOKENS;
    uint token = index % TOKENS;
    precise float sum = 0.0;
    for (uint d = 0u; d < HEAD_DIM; d++) {
        precise float product = q[(query * HEADS + head) * HEAD_DIM + d] * k[(token * HEADS + head) * HEAD_DIM + d];
        sum = sum + product;
    }
    scores[index] = sum;
}
