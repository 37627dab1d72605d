// SPDX-License-Identifier: MIT
//
// What the tests of the mathematics share: random specs whose frequencies allow positions to be recovered,
// and rotation through the public API on the CPU.
#ifndef TEST_ROTATIONS_H
#define TEST_ROTATIONS_H

#include "check.h"
#include "rope2d/rope2d.h"

#include <stdbool.h>

enum {
    ROTATION_MAX_PAIRS = 48,
    ROTATION_MAX_CHANNELS = 2 * ROTATION_MAX_PAIRS + 8,
    ROTATION_RANGE = 500, // coordinates of the tests are integers in [-ROTATION_RANGE, ROTATION_RANGE]
};

// A spec and what it points to. It points into itself: fill it in place, never copy it.
typedef struct random_spec {
    rope2d_spec spec;
    uint32_t pairs;
    bool is_dense;
    uint32_t lo[ROTATION_MAX_PAIRS]; // the channels of each pair, by this test's own reading of the pairing
    uint32_t hi[ROTATION_MAX_PAIRS];
    float freqs[ROPE2D_MAX_AXES * ROTATION_MAX_PAIRS]; // [axes][pairs]
} random_spec;

// Pairing, range of channels, axial or dense and frequencies follow from the seed. Frequencies run from about
// 1 down to 1 / ROTATION_RANGE on each axis.
void random_spec_fill(random_spec *random, uint32_t axes, uint64_t seed);
// A line for failures.
void random_spec_describe(const random_spec *random, char *text, size_t size);

// Rotates [tokens][head_dim] by coordinates [tokens][axes], each one head; false and a line when a call
// fails.
bool rotate(rope2d_device *device, const rope2d_spec *spec, const float *coordinates, uint64_t tokens,
            const float *in, float *out);

double dot(const float *a, const float *b, uint32_t count);
double norm(const float *a, uint32_t count);

rope2d_device *rotations_open(void);         // the CPU, or NULL and a failed check
int rotations_finish(rope2d_device *device); // prints the last line; returns the exit status

#endif
