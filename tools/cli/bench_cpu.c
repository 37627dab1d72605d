// SPDX-License-Identifier: MIT
//
// The CPU: host memory, rope2d_apply, and loops on as many threads, spread as the library spreads its own.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_engine.h"
#include "bench_loops.h"
#include "internal.h"
#include "message.h"
#include "progress.h"

struct cpu {
    rope2d_host host;
    unsigned char **buffers; // [sets][BENCH_BUFFERS]
    const struct bench_copy_loop *copies[BENCH_CANDIDATES];
    const struct bench_scale_loop *scales[BENCH_CANDIDATES];
    uint32_t copy_count, scale_count;
};

static int open_cpu(struct bench_engine *engine) {
    struct cpu *cpu = calloc(1, sizeof *cpu);
    engine->impl = cpu;
    if (!cpu) {
        message("no memory for a device");
        return STATUS_DEVICE;
    }
    cpu->host = bench_host;
    cpu->host.threads = engine->threads;
    cpu->copy_count = bench_copy_loops(cpu->copies);
    cpu->scale_count = bench_scale_loops(cpu->scales);
    rope2d_device_params params = {.struct_size = sizeof params, .host = &cpu->host};
    rope2d_status status = rope2d_device_create(&params, &engine->device);
    return status ? message_status(status, engine->choice->name) : STATUS_OK;
}

static void close_cpu(struct bench_engine *engine) {
    rope2d_device_destroy(engine->device);
    free(engine->impl);
}

static uint64_t most_bytes(const struct bench_engine *engine) {
    (void)engine;
    return UINT64_MAX;
}

static void memory_destroy(struct bench_engine *engine) {
    struct cpu *cpu = engine->impl;
    for (uint32_t i = 0; cpu->buffers && i < engine->sets * BENCH_BUFFERS; ++i)
        free(cpu->buffers[i]);
    free(cpu->buffers);
    cpu->buffers = NULL;
}

static int memory_create(struct bench_engine *engine) {
    struct cpu *cpu = engine->impl;
    bool made = (cpu->buffers = calloc((size_t)engine->sets * BENCH_BUFFERS, sizeof *cpu->buffers)) != NULL;
    for (uint32_t i = 0; made && i < engine->sets * BENCH_BUFFERS; ++i) {
        void *memory = NULL;
        made = posix_memalign(&memory, 4096, (size_t)(engine->bytes + 63) / 64 * 64) == 0;
        cpu->buffers[i] = memory;
    }
    if (made)
        return STATUS_OK;
    message("%s: no memory for %u buffers of %.1f MiB", engine->choice->name, engine->sets * BENCH_BUFFERS,
            (double)engine->bytes / (1 << 20));
    return STATUS_DEVICE;
}

static unsigned char *buffer_of(const struct bench_engine *engine, uint32_t set, int buffer) {
    const struct cpu *cpu = engine->impl;
    return cpu->buffers[set * BENCH_BUFFERS + (uint32_t)buffer];
}

static int write_buffer(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset,
                        uint64_t bytes, const void *data) {
    memcpy(buffer_of(engine, set, buffer) + offset, data, (size_t)bytes);
    return STATUS_OK;
}

static int read_buffer(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                       void *data) {
    memcpy(data, buffer_of(engine, set, buffer) + offset, (size_t)bytes);
    return STATUS_OK;
}

static int rotation_create(struct bench_engine *engine, struct bench_rotation *rotation) {
    (void)engine;
    rotation->dispatches = 1;
    return STATUS_OK;
}

static void rotation_destroy(struct bench_engine *engine, struct bench_rotation *rotation) {
    (void)engine;
    (void)rotation;
}

static int rotate(struct bench_engine *engine, const struct bench_rotation *rotation, uint32_t set,
                  struct bench_sample *sample) {
    const struct bench_case *what = rotation->what;
    unsigned char *in = buffer_of(engine, set, BENCH_IN);
    unsigned char *out = rotation->in_place ? in : buffer_of(engine, set, BENCH_OUT);
    rope2d_tensor tensors[BENCH_TENSORS] = {{0}};
    for (uint32_t i = 0; i < BENCH_TENSORS; ++i) {
        uint64_t begin = i * engine->bytes / BENCH_TENSORS;
        tensors[i].heads = what->tower->heads;
        tensors[i].in = rope2d_view_contiguous(in + begin, what->element, ROPE2D_LAYOUT_BNHD, 1, what->tokens,
                                               what->tower->heads, what->tower->head_dim);
        tensors[i].out = tensors[i].in;
        tensors[i].out.base = out + begin;
    }
    rope2d_apply_params params = {
        .struct_size = sizeof params,
        .batch = 1,
        .tokens = what->tokens,
        .tensor_count = BENCH_TENSORS,
        .tensors = tensors,
    };
    double begin = seconds_now();
    rope2d_status status = rope2d_apply(rotation->plan, rotation->positions, &params);
    *sample = (struct bench_sample){.host = seconds_now() - begin};
    return status ? message_status(status, engine->choice->name) : STATUS_OK;
}

static uint32_t variants(const struct bench_engine *engine, enum bench_move move) {
    const struct cpu *cpu = engine->impl;
    return move == BENCH_DRIVER_COPY ? 1 : move == BENCH_COPY ? cpu->copy_count : cpu->scale_count;
}

static void variant_name(const struct bench_engine *engine, enum bench_move move, uint32_t variant,
                         char *name, size_t size) {
    const struct cpu *cpu = engine->impl;
    snprintf(name, size, "%s",
             move == BENCH_DRIVER_COPY ? "memcpy"
             : move == BENCH_COPY      ? cpu->copies[variant]->name
                                       : cpu->scales[variant]->name);
}

// A part for each thread, of whole lines of the cache.
struct moving {
    const struct cpu *cpu;
    enum bench_move move;
    uint32_t variant, tasks;
    unsigned char *in, *out;
    uint64_t bytes;
};

static void move_part(void *data, uint32_t index) {
    const struct moving *moving = data;
    uint64_t lines = moving->bytes / 64;
    uint64_t begin = lines * index / moving->tasks * 64;
    uint64_t end = lines * (index + 1) / moving->tasks * 64;
    if (moving->move == BENCH_DRIVER_COPY)
        memcpy(moving->out + begin, moving->in + begin, (size_t)(end - begin));
    else if (moving->move == BENCH_COPY)
        moving->cpu->copies[moving->variant]->run(moving->out + begin, moving->in + begin, end - begin);
    else // by -1, so that the numbers stay what they are
        moving->cpu->scales[moving->variant]->run((float *)(void *)(moving->in + begin), end - begin, -1.0f);
}

static int move_bytes(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      struct bench_sample *sample) {
    const struct cpu *cpu = engine->impl;
    struct moving moving = {
        .cpu = cpu,
        .move = move,
        .variant = variant,
        .tasks = engine->threads,
        .in = buffer_of(engine, set, BENCH_IN),
        .out = buffer_of(engine, set, BENCH_OUT),
        .bytes = engine->bytes,
    };
    rope2d_host host = rope2d_host_resolve(&cpu->host);
    double begin = seconds_now();
    rope2d_parallel(&host, moving.tasks, move_part, &moving);
    *sample = (struct bench_sample){.host = seconds_now() - begin};
    return STATUS_OK;
}

static int issue(struct bench_engine *engine, const struct bench_rotation *rotation, double *seconds,
                 uint64_t *allocations) {
    (void)engine;
    (void)rotation;
    *seconds = -1;
    *allocations = 0;
    return STATUS_OK;
}

static double compile_seconds(const struct bench_engine *engine) {
    (void)engine;
    return 0; // nothing is compiled
}

const struct bench_engine_ops bench_cpu_ops = {
    .open = open_cpu,
    .close = close_cpu,
    .most_bytes = most_bytes,
    .most_sets = 4096,
    .memory_create = memory_create,
    .memory_destroy = memory_destroy,
    .write = write_buffer,
    .read = read_buffer,
    .rotation_create = rotation_create,
    .rotation_destroy = rotation_destroy,
    .rotate = rotate,
    .variants = variants,
    .variant_name = variant_name,
    .move = move_bytes,
    .issue = issue,
    .compile_seconds = compile_seconds,
};
