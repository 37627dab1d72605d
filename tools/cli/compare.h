// SPDX-License-Identifier: MIT
//
// Verdicts on what a device rotated.
#ifndef ROPE2D_CLI_COMPARE_H
#define ROPE2D_CLI_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "job.h"

struct difference {
    uint64_t count; // elements that differ
    uint64_t first; // index of the first; counts in the order of memory
    double largest; // largest difference; infinite where one alone is NaN
};

// Elements of fp32 that are farther from what was recorded than the tolerance.
struct difference compare_recorded(const float *values, const float *recorded, uint64_t count,
                                   double tolerance);

// Elements whose bits differ, a NaN being as good as another. A device that flushes subnormals may be off by
// what its flushed inputs, products and sum could have added.
struct difference compare_bits(const void *values, const void *reference, rope2d_element element,
                               uint64_t count, rope2d_exactness exactness);

// Elements that must pass through and did not keep their bits: tokens in the unrotated ranges, and channels
// outside the pairs. fp32 in and out.
struct difference compare_copied(const struct job *job, size_t which, const float *values);

// "q[batch 0, token 3, head 1, channel 17]" into text.
void compare_place(const struct job_tensor *tensor, const char *name, uint64_t index, char *text,
                   size_t size);

#endif
