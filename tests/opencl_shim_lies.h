// SPDX-License-Identifier: MIT
// What the shim changes of a driver's answers.
#ifndef TEST_OPENCL_SHIM_LIES_H
#define TEST_OPENCL_SHIM_LIES_H

#include "opencl_shim.h"

#include <stddef.h>

#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

// Questions that are no parameter's name.
enum { SHIM_ASKED_PLATFORMS = 1, SHIM_ASKED_DEVICES = 2, SHIM_ASKED_FORMATS = 3 };

void shim_lie_in_answer(long asked, size_t size, void *value, size_t *size_needed);
void shim_lie_in_count(long asked, cl_uint *count);

#endif
