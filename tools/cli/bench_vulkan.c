// SPDX-License-Identifier: MIT
//
// Vulkan: the library adopted into a device of ours, recorded into our command buffer between two timestamps.
#include "bench_vulkan.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench_time.h"
#include "message.h"
#include "progress.h"
#include "rope2d/rope2d_vulkan.h"

enum { RECORDS = 501 };

static uint64_t most_bytes(const struct bench_engine *engine) {
    (void)engine;
    return (uint64_t)4 << 30; // offsets of descriptors have 32 bits
}

static rope2d_status bind(struct bench_engine *engine, const struct bench_rotation *rotation, uint32_t set,
                          rope2d_vulkan_binding **binding) {
    const struct bench_case *what = rotation->what;
    rope2d_vulkan_tensor tensors[BENCH_TENSORS] = {{0}};
    for (uint32_t i = 0; i < BENCH_TENSORS; ++i) {
        tensors[i].heads = what->tower->heads;
        tensors[i].in = (rope2d_vulkan_view){
            .buffer = bench_vulkan_buffer(engine->impl, set, BENCH_IN),
            .size = engine->bytes,
            .offset = i * engine->bytes / BENCH_TENSORS,
            .token_stride = (int64_t)what->tower->heads * what->tower->head_dim,
            .head_stride = what->tower->head_dim,
        };
        tensors[i].out = tensors[i].in;
        tensors[i].out.buffer =
            bench_vulkan_buffer(engine->impl, set, rotation->in_place ? BENCH_IN : BENCH_OUT);
    }
    rope2d_vulkan_binding_params params = {
        .struct_size = sizeof params,
        .batch = 1,
        .tokens = what->tokens,
        .tensor_count = BENCH_TENSORS,
        .tensors = tensors,
    };
    return rope2d_vulkan_binding_create(rotation->plan, rotation->positions, &params, binding);
}

static void rotation_destroy(struct bench_engine *engine, struct bench_rotation *rotation) {
    rope2d_vulkan_binding **bindings = rotation->impl;
    for (uint32_t i = 0; bindings && i < engine->sets; ++i)
        rope2d_vulkan_binding_destroy(bindings[i]);
    free(bindings);
    rotation->impl = NULL;
}

static int rotation_create(struct bench_engine *engine, struct bench_rotation *rotation) {
    rope2d_vulkan_binding **bindings = calloc(engine->sets, sizeof(rope2d_vulkan_binding *));
    rotation->impl = bindings;
    if (!bindings) {
        message("no memory for %u bindings", engine->sets);
        return STATUS_DEVICE;
    }
    rope2d_positions_info info = {.struct_size = sizeof info};
    rope2d_status status = rope2d_positions_get_info(rotation->positions, &info);
    bench_vulkan_take_bound(engine);
    for (uint32_t i = 0; i < engine->sets && !status; ++i)
        status = bind(engine, rotation, i, &bindings[i]);
    // The descriptors of every set alike. Of a texture only what is read counts.
    rotation->bound_bytes = bench_vulkan_take_bound(engine) / engine->sets;
    if (info.table == ROPE2D_TABLE_TEXTURE)
        rotation->bound_bytes += info.table_bytes;
    if (status)
        snprintf(rotation->why, sizeof rotation->why, "binding: %s", rope2d_status_name(status));
    else
        rotation->dispatches = rope2d_vulkan_binding_dispatches(bindings[0]);
    return STATUS_OK;
}

static int rotate(struct bench_engine *engine, const struct bench_rotation *rotation, uint32_t set,
                  struct bench_sample *sample) {
    struct vulkan *vulkan = engine->impl;
    rope2d_vulkan_binding *const *bindings = rotation->impl;
    int result = bench_vulkan_begin(engine);
    if (result)
        return result;
    rope2d_status status = rope2d_vulkan_record(bindings[set], vulkan->commands);
    if (status)
        return message_status(status, engine->choice->name);
    return bench_vulkan_submit(engine, sample);
}

// Many records in one command buffer, which is never submitted.
static int issue(struct bench_engine *engine, const struct bench_rotation *rotation, double *seconds,
                 double *bare, uint64_t *allocations) {
    struct vulkan *vulkan = engine->impl;
    rope2d_vulkan_binding *const *bindings = rotation->impl;
    double each[RECORDS], alone[RECORDS];
    int result = bench_vulkan_begin(engine);
    *allocations = 0;
    for (int i = 0; i < RECORDS && !result; ++i) {
        uint64_t before = bench_allocations();
        double begin = seconds_now();
        rope2d_status status = rope2d_vulkan_record(bindings[0], vulkan->commands);
        each[i] = seconds_now() - begin;
        *allocations += bench_allocations() - before;
        bench_vulkan_barrier(vulkan->commands);
        result = status ? message_status(status, engine->choice->name) : STATUS_OK;
        if (!result)
            result = bench_vulkan_record_bare(engine, &alone[i]);
        bench_vulkan_barrier(vulkan->commands);
    }
    if (!result)
        result = vulkan_check(engine, vkEndCommandBuffer(vulkan->commands), "vkEndCommandBuffer");
    if (!result)
        *seconds = bench_spread_of(each, RECORDS).median;
    if (!result)
        *bare = bench_spread_of(alone, RECORDS).median;
    return result;
}

const struct bench_engine_ops bench_vulkan_ops = {
    .open = bench_vulkan_open,
    .close = bench_vulkan_close,
    .most_bytes = most_bytes,
    .most_sets = 1024,
    .make_device = bench_vulkan_make_device,
    .memory_create = bench_vulkan_memory_create,
    .memory_destroy = bench_vulkan_memory_destroy,
    .write = bench_vulkan_write,
    .read = bench_vulkan_read,
    .rotation_create = rotation_create,
    .rotation_destroy = rotation_destroy,
    .rotate = rotate,
    .variants = bench_vulkan_variants,
    .variant_name = bench_vulkan_variant_name,
    .move = bench_vulkan_move,
    .busy = bench_vulkan_busy,
    .issue = issue,
    .compile_seconds = bench_vulkan_compile_seconds,
    .run_seconds = bench_vulkan_run_seconds,
    .run_twice = bench_vulkan_run_twice,
    .repeat_seconds = bench_vulkan_repeat_seconds,
    .compiled = bench_vulkan_compiled,
};
