// SPDX-License-Identifier: MIT
//
// What implements the public header: it comes after opencl.h, which says which OpenCL is meant.
#ifndef ROPE2D_OPENCL_ADOPT_H
#define ROPE2D_OPENCL_ADOPT_H

#include "opencl.h"

#include "rope2d/rope2d_opencl.h"

#endif
