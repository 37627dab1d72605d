// SPDX-License-Identifier: MIT
#include "opencl_shim_lies.h"

#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ALIVE = 4096, OPTIONS_SIZE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    long calls;
    long fail_at;
    int code;
    const char *failed;
    const void *alive[MAX_ALIVE];
    long alive_count;
    long misused;
    long compiled;
    long kernels;
    long events;
    bool stays;
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

void opencl_shim_stay(void) {
    shim.stays = true;
}

long opencl_shim_compiled(void) {
    return shim.compiled;
}

void opencl_shim_kernels(long *kernels, long *events) {
    *kernels = shim.kernels;
    *events = shim.events;
}

const char *opencl_shim_failed(void) {
    return shim.failed;
}

static bool fails(const char *name) {
    pthread_mutex_lock(&lock);
    bool failing = ++shim.calls == shim.fail_at;
    if (failing)
        shim.failed = name;
    else
        failing =
            shim.stays && strncmp(shim.failed, "clEnqueue", 9) == 0 && strncmp(name, "clEnqueue", 9) == 0;
    shim.compiled += strcmp(name, "clCreateProgramWithSource") == 0;
    pthread_mutex_unlock(&lock);
    return failing;
}

static void born(const void *object) {
    pthread_mutex_lock(&lock);
    if (object && shim.alive_count < MAX_ALIVE)
        shim.alive[shim.alive_count++] = object;
    pthread_mutex_unlock(&lock);
}

static bool died(const void *object) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (long i = 0; i < shim.alive_count && !found; i++) {
        found = shim.alive[i] == object;
        if (found)
            shim.alive[i] = shim.alive[--shim.alive_count];
    }
    shim.misused += !found;
    pthread_mutex_unlock(&lock);
    return found;
}

static void find_real(const char *name, void *function, size_t size) {
    static void *loader;
    pthread_mutex_lock(&lock);
    if (!loader)
        loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = loader ? dlsym(loader, name) : NULL;
    pthread_mutex_unlock(&lock);
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

// Calls that return an object, or memory, and write their status to *errcode_ret.
#define MAKING(type, name, parameters, arguments)                                                            \
    CL_API_ENTRY type CL_API_CALL name parameters {                                                          \
        type result;                                                                                         \
        if (fails(#name)) {                                                                                  \
            if (errcode_ret)                                                                                 \
                *errcode_ret = shim.code;                                                                    \
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

// Calls that make nothing and answer a question, which the answer may not be the right one to.
#define ANSWERING(name, parameters, arguments, lie)                                                          \
    CL_API_ENTRY cl_int CL_API_CALL name parameters {                                                        \
        cl_int result;                                                                                       \
        if (fails(#name))                                                                                    \
            return shim.code;                                                                                \
        REAL(name, arguments);                                                                               \
        if (result == CL_SUCCESS)                                                                            \
            lie;                                                                                             \
        return result;                                                                                       \
    }

ANSWERING(clGetPlatformIDs, (cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms),
          (num_entries, platforms, num_platforms), shim_lie_in_count(SHIM_ASKED_PLATFORMS, num_platforms))
ANSWERING(clGetPlatformInfo,
          (cl_platform_id platform, cl_platform_info param_name, size_t param_value_size, void *param_value,
           size_t *param_value_size_ret),
          (platform, param_name, param_value_size, param_value, param_value_size_ret),
          shim_lie_in_answer((long)param_name, param_value_size, param_value, param_value_size_ret))
ANSWERING(clGetDeviceIDs,
          (cl_platform_id platform, cl_device_type device_type, cl_uint num_entries, cl_device_id *devices,
           cl_uint *num_devices),
          (platform, device_type, num_entries, devices, num_devices),
          shim_lie_in_count(SHIM_ASKED_DEVICES, num_devices))
ANSWERING(clGetDeviceInfo,
          (cl_device_id device, cl_device_info param_name, size_t param_value_size, void *param_value,
           size_t *param_value_size_ret),
          (device, param_name, param_value_size, param_value, param_value_size_ret),
          shim_lie_in_answer((long)param_name, param_value_size, param_value, param_value_size_ret))
ANSWERING(clGetSupportedImageFormats,
          (cl_context context, cl_mem_flags flags, cl_mem_object_type image_type, cl_uint num_entries,
           cl_image_format *image_formats, cl_uint *num_image_formats),
          (context, flags, image_type, num_entries, image_formats, num_image_formats),
          shim_lie_in_count(SHIM_ASKED_FORMATS, num_image_formats))
ANSWERING(clGetKernelWorkGroupInfo,
          (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info param_name,
           size_t param_value_size, void *param_value, size_t *param_value_size_ret),
          (kernel, device, param_name, param_value_size, param_value, param_value_size_ret),
          shim_lie_in_answer((long)param_name, param_value_size, param_value, param_value_size_ret))
PLAIN(clGetProgramBuildInfo,
      (cl_program program, cl_device_id device, cl_program_build_info param_name, size_t param_value_size,
       void *param_value, size_t *param_value_size_ret),
      (program, device, param_name, param_value_size, param_value, param_value_size_ret))
PLAIN(clSetKernelArg, (cl_kernel kernel, cl_uint arg_index, size_t arg_size, const void *arg_value),
      (kernel, arg_index, arg_size, arg_value))
PLAIN(clSetKernelArgSVMPointer, (cl_kernel kernel, cl_uint arg_index, const void *arg_value),
      (kernel, arg_index, arg_value))
PLAIN(clEnqueueWriteBuffer,
      (cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write, size_t offset, size_t size,
       const void *ptr, cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event),
      (command_queue, buffer, blocking_write, offset, size, ptr, num_events_in_wait_list, event_wait_list,
       event))
PLAIN(clEnqueueWriteImage,
      (cl_command_queue command_queue, cl_mem image, cl_bool blocking_write, const size_t *origin,
       const size_t *region, size_t input_row_pitch, size_t input_slice_pitch, const void *ptr,
       cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event),
      (command_queue, image, blocking_write, origin, region, input_row_pitch, input_slice_pitch, ptr,
       num_events_in_wait_list, event_wait_list, event))

// ---------------------------------------------------------------------------------- programs, or hollow ones

static bool is_hollow;
static cl_program hollow;
static long built;
static char options_of[2][OPTIONS_SIZE]; // of the last two, each by its number modulo 2

const char *opencl_shim_options(int before) {
    is_hollow = true;
    return options_of[(built + 1 - before) % 2];
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                              const char **strings, const size_t *lengths,
                                                              cl_int *errcode_ret) {
    const char *empty = "__kernel void rope2d(__global int *none) {}";
    cl_program result = hollow;
    if (fails("clCreateProgramWithSource")) {
        *errcode_ret = shim.code;
        return NULL;
    }
    if (hollow) {
        cl_api_clRetainProgram retain;
        find_real("clRetainProgram", &retain, sizeof(retain));
        *errcode_ret = retain(hollow);
    } else if (is_hollow) {
        REAL(clCreateProgramWithSource, (context, 1, &empty, NULL, errcode_ret));
    } else {
        REAL(clCreateProgramWithSource, (context, count, strings, lengths, errcode_ret));
    }
    born(result);
    return result;
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint num_devices,
                                               const cl_device_id *device_list, const char *options,
                                               void(CL_CALLBACK *pfn_notify)(cl_program, void *),
                                               void *user_data) {
    cl_int result = CL_SUCCESS;
    if (fails("clBuildProgram"))
        return shim.code;
    if (!hollow) {
        REAL(clBuildProgram, (program, num_devices, device_list, options, pfn_notify, user_data));
    }
    if (is_hollow) {
        hollow = program;
        snprintf(options_of[built++ % 2], OPTIONS_SIZE, "%s", options);
    }
    return result;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                                       const size_t *offset, const size_t *global,
                                                       const size_t *local, cl_uint waits,
                                                       const cl_event *wait_list, cl_event *event) {
    cl_int result;
    if (fails("clEnqueueNDRangeKernel"))
        return shim.code;
    REAL(clEnqueueNDRangeKernel, (queue, kernel, dims, offset, global, local, waits, wait_list, event));
    pthread_mutex_lock(&lock);
    shim.kernels++;
    shim.events += result == CL_SUCCESS && event != NULL;
    pthread_mutex_unlock(&lock);
    return result;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseEvent(cl_event event) {
    const bool failing = fails("clReleaseEvent");
    cl_int result;
    REAL(clReleaseEvent, (event));
    pthread_mutex_lock(&lock);
    shim.events--;
    pthread_mutex_unlock(&lock);
    return failing ? shim.code : result;
}

#define QUERY(name, type, object)                                                                            \
    PLAIN(name,                                                                                              \
          (type object, cl_uint param_name, size_t param_value_size, void *param_value,                      \
           size_t *param_value_size_ret),                                                                    \
          (object, param_name, param_value_size, param_value, param_value_size_ret))
QUERY(clGetCommandQueueInfo, cl_command_queue, command_queue)
QUERY(clGetContextInfo, cl_context, context)
QUERY(clGetMemObjectInfo, cl_mem, memobj)
QUERY(clGetProgramInfo, cl_program, program)
PLAIN(clFinish, (cl_command_queue command_queue), (command_queue))

MAKING(cl_context, clCreateContext,
       (const cl_context_properties *properties, cl_uint num_devices, const cl_device_id *devices,
        void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *), void *user_data,
        cl_int *errcode_ret),
       (properties, num_devices, devices, pfn_notify, user_data, errcode_ret))
MAKING(cl_command_queue, clCreateCommandQueue,
       (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *errcode_ret),
       (context, device, properties, errcode_ret))
MAKING(cl_mem, clCreateBuffer,
       (cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *errcode_ret),
       (context, flags, size, host_ptr, errcode_ret))
MAKING(cl_mem, clCreateImage,
       (cl_context context, cl_mem_flags flags, const cl_image_format *image_format,
        const cl_image_desc *image_desc, void *host_ptr, cl_int *errcode_ret),
       (context, flags, image_format, image_desc, host_ptr, errcode_ret))
MAKING(cl_program, clCreateProgramWithBinary,
       (cl_context context, cl_uint num_devices, const cl_device_id *device_list, const size_t *lengths,
        const unsigned char **binaries, cl_int *binary_status, cl_int *errcode_ret),
       (context, num_devices, device_list, lengths, binaries, binary_status, errcode_ret))
MAKING(cl_kernel, clCreateKernel, (cl_program program, const char *kernel_name, cl_int *errcode_ret),
       (program, kernel_name, errcode_ret))
MAKING(void *, clEnqueueMapBuffer,
       (cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map, cl_map_flags map_flags,
        size_t offset, size_t size, cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
        cl_event *event, cl_int *errcode_ret),
       (command_queue, buffer, blocking_map, map_flags, offset, size, num_events_in_wait_list,
        event_wait_list, event, errcode_ret))

ENDING(clEnqueueUnmapMemObject, mapped_ptr,
       (cl_command_queue command_queue, cl_mem memobj, void *mapped_ptr, cl_uint num_events_in_wait_list,
        const cl_event *event_wait_list, cl_event *event),
       (command_queue, memobj, mapped_ptr, num_events_in_wait_list, event_wait_list, event))
ENDING(clReleaseContext, context, (cl_context context), (context))
ENDING(clReleaseCommandQueue, command_queue, (cl_command_queue command_queue), (command_queue))
ENDING(clReleaseMemObject, memobj, (cl_mem memobj), (memobj))
ENDING(clReleaseProgram, program, (cl_program program), (program))
ENDING(clReleaseKernel, kernel, (cl_kernel kernel), (kernel))
