// SPDX-License-Identifier: MIT
//
// What implements the public header: it comes after opencl.h, which says which OpenCL is meant.
#ifndef ROPE2D_OPENCL_ADOPT_H
#define ROPE2D_OPENCL_ADOPT_H

#include "opencl.h"

#include "rope2d/rope2d_opencl.h"

// view.c: fills the tensors, zeroed, as the checks want them, at addresses that stand for the caller's
// memory: what may overlap has overlapping addresses. None is ever followed.
// *rows becomes that of the caller's row numbers, if there are any; *pointers is filled where a view is one.
rope2d_status rope2d_cl_views_place(const rope2d_cl_device *device,
                                    const rope2d_opencl_binding_params *params, rope2d_tensor *tensors,
                                    uint64_t *rows, rope2d_cl_pointers *pointers);
// view.c: whether kernels of the device can use a caller's memory: a buffer of its context, with none of the
// refused CL_MEM_*_ONLY.
rope2d_status rope2d_cl_memory_check(const rope2d_cl_device *device, const char *name, cl_mem memory,
                                     cl_mem_flags refused);

#endif
