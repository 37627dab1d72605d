// SPDX-License-Identifier: MIT
//
// What the mock's objects are made of.
#ifndef FUZZ_MOCK_OPENCL_OBJECTS_H
#define FUZZ_MOCK_OPENCL_OBJECTS_H

#include "mock_opencl.h"

#include "opencl/opencl.h"

struct _cl_platform_id {
    int unused;
};
struct _cl_device_id {
    int unused;
};
struct _cl_context {
    int unused;
};
struct _cl_command_queue {
    cl_context context;
};
struct _cl_event {
    int unused;
};
struct _cl_mem {
    cl_context context;
    cl_mem parent;
    cl_mem_flags flags;
    size_t offset, size, width, height; // width 0: a buffer
    unsigned char *bytes;
};
struct _cl_program {
    size_t size; // of the binary
    unsigned char *binary;
};
struct _cl_kernel {
    cl_program program;
};

// Answers as clGet...Info do.
cl_int mock_cl_answer(const void *value, size_t value_size, size_t size, void *to, size_t *size_ret);
cl_int mock_cl_answer_text(const char *text, size_t size, void *to, size_t *size_ret);
cl_int mock_cl_answer_number(uint64_t value, size_t value_size, size_t size, void *to, size_t *size_ret);

// mock_opencl_programs.c: programs, kernels and their arguments.
bool mock_cl_find_program(const char *name, void *function, size_t size);

// Takes a function of this name, of OpenCL's own type.
#define MOCK_CL_TAKE(own, type)                                                                              \
    if (strcmp(name, "cl" #type) == 0) {                                                                     \
        const cl_api_cl##type found = own;                                                                   \
        FUZZ_PROMISE(size == sizeof found);                                                                  \
        memcpy(function, &found, size);                                                                      \
        return true;                                                                                         \
    }

#endif
