// SPDX-License-Identifier: MIT
//
// Numbers keys of one to four floats in order of first appearance, equal bits sharing a number; -0 is +0.
#ifndef ROPE2D_MERGE_H
#define ROPE2D_MERGE_H

#include "internal.h"

// Zeros with a width are an empty one. Any number of threads may look things up at once.
typedef struct rope2d_merge {
    uint32_t width; // floats of a key, 1 to ROPE2D_MAX_AXES
    uint32_t count;
    uint32_t capacity;
    float *keys; // [capacity][width]
    uint32_t slot_count;
    uint32_t *slots; // [slot_count], a power of two: 1 + the number of a key; 0: empty
} rope2d_merge;

// The number of the key, new when it was not there.
rope2d_status rope2d_merge_add(rope2d_merge *merge, const rope2d_host *host, const float *key,
                               int32_t *number);
// Gives the key the next number whether it was there or not; the first number stays the one that is found.
rope2d_status rope2d_merge_append(rope2d_merge *merge, const rope2d_host *host, const float *key);
// -1: not there.
int32_t rope2d_merge_find(const rope2d_merge *merge, const float *key);
void rope2d_merge_destroy(rope2d_merge *merge, const rope2d_host *host);

#endif
