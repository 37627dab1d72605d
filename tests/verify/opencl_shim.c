// SPDX-License-Identifier: MIT
// A loader of OpenCL whose device fails in one place: all but one call are the system's, which this links.
// Load it with ROPE2D_OPENCL_LOADER. ROPE2D_SHIM is what happens, and when:
//
//     crash:SIZE   hang:SIZE   lose:SIZE     a dispatch of SIZE invocations
//     late:SIZE                              the first dispatch after one of SIZE invocations crashes
//     stick:SIZE:FILE                        a dispatch of SIZE invocations, and all of any process while
//                                            there is FILE, which it makes
//     flaky:SIZE                             dispatches of SIZE invocations do nothing but the first time
//     build-crash:HASH   build-hang:HASH     the driver's compiler, given options of this hash
//     list:1                                 listing the platforms crashes
//     log                                    each dispatch's size is printed on stderr
//     log-builds                             the hash of each build's options is printed on stderr
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef cl_int enqueue_fn(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                          const size_t *, cl_uint, const cl_event *, cl_event *);

// What is used of the system's loader stays linked, and with it everything that this does not define.
cl_api_clFinish verify_shim_needs = clFinish;

static enqueue_fn *find_real(void) {
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = loader ? dlsym(loader, "clEnqueueNDRangeKernel") : NULL;
    enqueue_fn *real = NULL;
    memcpy(&real, &found, sizeof(real));
    return real;
}

static void crash(void) {
    abort(); // some drivers catch SIGSEGV
}

// What is asked for, and for which size; 0 is none.
static unsigned long when(const char *what) {
    const char *text = getenv("ROPE2D_SHIM");
    size_t length = strlen(what);
    if (text == NULL || strncmp(text, what, length) != 0 || text[length] != ':')
        return 0;
    return strtoul(text + length + 1, NULL, 10);
}

// Where the device is stuck once a dispatch of this size came.
static int is_stuck(unsigned long size) {
    const char *text = getenv("ROPE2D_SHIM");
    const char *path = when("stick") != 0 ? strrchr(text, ':') + 1 : NULL;
    FILE *file = path == NULL ? NULL : fopen(path, size == when("stick") ? "a" : "r");
    if (file == NULL)
        return 0;
    (void)fclose(file);
    return 1;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                                       const size_t *offset, const size_t *global,
                                                       const size_t *local, cl_uint waits,
                                                       const cl_event *wait_list, cl_event *event) {
    static int is_late, was_there;
    enqueue_fn *real = find_real();
    unsigned long size = 1;
    for (cl_uint i = 0; i < dims; i++)
        size *= global[i];
    const char *text = getenv("ROPE2D_SHIM");
    if (text != NULL && strcmp(text, "log") == 0)
        (void)fprintf(stderr, "%lu\n", size);
    if (size == when("crash") || is_late)
        crash();
    while (size == when("hang") || is_stuck(size))
        (void)sleep(1);
    if (size == when("flaky") && was_there++)
        return CL_SUCCESS;
    is_late = is_late || size == when("late");
    if (size == when("lose") || real == NULL)
        return CL_DEVICE_NOT_AVAILABLE;
    return real(queue, kernel, dims, offset, global, local, waits, wait_list, event);
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint device_count,
                                               const cl_device_id *devices, const char *options,
                                               void(CL_CALLBACK *done)(cl_program, void *), void *user) {
    cl_api_clBuildProgram real = NULL;
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = loader ? dlsym(loader, "clBuildProgram") : NULL;
    const char *text = getenv("ROPE2D_SHIM");
    unsigned long hash = 5381;
    for (const char *at = options; at != NULL && *at != 0; at++)
        hash = (hash * 33 + (unsigned char)*at) & 0xffffffffUL;
    if (text != NULL && strcmp(text, "log-builds") == 0)
        (void)fprintf(stderr, "%lu\n", hash);
    if (hash == when("build-crash"))
        crash();
    while (hash == when("build-hang"))
        (void)sleep(1);
    memcpy(&real, &found, sizeof(real));
    return real != NULL ? real(program, device_count, devices, options, done, user) : CL_DEVICE_NOT_AVAILABLE;
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint entries, cl_platform_id *platforms, cl_uint *count) {
    cl_api_clGetPlatformIDs real = NULL;
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found = loader ? dlsym(loader, "clGetPlatformIDs") : NULL;
    if (when("list") != 0)
        crash();
    memcpy(&real, &found, sizeof(real));
    return real != NULL ? real(entries, platforms, count) : CL_DEVICE_NOT_AVAILABLE;
}
