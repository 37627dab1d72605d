// SPDX-License-Identifier: MIT
//
// Software devices that say they are GPUs, so that what GPUs' kernels do can be seen without one.
#ifndef TEST_AS_GPU_H
#define TEST_AS_GPU_H

#include "rope2d/rope2d.h"

#include <stdbool.h>

// For the whole program, through the backend's shim at `path`. Before any device; tells whether it worked.
bool as_gpu(rope2d_backend backend, const char *path);

#endif
