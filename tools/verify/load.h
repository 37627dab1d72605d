// SPDX-License-Identifier: MIT
//
// A device kept busy by another thread, with the same rotation on memory of its own.
#ifndef ROPE2D_VERIFY_LOAD_H
#define ROPE2D_VERIFY_LOAD_H

#include "../../tests/harness/run.h"

struct verify_load;

// Begins, and returns after the first rotation; the device and the work must live until the end. NULL where
// there are no threads or no memory: then there is no load.
struct verify_load *load_begin(rope2d_device *device, const struct harness_work *work, rope2d_table table);
// Returns how many rotations there were. NULL is legal.
uint64_t load_end(struct verify_load *load);

#endif
