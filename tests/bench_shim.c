// SPDX-License-Identifier: MIT
//
// OpenCL's loader, but for one bit: what is read back from a buffer after a rotation is wrong in its last
// element, and right after any other kernel or copy. The library itself reads through mappings, so that its
// self-test sees nothing.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <string.h>

static int has_rotated;

// Kept open: what the calls below go through.
static void *symbol(const char *name) {
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW);
    return loader ? dlsym(loader, name) : NULL;
}

static int is_rotation(cl_kernel kernel) {
    cl_api_clGetKernelInfo real = NULL;
    void *found = symbol("clGetKernelInfo");
    char name[16] = {0};
    if (!found)
        return 0;
    memcpy(&real, &found, sizeof real);
    return real(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
           strcmp(name, "rope2d") == 0;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint wait_count, const cl_event *waits, cl_event *event) {
    cl_api_clEnqueueNDRangeKernel real = NULL;
    void *found = symbol("clEnqueueNDRangeKernel");
    if (!found)
        return CL_OUT_OF_RESOURCES;
    memcpy(&real, &found, sizeof real);
    has_rotated = is_rotation(kernel);
    return real(queue, kernel, dimensions, offset, global, local, wait_count, waits, event);
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t size, cl_uint wait_count, const cl_event *waits,
                           cl_event *event) {
    cl_api_clEnqueueCopyBuffer real = NULL;
    void *found = symbol("clEnqueueCopyBuffer");
    if (!found)
        return CL_OUT_OF_RESOURCES;
    memcpy(&real, &found, sizeof real);
    has_rotated = 0;
    return real(queue, from, to, from_offset, to_offset, size, wait_count, waits, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void *data, cl_uint wait_count, const cl_event *waits,
                           cl_event *event) {
    cl_api_clEnqueueReadBuffer real = NULL;
    void *found = symbol("clEnqueueReadBuffer");
    if (!found)
        return CL_OUT_OF_RESOURCES;
    memcpy(&real, &found, sizeof real);
    cl_int code = real(queue, buffer, blocking, offset, size, data, wait_count, waits, event);
    if (code == CL_SUCCESS && size > 0 && has_rotated)
        ((unsigned char *)data)[size - 1] ^= 1;
    return code;
}
