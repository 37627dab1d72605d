// SPDX-License-Identifier: MIT
#include "opencl_shim.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ALIVE = 1024 };

static struct {
    long calls;
    long fail_at;
    int code;
    const char *failed;
    const void *alive[MAX_ALIVE];
    long alive_count;
    long misused;
} shim = {.failed = ""};

void opencl_shim_begin(long fail_at, int code) {
    memset(&shim, 0, sizeof(shim));
    shim.fail_at = fail_at;
    shim.code = code;
    shim.failed = "";
}

void opencl_shim_counts(long *calls, long *alive, long *misused) {
    *calls = shim.calls;
    *alive = shim.alive_count;
    *misused = shim.misused;
}

const char *opencl_shim_failed(void) {
    return shim.failed;
}

static bool fails(const char *name) {
    shim.calls++;
    if (shim.calls != shim.fail_at)
        return false;
    shim.failed = name;
    return true;
}

static void born(const void *object) {
    if (object && shim.alive_count < MAX_ALIVE)
        shim.alive[shim.alive_count++] = object;
}

static bool died(const void *object) {
    for (long i = 0; i < shim.alive_count; i++) {
        if (shim.alive[i] == object) {
            shim.alive[i] = shim.alive[--shim.alive_count];
            return true;
        }
    }
    shim.misused++;
    return false;
}

static void find_real(const char *name, void *function, size_t size) {
    static void *loader;
    if (!loader)
        loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = loader ? dlsym(loader, name) : NULL;
    if (!found) {
        fprintf(stderr, "opencl_shim: the system's loader has no %s\n", name);
        exit(1);
    }
    memcpy(function, &found, size);
}

#define REAL(name, arguments)                                                                                \
    cl_api_##name real;                                                                                      \
    find_real(#name, &real, sizeof(real));                                                                   \
    result = real arguments

// Calls that make nothing.
#define PLAIN(name, parameters, arguments)                                                                   \
    CL_API_ENTRY cl_int CL_API_CALL name parameters {                                                        \
        cl_int result;                                                                                       \
        if (fails(#name))                                                                                    \
            return shim.code;                                                                                \
        REAL(name, arguments);                                                                               \
        return result;                                                                                       \
    }

// Calls that return an object, or memory, and write their status to *errcode.
#define MAKING(type, name, parameters, arguments)                                                            \
    CL_API_ENTRY type CL_API_CALL name parameters {                                                          \
        type result;                                                                                         \
        if (fails(#name)) {                                                                                  \
            if (errcode)                                                                                     \
                *errcode = shim.code;                                                                        \
            return NULL;                                                                                     \
        }                                                                                                    \
        REAL(name, arguments);                                                                               \
        born(result);                                                                                        \
        return result;                                                                                       \
    }

// What fails is done all the same: nobody can do it twice.
#define ENDING(name, object, parameters, arguments)                                                          \
    CL_API_ENTRY cl_int CL_API_CALL name parameters {                                                        \
        cl_int result = CL_INVALID_VALUE;                                                                    \
        bool failing = fails(#name);                                                                         \
        if (died(object)) {                                                                                  \
            REAL(name, arguments);                                                                           \
        }                                                                                                    \
        return failing ? shim.code : result;                                                                 \
    }

PLAIN(clGetPlatformIDs, (cl_uint room, cl_platform_id *ids, cl_uint *count), (room, ids, count))
PLAIN(clGetPlatformInfo,
      (cl_platform_id id, cl_platform_info field, size_t size, void *value, size_t *needed),
      (id, field, size, value, needed))
PLAIN(clGetDeviceIDs,
      (cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *ids, cl_uint *count),
      (platform, type, room, ids, count))
PLAIN(clGetDeviceInfo, (cl_device_id id, cl_device_info field, size_t size, void *value, size_t *needed),
      (id, field, size, value, needed))
PLAIN(clGetSupportedImageFormats,
      (cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint room,
       cl_image_format *formats, cl_uint *count),
      (context, flags, type, room, formats, count))
PLAIN(clBuildProgram,
      (cl_program program, cl_uint count, const cl_device_id *ids, const char *options,
       void(CL_CALLBACK *notify)(cl_program, void *), void *user),
      (program, count, ids, options, notify, user))
PLAIN(clGetProgramBuildInfo,
      (cl_program program, cl_device_id id, cl_program_build_info field, size_t size, void *value,
       size_t *needed),
      (program, id, field, size, value, needed))
PLAIN(clGetKernelWorkGroupInfo,
      (cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info field, size_t size, void *value,
       size_t *needed),
      (kernel, id, field, size, value, needed))
PLAIN(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
      (kernel, index, size, value))
PLAIN(clEnqueueWriteBuffer,
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *data,
       cl_uint waits, const cl_event *wait, cl_event *event),
      (queue, buffer, blocking, offset, size, data, waits, wait, event))
PLAIN(clEnqueueWriteImage,
      (cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin, const size_t *region,
       size_t row_pitch, size_t slice_pitch, const void *data, cl_uint waits, const cl_event *wait,
       cl_event *event),
      (queue, image, blocking, origin, region, row_pitch, slice_pitch, data, waits, wait, event))
PLAIN(clEnqueueNDRangeKernel,
      (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
       const size_t *global, const size_t *local, cl_uint waits, const cl_event *wait, cl_event *event),
      (queue, kernel, dimensions, offset, global, local, waits, wait, event))
PLAIN(clFinish, (cl_command_queue queue), (queue))

MAKING(cl_context, clCreateContext,
       (const cl_context_properties *properties, cl_uint count, const cl_device_id *ids,
        void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *errcode),
       (properties, count, ids, notify, user, errcode))
MAKING(cl_command_queue, clCreateCommandQueue,
       (cl_context context, cl_device_id id, cl_command_queue_properties properties, cl_int *errcode),
       (context, id, properties, errcode))
MAKING(cl_mem, clCreateBuffer,
       (cl_context context, cl_mem_flags flags, size_t size, void *data, cl_int *errcode),
       (context, flags, size, data, errcode))
MAKING(cl_mem, clCreateImage,
       (cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *desc,
        void *data, cl_int *errcode),
       (context, flags, format, desc, data, errcode))
MAKING(cl_program, clCreateProgramWithSource,
       (cl_context context, cl_uint count, const char **texts, const size_t *sizes, cl_int *errcode),
       (context, count, texts, sizes, errcode))
MAKING(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *errcode),
       (program, name, errcode))
MAKING(void *, clEnqueueMapBuffer,
       (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
        size_t size, cl_uint waits, const cl_event *wait, cl_event *event, cl_int *errcode),
       (queue, buffer, blocking, flags, offset, size, waits, wait, event, errcode))

ENDING(clEnqueueUnmapMemObject, mapped,
       (cl_command_queue queue, cl_mem memory, void *mapped, cl_uint waits, const cl_event *wait,
        cl_event *event),
       (queue, memory, mapped, waits, wait, event))
ENDING(clReleaseContext, context, (cl_context context), (context))
ENDING(clReleaseCommandQueue, queue, (cl_command_queue queue), (queue))
ENDING(clReleaseMemObject, memory, (cl_mem memory), (memory))
ENDING(clReleaseProgram, program, (cl_program program), (program))
ENDING(clReleaseKernel, kernel, (cl_kernel kernel), (kernel))
