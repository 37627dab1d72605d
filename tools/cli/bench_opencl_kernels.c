// SPDX-License-Identifier: MIT
//
// Copies and scales in OpenCL: the driver's copy, and a kernel in every shape that a search may choose from.
#include <stdio.h>

#include "bench_kinds.h"
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

// How many of the shapes are tried.
static uint32_t shapes_of(const struct bench_engine *engine) {
    return OPENCL_KERNELS * (engine->is_quick ? 1 : OPENCL_GROUPS);
}

// KIND of bench.cl.
static int program_of(uint32_t kind) {
    static const int programs[] = {0, 0, 1, 2, 2, 3, 1, 2, 2, 3};
    return programs[kind];
}

static int build(struct bench_engine *engine, int program) {
    struct opencl *opencl = engine->impl;
    const char *text = bench_opencl_text[0].data;
    char options[48];
    cl_int code = CL_SUCCESS;
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DKIND=%d", program);
    opencl->programs[program] = opencl->CreateProgramWithSource(opencl->context, 1, &text, NULL, &code);
    int result = opencl_check(engine, code, "clCreateProgramWithSource");
    return result ? result
                  : opencl_check(engine,
                                 opencl->BuildProgram(opencl->programs[program], 1, &opencl->device, options,
                                                      NULL, NULL),
                                 "clBuildProgram");
}

static int find_kernel(struct bench_engine *engine, uint32_t kind, uint32_t shape, cl_kernel *found) {
    static const char *const names[] = {"copy",      "scale",         "f32",
                                        "f16",       "f16_converter", "bf16",
                                        "f32_table", "f16_table",     "f16_converter_table",
                                        "bf16_table"};
    struct opencl *opencl = engine->impl;
    cl_kernel *kernel = &opencl->kernels[kind][shape % OPENCL_KERNELS];
    int program = program_of(kind), result = STATUS_OK;
    cl_int code = CL_SUCCESS;
    char name[40];
    if (!opencl->programs[program])
        result = build(engine, program);
    if (!result && !*kernel) {
        snprintf(name, sizeof name, "%s_%u_%u", names[kind], width_of(shape), items_of(shape));
        *kernel = opencl->CreateKernel(opencl->programs[program], name, &code);
        result = opencl_check(engine, code, "clCreateKernel");
    }
    *found = *kernel;
    return result;
}

uint32_t bench_opencl_variants(const struct bench_engine *engine, enum bench_move move) {
    return bench_is_turn(move) ? bench_opencl_turn_variants(engine, move)
                               : bench_kind_variants(engine, move, shapes_of(engine));
}

void bench_opencl_variant_name(const struct bench_engine *engine, enum bench_move move, uint32_t variant,
                               char *name, size_t size) {
    uint32_t shape = variant % shapes_of(engine);
    if (move == BENCH_DRIVER_COPY)
        snprintf(name, size, "clEnqueueCopyBuffer");
    else if (bench_is_turn(move))
        bench_opencl_turn_name(variant, name, size);
    else
        snprintf(name, size, "%u x %u bytes a lane, %zu lanes a group%s", items_of(shape), width_of(shape),
                 group_of(engine, shape), shape == variant ? "" : ", converter");
}

cl_int bench_opencl_enqueue(const struct opencl *opencl, cl_kernel kernel,
                            const struct opencl_argument *arguments, cl_uint count, size_t global,
                            size_t local, cl_event *event) {
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < count && code == CL_SUCCESS; ++i)
        code = opencl->SetKernelArg(kernel, i, arguments[i].size, arguments[i].value);
    if (code != CL_SUCCESS)
        return code;
    return opencl->EnqueueNDRangeKernel(opencl->queue, kernel, 1, NULL, &global, &local, 0, NULL, event);
}

static cl_int enqueue_kernel(struct bench_engine *engine, enum bench_move move, cl_kernel kernel,
                             uint32_t shape, uint32_t set, cl_event *event) {
    struct opencl *opencl = engine->impl;
    cl_mem from = bench_opencl_buffer(opencl, set, BENCH_IN);
    cl_mem to = bench_is_in_place(move) ? from : bench_opencl_buffer(opencl, set, BENCH_OUT);
    cl_uint tensors = bench_reads_table(engine, move) ? BENCH_TENSORS : 1;
    cl_uint count = (cl_uint)(engine->bytes / tensors / width_of(shape)),
            mask = (cl_uint)engine->table_floats - 1;
    cl_float factor = bench_is_limit(move) ? (cl_float)BENCH_FACTOR : -1, other = (cl_float)BENCH_OTHER;
    size_t local = group_of(engine, shape), each = local * items_of(shape);
    size_t global = (count + each - 1) / each * local;
    const struct opencl_argument arguments[] = {
        {sizeof from, &from},   {sizeof to, &to},     {sizeof opencl->table, &opencl->table},
        {sizeof count, &count}, {sizeof mask, &mask}, {sizeof factor, &factor},
        {sizeof other, &other},
    };
    return bench_opencl_enqueue(opencl, kernel, arguments, sizeof arguments / sizeof *arguments, global,
                                local, event);
}

int bench_opencl_move(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      struct bench_sample *sample) {
    struct opencl *opencl = engine->impl;
    const bool is_kernel = move != BENCH_DRIVER_COPY && !bench_is_turn(move);
    uint32_t shape = is_kernel ? variant % shapes_of(engine) : 0;
    cl_kernel kernel = NULL;
    cl_event event = NULL;
    int result = STATUS_OK;
    if (is_kernel)
        result = find_kernel(engine, bench_kind_of(engine, move, variant != shape), shape, &kernel);
    if (result)
        return result;
    double begin = seconds_now();
    if (bench_is_turn(move))
        result = bench_opencl_turn(engine, move, variant, set, &event);
    else if (move == BENCH_DRIVER_COPY)
        result =
            opencl_check(engine,
                         opencl->EnqueueCopyBuffer(opencl->queue, bench_opencl_buffer(opencl, set, BENCH_IN),
                                                   bench_opencl_buffer(opencl, set, BENCH_OUT), 0, 0,
                                                   (size_t)engine->bytes, 0, NULL, &event),
                         "clEnqueueCopyBuffer");
    else
        result = opencl_check(engine, enqueue_kernel(engine, move, kernel, shape, set, &event), "a copy");
    return result ? result : bench_opencl_finish(engine, begin, event, sample);
}
