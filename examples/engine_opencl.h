// SPDX-License-Identifier: MIT
//
// What the engine of engine_opencl.c owns.
#ifndef ENGINE_OPENCL_H
#define ENGINE_OPENCL_H

#define CL_TARGET_OPENCL_VERSION 120
#include "attention.h"

#include <rope2d/rope2d_opencl.h>

typedef struct engine {
    cl_context context;
    cl_command_queue queue;
    cl_kernel project_kernel, scores_kernel;
    cl_mem values, q, k, scores; // values: features, then weights
    rope2d_device *device;
    rope2d_plan *plan;
    rope2d_positions *positions;
    rope2d_opencl_binding *rotation;
} engine;

rope2d_status engine_open(engine *own, cl_device_id device);
void engine_close(engine *own); // also when it is open in part

#endif
