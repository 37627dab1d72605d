// SPDX-License-Identifier: MIT
//
// OpenCL's loader, but for one bit: what is read back from a buffer is wrong in its last element. The library
// itself reads through mappings, so that its self-test sees nothing.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <string.h>

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void *data, cl_uint wait_count, const cl_event *waits,
                           cl_event *event) {
    cl_api_clEnqueueReadBuffer real = NULL;
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW);
    void *found = loader ? dlsym(loader, "clEnqueueReadBuffer") : NULL;
    if (!found)
        return CL_OUT_OF_RESOURCES;
    memcpy(&real, &found, sizeof real);
    cl_int code = real(queue, buffer, blocking, offset, size, data, wait_count, waits, event);
    if (code == CL_SUCCESS && size > 0)
        ((unsigned char *)data)[size - 1] ^= 1;
    dlclose(loader);
    return code;
}
