// SPDX-License-Identifier: MIT
//
// A golden case scaled up to the size of a real image.
#ifndef ROPE2D_CLI_DEMO_SCENE_H
#define ROPE2D_CLI_DEMO_SCENE_H

#include "case.h"

// All zero is one that holds nothing.
struct scene {
    uint32_t height, width;
    float *data[JOB_TENSORS];
    float *coordinates;
    struct job job; // points into the rest and into the case
};

// Token t and head h of the image take the case's values of token t and head h, repeated as often as needed.
// The layout is that of the case, in which packed images become one. Returns an exit status, having said what
// is wrong. scene_free takes it in any state.
int scene_make(const struct golden_case *golden, uint32_t height, uint32_t width, uint32_t heads,
               struct scene *scene);
void scene_free(struct scene *scene);

#endif
