// SPDX-License-Identifier: MIT
//
// Copies and scales in OpenCL: the driver's copy, and a kernel in every shape that a search may choose from.
#include <stdio.h>

#include "bench_opencl.h"
#include "embedded.h"
#include "message.h"
#include "progress.h"

extern const struct rope2d_unpacked bench_opencl_text[]; // bench.cl

static const unsigned widths[OPENCL_WIDTHS] = {4, 8, 16}, item_counts[OPENCL_ITEMS] = {1, 4, 16};
static const size_t group_sizes[OPENCL_GROUPS] = {64, 256};

// Those of the first size of groups come first: a quick search stops after them.
static unsigned width_of(uint32_t variant) {
    return widths[variant % OPENCL_WIDTHS];
}

static unsigned items_of(uint32_t variant) {
    return item_counts[variant / OPENCL_WIDTHS % OPENCL_ITEMS];
}

static size_t group_of(const struct bench_engine *engine, uint32_t variant) {
    size_t most = engine->choice->info.max_group_size, group = group_sizes[variant / OPENCL_KERNELS];
    return group < most ? group : most;
}

static int create_kernel(struct bench_engine *engine, int scale, uint32_t kernel) {
    struct opencl *opencl = engine->impl;
    char name[32];
    cl_int code = CL_SUCCESS;
    snprintf(name, sizeof name, "%s_%u_%u", scale ? "scale" : "copy", width_of(kernel), items_of(kernel));
    opencl->kernels[scale][kernel] = opencl->CreateKernel(opencl->program, name, &code);
    return opencl_check(engine, code, "clCreateKernel");
}

int bench_opencl_kernels_create(struct bench_engine *engine) {
    struct opencl *opencl = engine->impl;
    const char *text = bench_opencl_text[0].data;
    cl_int code = CL_SUCCESS;
    opencl->program = opencl->CreateProgramWithSource(opencl->context, 1, &text, NULL, &code);
    int result = opencl_check(engine, code, "clCreateProgramWithSource");
    if (!result)
        result = opencl_check(
            engine, opencl->BuildProgram(opencl->program, 1, &opencl->device, "-cl-std=CL1.2", NULL, NULL),
            "clBuildProgram");
    for (uint32_t kernel = 0; kernel < OPENCL_KERNELS && !result; ++kernel)
        for (int scale = 0; scale < 2 && !result; ++scale)
            result = create_kernel(engine, scale, kernel);
    return result;
}

uint32_t bench_opencl_variants(const struct bench_engine *engine, enum bench_move move) {
    uint32_t groups = engine->is_quick ? 1 : OPENCL_GROUPS;
    return move == BENCH_DRIVER_COPY ? 1 : OPENCL_KERNELS * groups;
}

void bench_opencl_variant_name(const struct bench_engine *engine, enum bench_move move, uint32_t variant,
                               char *name, size_t size) {
    if (move == BENCH_DRIVER_COPY)
        snprintf(name, size, "clEnqueueCopyBuffer");
    else
        snprintf(name, size, "%u x %u bytes a lane, %zu lanes a group", items_of(variant), width_of(variant),
                 group_of(engine, variant));
}

static cl_int enqueue_kernel(struct bench_engine *engine, enum bench_move move, uint32_t variant,
                             uint32_t set, cl_event *event) {
    struct opencl *opencl = engine->impl;
    cl_kernel kernel = opencl->kernels[move == BENCH_SCALE][variant % OPENCL_KERNELS];
    cl_mem from = bench_opencl_buffer(opencl, set, BENCH_IN),
           to = bench_opencl_buffer(opencl, set, BENCH_OUT);
    cl_uint count = (cl_uint)(engine->bytes / width_of(variant));
    cl_float factor = -1;
    size_t local = group_of(engine, variant), each = local * items_of(variant);
    size_t global = (count + each - 1) / each * local;
    cl_int code = opencl->SetKernelArg(kernel, 0, sizeof from, &from);
    if (code == CL_SUCCESS)
        code = opencl->SetKernelArg(kernel, 1, sizeof to, &to);
    if (code == CL_SUCCESS)
        code = opencl->SetKernelArg(kernel, 2, sizeof count, &count);
    if (code == CL_SUCCESS)
        code = opencl->SetKernelArg(kernel, 3, sizeof factor, &factor);
    if (code != CL_SUCCESS)
        return code;
    return opencl->EnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, event);
}

int bench_opencl_move(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      struct bench_sample *sample) {
    struct opencl *opencl = engine->impl;
    cl_event event = NULL;
    double begin = seconds_now();
    cl_int code;
    if (move == BENCH_DRIVER_COPY)
        code = opencl->EnqueueCopyBuffer(opencl->queue, bench_opencl_buffer(opencl, set, BENCH_IN),
                                         bench_opencl_buffer(opencl, set, BENCH_OUT), 0, 0,
                                         (size_t)engine->bytes, 0, NULL, &event);
    else
        code = enqueue_kernel(engine, move, variant, set, &event);
    int result = opencl_check(engine, code, "a copy");
    return result ? result : bench_opencl_finish(engine, begin, event, sample);
}
