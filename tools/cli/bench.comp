// SPDX-License-Identifier: MIT
//
// Copies words, or multiplies them in place: what a rotation is held against. B_WORD is a lane's load: uint, uvec2 or
// uvec4; a lane takes B_ITEMS of them, a workgroup apart, so that neighbours touch neighbours.
#version 450

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint B_ITEMS = 1u;
layout(constant_id = 2) const bool B_SCALE = false;

layout(set = 0, binding = 0, std430) readonly buffer In {
    B_WORD from[];
};
layout(set = 0, binding = 1, std430) buffer Out {
    B_WORD to[];
};
layout(push_constant) uniform Sizes {
    uint count;    // of words
    uint groups_x; // in a row of the grid
    float factor;
};

void main() {
    uint group = gl_WorkGroupID.y * groups_x + gl_WorkGroupID.x;
    uint at = group * gl_WorkGroupSize.x * B_ITEMS + gl_LocalInvocationID.x;
    for (uint i = 0u; i < B_ITEMS; ++i) {
        if (at < count) {
            if (B_SCALE)
                to[at] = floatBitsToUint(uintBitsToFloat(to[at]) * factor);
            else
                to[at] = from[at];
        }
        at += gl_WorkGroupSize.x;
    }
}
