// SPDX-License-Identifier: MIT
//
// OpenCL: the library adopted into a context of ours, enqueued into our queue, timed by its events.
#include "bench_opencl.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench_time.h"
#include "message.h"
#include "progress.h"
#include "rope2d/rope2d_opencl.h"

enum { REPEATS = 101 };

static uint64_t most_bytes(const struct bench_engine *engine) {
    return engine->choice->info.max_buffer_range;
}

static void memory_destroy(struct bench_engine *engine) {
    struct opencl *opencl = engine->impl;
    for (uint32_t i = 0; opencl->sets && i < engine->sets * BENCH_BUFFERS; ++i)
        if (opencl->sets[i])
            opencl->ReleaseMemObject(opencl->sets[i]);
    cl_mem *const others[] = {&opencl->table, &opencl->turn_table, &opencl->turn_rows};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        if (*others[i])
            opencl->ReleaseMemObject(*others[i]);
        *others[i] = NULL;
    }
    free(opencl->sets);
    opencl->sets = NULL;
}

// Something is bound even where no limit reads it.
static int create_table(struct bench_engine *engine) {
    struct opencl *opencl = engine->impl;
    size_t count = engine->table_floats ? (size_t)engine->table_floats : 64;
    cl_float *table = malloc(count * sizeof *table);
    cl_int code = CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; table && i < count; ++i)
        table[i] = (cl_float)BENCH_FACTOR;
    if (table)
        opencl->table = opencl->CreateBuffer(opencl->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                             count * sizeof *table, table, &code);
    free(table);
    return opencl_check(engine, code, "clCreateBuffer");
}

static int memory_create(struct bench_engine *engine) {
    struct opencl *opencl = engine->impl;
    uint32_t count = engine->sets * BENCH_BUFFERS;
    opencl->sets = calloc(count, sizeof(cl_mem));
    if (!opencl->sets) {
        message("no memory for %u buffers", count);
        return STATUS_DEVICE;
    }
    int result = STATUS_OK;
    for (uint32_t i = 0; i < count && !result; ++i) {
        cl_int code = CL_SUCCESS;
        opencl->sets[i] =
            opencl->CreateBuffer(opencl->context, CL_MEM_READ_WRITE, (size_t)engine->bytes, NULL, &code);
        result = opencl_check(engine, code, "clCreateBuffer");
    }
    if (!result)
        result = create_table(engine);
    return result ? result : bench_opencl_create_turns(engine);
}

cl_mem bench_opencl_buffer(const struct opencl *opencl, uint32_t set, int buffer) {
    return opencl->sets[set * BENCH_BUFFERS + (uint32_t)buffer];
}

static int write_buffer(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset,
                        uint64_t bytes, const void *data) {
    struct opencl *opencl = engine->impl;
    cl_int code = opencl->EnqueueWriteBuffer(opencl->queue, bench_opencl_buffer(opencl, set, buffer), CL_TRUE,
                                             (size_t)offset, (size_t)bytes, data, 0, NULL, NULL);
    return opencl_check(engine, code, "clEnqueueWriteBuffer");
}

static int read_buffer(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                       void *data) {
    struct opencl *opencl = engine->impl;
    cl_int code = opencl->EnqueueReadBuffer(opencl->queue, bench_opencl_buffer(opencl, set, buffer), CL_TRUE,
                                            (size_t)offset, (size_t)bytes, data, 0, NULL, NULL);
    return opencl_check(engine, code, "clEnqueueReadBuffer");
}

static rope2d_status bind(struct bench_engine *engine, const struct bench_rotation *rotation, uint32_t set,
                          rope2d_opencl_binding **binding) {
    const struct bench_case *what = rotation->what;
    rope2d_opencl_tensor tensors[BENCH_TENSORS] = {{0}};
    for (uint32_t i = 0; i < BENCH_TENSORS; ++i) {
        tensors[i].heads = what->tower->heads;
        tensors[i].in = (rope2d_opencl_view){
            .memory = bench_opencl_buffer(engine->impl, set, BENCH_IN),
            .offset = i * engine->bytes / BENCH_TENSORS,
            .token_stride = (int64_t)what->tower->heads * what->tower->head_dim,
            .head_stride = what->tower->head_dim,
        };
        tensors[i].out = tensors[i].in;
        tensors[i].out.memory =
            bench_opencl_buffer(engine->impl, set, rotation->in_place ? BENCH_IN : BENCH_OUT);
    }
    rope2d_opencl_binding_params params = {
        .struct_size = sizeof params,
        .batch = 1,
        .tokens = what->tokens,
        .tensor_count = BENCH_TENSORS,
        .tensors = tensors,
    };
    return rope2d_opencl_binding_create(rotation->plan, rotation->positions, &params, binding);
}

static uint64_t memory_bytes(const struct opencl *opencl, cl_mem memory) {
    size_t bytes = 0;
    return opencl->GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) == CL_SUCCESS ? bytes
                                                                                                   : 0;
}

// What a kernel reads besides the tensors: of a texture its entries, for it is padded. The few words of its
// arguments and units nobody can ask for.
static rope2d_status count_bound(struct bench_engine *engine, struct bench_rotation *rotation) {
    const struct opencl *opencl = engine->impl;
    rope2d_opencl_table table = {.struct_size = sizeof table};
    rope2d_positions_info info = {.struct_size = sizeof info};
    rope2d_status status = rope2d_opencl_positions_get_table(rotation->positions, &table);
    if (!status)
        status = rope2d_positions_get_info(rotation->positions, &info);
    if (status)
        return status;
    rotation->bound_bytes = memory_bytes(opencl, table.rows);
    rotation->bound_bytes +=
        table.kind == ROPE2D_TABLE_TEXTURE ? info.table_bytes : memory_bytes(opencl, table.table);
    return ROPE2D_OK;
}

static void rotation_destroy(struct bench_engine *engine, struct bench_rotation *rotation) {
    rope2d_opencl_binding **bindings = rotation->impl;
    for (uint32_t i = 0; bindings && i < engine->sets; ++i)
        rope2d_opencl_binding_destroy(bindings[i]);
    free(bindings);
    rotation->impl = NULL;
}

static int rotation_create(struct bench_engine *engine, struct bench_rotation *rotation) {
    rope2d_opencl_binding **bindings = calloc(engine->sets, sizeof(rope2d_opencl_binding *));
    rotation->impl = bindings;
    if (!bindings) {
        message("no memory for %u bindings", engine->sets);
        return STATUS_DEVICE;
    }
    rope2d_status status = ROPE2D_OK;
    for (uint32_t i = 0; i < engine->sets && !status; ++i)
        status = bind(engine, rotation, i, &bindings[i]);
    if (!status)
        status = count_bound(engine, rotation);
    if (status)
        snprintf(rotation->why, sizeof rotation->why, "binding: %s", rope2d_status_name(status));
    rotation->dispatches = 1;
    return STATUS_OK;
}

static int rotate(struct bench_engine *engine, const struct bench_rotation *rotation, uint32_t set,
                  struct bench_sample *sample) {
    struct opencl *opencl = engine->impl;
    rope2d_opencl_binding *const *bindings = rotation->impl;
    cl_event event = NULL;
    double begin = seconds_now();
    rope2d_status status =
        rope2d_opencl_enqueue(bindings[set], opencl->queue, 0, rotation->what->tokens, 0, NULL, &event);
    if (status)
        return message_status(status, engine->choice->name);
    return bench_opencl_finish(engine, begin, event, sample);
}

static int issue(struct bench_engine *engine, const struct bench_rotation *rotation, double *seconds,
                 double *bare, uint64_t *allocations) {
    struct opencl *opencl = engine->impl;
    rope2d_opencl_binding *const *bindings = rotation->impl;
    double each[REPEATS];
    int result = STATUS_OK;
    *allocations = 0;
    *bare = -1;
    for (int repeat = 0; repeat < REPEATS && !result; ++repeat) {
        uint64_t before = bench_allocations();
        double begin = seconds_now();
        rope2d_status status = rope2d_opencl_enqueue(bindings[0], opencl->library_queue, 0,
                                                     rotation->what->tokens, 0, NULL, NULL);
        each[repeat] = seconds_now() - begin;
        *allocations += bench_allocations() - before;
        result = status ? message_status(status, engine->choice->name)
                        : opencl_check(engine, opencl->Finish(opencl->library_queue), "clFinish");
    }
    if (!result)
        *seconds = bench_spread_of(each, REPEATS).median;
    return result;
}

const struct bench_engine_ops bench_opencl_ops = {
    .open = bench_opencl_open,
    .close = bench_opencl_close,
    .most_bytes = most_bytes,
    .most_sets = 1024,
    .make_device = bench_opencl_make_device,
    .memory_create = memory_create,
    .memory_destroy = memory_destroy,
    .write = write_buffer,
    .read = read_buffer,
    .rotation_create = rotation_create,
    .rotation_destroy = rotation_destroy,
    .rotate = rotate,
    .variants = bench_opencl_variants,
    .variant_name = bench_opencl_variant_name,
    .move = bench_opencl_move,
    .issue = issue,
    .compile_seconds = bench_opencl_compile_seconds,
};
