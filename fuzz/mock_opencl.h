// SPDX-License-Identifier: MIT
//
// What a caller of OpenCL has: the mock's objects.
#ifndef FUZZ_MOCK_OPENCL_H
#define FUZZ_MOCK_OPENCL_H

#include "mock.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

cl_device_id mock_cl_device(void);
cl_context mock_cl_context(bool is_other); // another one, of the same device
cl_command_queue mock_cl_queue(bool is_other);
// A buffer, or a part of one; NULL when memory runs out.
cl_mem mock_cl_buffer(cl_context context, cl_mem_flags flags, size_t size);
cl_mem mock_cl_part(cl_mem whole, size_t offset, size_t size);
void mock_cl_event_end(cl_event event); // NULL is legal
void mock_cl_release(cl_mem memory);    // NULL is legal

#endif
