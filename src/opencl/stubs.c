// SPDX-License-Identifier: MIT
#define NAME   "OpenCL"
#define OPTION "opencl"
#define OPS    rope2d_opencl_ops
#include "stubs.h"
