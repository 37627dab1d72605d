// SPDX-License-Identifier: MIT
// A device, positions and a plan that several threads use at once.
#ifndef TEST_RACE_SCENE_H
#define TEST_RACE_SCENE_H

#include "rope2d/rope2d.h"

#include <stdbool.h>

enum { RACE_TOKENS = 64, RACE_HEADS = 4, RACE_DIM = 32, RACE_ELEMENTS = RACE_TOKENS * RACE_HEADS * RACE_DIM };

typedef struct race_scene {
    rope2d_device *device;
    rope2d_positions *positions;
    rope2d_plan *plan;
    float shared[RACE_ELEMENTS];
} race_scene;

// False when there is no such device. Zeroed memory may be destroyed.
bool race_scene_create(race_scene *scene, rope2d_backend backend, uint32_t index);
void race_scene_destroy(race_scene *scene);

bool race_make(rope2d_device *device, rope2d_positions **positions, rope2d_plan **plan);
void race_fill(float *values);
bool race_apply(const race_scene *scene, float *values);

#endif
