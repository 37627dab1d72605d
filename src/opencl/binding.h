// SPDX-License-Identifier: MIT
//
// A caller's memory as kernels take it.
#ifndef ROPE2D_OPENCL_BINDING_H
#define ROPE2D_OPENCL_BINDING_H

#include "adopt.h"

struct rope2d_opencl_binding {
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    const rope2d_cl_window *window;
    cl_kernel kernel;
    uint64_t row_tokens; // 0: the positions' own rows
    uint32_t row_batch;
    uint32_t row_bound;
    rope2d_work work;
    rope2d_checked_tensor tensors[ROPE2D_OPENCL_MAX_TENSORS];
    rope2d_piece piece;
    rope2d_cl_pointers pointers; // where a tensor has one
};

_Static_assert(ROPE2D_OPENCL_MAX_TENSORS == R_MAX_DISPATCH_TENSORS, "a binding is one dispatch");

#endif
