// SPDX-License-Identifier: MIT
#include "bench_opencl.h"

#include <stdlib.h>

#include "internal.h"
#include "library.h"
#include "message.h"
#include "progress.h"
#include "rope2d/rope2d_opencl.h"

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 32 };

// A device's clock that says less than this part of the host's does not tick: Rusticl's on a CPU.
static const double NO_CLOCK = 1e-4;

int opencl_check(const struct bench_engine *engine, cl_int code, const char *call) {
    if (code == CL_SUCCESS)
        return STATUS_OK;
    message("%s: %s failed (%d)", engine->choice->name, call, (int)code);
    return STATUS_DEVICE;
}

static int load(struct bench_engine *engine) {
    struct opencl *opencl = engine->impl;
    const char *named = rope2d_environment("ROPE2D_OPENCL_LOADER"),
               *missing = NULL; // the library takes it, too
    opencl->library = rope2d_library_open(named && *named ? named : "libOpenCL.so.1");
    if (!opencl->library) {
        message("%s: OpenCL's loader cannot be opened", engine->choice->name);
        return STATUS_DEVICE;
    }
#define X(name)                                                                                              \
    rope2d_library_find(opencl->library, "cl" #name, &opencl->name, sizeof opencl->name);                    \
    if (!opencl->name)                                                                                       \
        missing = "cl" #name;
    BENCH_CL_FUNCTIONS(X)
#undef X
    if (!missing)
        return STATUS_OK;
    message("%s: OpenCL's loader has no %s", engine->choice->name, missing);
    return STATUS_DEVICE;
}

// Devices are numbered as rope2d_enumerate numbers them: platform by platform.
static int pick(struct bench_engine *engine) {
    struct opencl *opencl = engine->impl;
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0, index = engine->choice->info.index;
    int result = opencl_check(engine, opencl->GetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count),
                              "clGetPlatformIDs");
    for (cl_uint i = 0; i < platform_count && i < MOST_PLATFORMS && !result; ++i) {
        cl_device_id devices[MOST_DEVICES];
        cl_uint count = 0;
        if (opencl->GetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count) !=
            CL_SUCCESS)
            continue;
        if (index < count && index < MOST_DEVICES) {
            opencl->device = devices[index];
            return STATUS_OK;
        }
        index -= count;
    }
    message("%s: is not there any more", engine->choice->name);
    return STATUS_DEVICE;
}

static int create(struct bench_engine *engine) {
    struct opencl *opencl = engine->impl;
    cl_int code = CL_SUCCESS;
    opencl->context = opencl->CreateContext(NULL, 1, &opencl->device, NULL, NULL, &code);
    int result = opencl_check(engine, code, "clCreateContext");
    if (!result) {
        opencl->queue =
            opencl->CreateCommandQueue(opencl->context, opencl->device, CL_QUEUE_PROFILING_ENABLE, &code);
        result = opencl_check(engine, code, "clCreateCommandQueue");
    }
    if (!result) {
        opencl->library_queue = opencl->CreateCommandQueue(opencl->context, opencl->device, 0, &code);
        result = opencl_check(engine, code, "clCreateCommandQueue");
    }
    return result;
}

rope2d_status bench_opencl_make_device(struct bench_engine *engine, rope2d_device **device) {
    const struct opencl *opencl = engine->impl;
    rope2d_opencl_device_params params = {
        .struct_size = sizeof params,
        .context = opencl->context,
        .device = opencl->device,
        .host = &bench_host,
        .queue = opencl->library_queue,
        .dispatch_bytes = UINT64_MAX, // nothing is cut for a watchdog
    };
    rope2d_status status = rope2d_opencl_device_adopt(&params, device);
    if (!status)
        bench_opencl_time_compiling(*device);
    return status;
}

int bench_opencl_open(struct bench_engine *engine) {
    struct opencl *opencl = calloc(1, sizeof *opencl);
    engine->impl = opencl;
    if (!opencl) {
        message("no memory for a device");
        return STATUS_DEVICE;
    }
    int result = load(engine);
    if (!result)
        result = pick(engine);
    if (!result)
        result = create(engine);
    if (result)
        return result;
    rope2d_status status = bench_opencl_make_device(engine, &engine->device);
    return status ? message_status(status, engine->choice->name) : STATUS_OK;
}

void bench_opencl_close(struct bench_engine *engine) {
    struct opencl *opencl = engine->impl;
    if (!opencl)
        return;
    rope2d_device_destroy(engine->device);
    for (int i = 0; i < BENCH_KINDS_COUNT * OPENCL_KERNELS; ++i)
        if (opencl->kernels[i / OPENCL_KERNELS][i % OPENCL_KERNELS])
            opencl->ReleaseKernel(opencl->kernels[i / OPENCL_KERNELS][i % OPENCL_KERNELS]);
    bench_opencl_release_turns(opencl);
    for (int i = 0; i < OPENCL_PROGRAMS; ++i)
        if (opencl->programs[i])
            opencl->ReleaseProgram(opencl->programs[i]);
    if (opencl->library_queue)
        opencl->ReleaseCommandQueue(opencl->library_queue);
    if (opencl->queue)
        opencl->ReleaseCommandQueue(opencl->queue);
    if (opencl->context)
        opencl->ReleaseContext(opencl->context);
    rope2d_library_close(opencl->library);
    free(opencl);
}

static double device_seconds(const struct opencl *opencl, cl_event event) {
    cl_ulong times[2];
    if (opencl->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof *times, &times[0], NULL) !=
            CL_SUCCESS ||
        opencl->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof *times, &times[1], NULL) !=
            CL_SUCCESS ||
        times[1] <= times[0])
        return 0;
    return 1e-9 * (double)(times[1] - times[0]);
}

int bench_opencl_finish(struct bench_engine *engine, double begin, cl_event event,
                        struct bench_sample *sample) {
    struct opencl *opencl = engine->impl;
    int result = opencl_check(engine, opencl->Finish(opencl->queue), "clFinish");
    sample->host = seconds_now() - begin;
    sample->device = result || !event ? 0 : device_seconds(opencl, event);
    if (sample->device < NO_CLOCK * sample->host)
        sample->device = 0;
    if (event)
        opencl->ReleaseEvent(event);
    return result;
}
