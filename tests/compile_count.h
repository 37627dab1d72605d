// SPDX-License-Identifier: MIT
//
// How often a driver's compiler was asked, seen by the shims of Vulkan and OpenCL.
#ifndef TEST_COMPILE_COUNT_H
#define TEST_COMPILE_COUNT_H

#include "rope2d/rope2d.h"

#include <stdbool.h>

// Puts the shim at `path` in the loader's place, for the whole program. Before any device.
bool compile_count_open(rope2d_backend backend, const char *path);
// Pipelines made, or programs made from source, so far.
long compile_count(void);
// Vulkan's shim, or NULL.
struct shim *compile_count_vulkan(void);

#endif
