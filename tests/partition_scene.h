// SPDX-License-Identifier: MIT
// A tensor, its plan and its positions, of which any range of tokens and heads can be rotated alone.
#ifndef TEST_PARTITION_SCENE_H
#define TEST_PARTITION_SCENE_H

#include "rope2d/rope2d.h"

#include <stdbool.h>

enum { PARTITION_BATCH = 2, PARTITION_MAX_TOKENS = 2048, PARTITION_MAX_DIM = 80 };

typedef struct partition_scene {
    const char *kind; // of the device
    rope2d_device *device;
    rope2d_element element;
    rope2d_pairing pairing;
    uint32_t heads;
    uint32_t dim;
    uint64_t tokens;
    uint64_t seed;
    bool in_place;
    rope2d_plan *plan;
    rope2d_positions *positions;
    size_t bytes; // of the tensor
} partition_scene;

typedef struct partition_range {
    uint64_t begin;
    uint64_t end;
} partition_range;

// A whole number in [0, bound) that the scene's seed gives.
uint32_t partition_draw(const partition_scene *s, uint64_t stream, uint64_t index, uint64_t bound);

// By seed: an axis to a pair, both axes to every pair, and both as factors; every second one has positions
// for each element of the batch. Some tokens do not rotate.
bool partition_make(partition_scene *s);
void partition_release(partition_scene *s);

// Rotates these tokens and heads of the tensor.
bool partition_apply(const partition_scene *s, void *in, void *out, partition_range tokens,
                     partition_range heads);

#endif
