// SPDX-License-Identifier: MIT
#include "bench_worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_cases.h"
#include "bench_run.h"
#include "message.h"
#include "options.h"
#include "../verify/worker.h"

enum { TOKENS = 64 }; // of the copy that shows what any first run takes

struct bytes {
    void *data;
    uint64_t size;
};

static bool read_bytes(const char *path, struct bytes *bytes) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
    if (size > 0 && fseek(file, 0, SEEK_SET) == 0 && (bytes->data = malloc((size_t)size)) != NULL)
        bytes->size = fread(bytes->data, 1, (size_t)size, file);
    (void)fclose(file);
    return bytes->size > 0;
}

static rope2d_status keep_bytes(rope2d_device *device, const char *path) {
    struct bytes bytes = {NULL, 0};
    rope2d_status status = rope2d_device_get_cache(device, NULL, &bytes.size);
    if (status || !bytes.size)
        return status;
    bytes.data = malloc((size_t)bytes.size);
    status = bytes.data ? rope2d_device_get_cache(device, bytes.data, &bytes.size) : ROPE2D_ERROR_HOST_MEMORY;
    FILE *file = status ? NULL : fopen(path, "wb");
    if (file && fwrite(bytes.data, 1, (size_t)bytes.size, file) != bytes.size)
        status = ROPE2D_ERROR_CACHE;
    if (file)
        (void)fclose(file);
    free(bytes.data);
    return status;
}

static uint32_t kernels_of(const struct bench_engine *engine) {
    return engine->ops->compiled ? engine->ops->compiled(engine) : 0;
}

// Seconds of the plan, and of these the driver's in vkCreateComputePipelines, negative where nobody knows;
// and the kernels made there.
static rope2d_status time_plan(struct bench_engine *engine, const rope2d_plan_params *params,
                               const char *path, double *seconds, double *compiling, uint32_t *kernels) {
    struct bytes cache = {NULL, 0};
    rope2d_plan *plan = NULL;
    rope2d_status status = ROPE2D_OK;
    bool is_first = !read_bytes(path, &cache);
    if (!is_first)
        status = rope2d_device_set_cache(engine->device, cache.data, cache.size);
    free(cache.data);
    double before = engine->ops->compile_seconds(engine), begin = seconds_now();
    *kernels = kernels_of(engine);
    if (!status)
        status = rope2d_plan_create(engine->device, params, &plan);
    *seconds = seconds_now() - begin;
    *compiling = before < 0 ? -1 : engine->ops->compile_seconds(engine) - before;
    *kernels = kernels_of(engine) - *kernels;
    if (!status && is_first)
        status = keep_bytes(engine->device, path);
    rope2d_plan_destroy(plan);
    return status;
}

int bench_time_bare(struct bench_engine *engine, double walls[2], double hosts[2]) {
    int result = STATUS_OK;
    for (int i = 0; i < 2 && !result; ++i) {
        struct bench_sample sample = {0};
        double begin = seconds_now();
        result = engine->ops->move(engine, BENCH_COPY, 0, 0, &sample);
        walls[i] = seconds_now() - begin;
        hosts[i] = sample.host;
    }
    return result;
}

// Of a copy kernel: all that its first run takes more than its second, in buffers that were touched before;
// of several kernels, which the driver has made and told the time of, so much more for each.
static int time_bare(struct bench_engine *engine, const struct bench_case *what, uint32_t kernels,
                     double *seconds) {
    double walls[2] = {0}, hosts[2] = {0};
    struct bench_sample touching;
    engine->what = what;
    engine->bytes = bench_bytes(what);
    engine->sets = 1;
    int result = engine->ops->memory_create(engine);
    if (!result)
        result = engine->ops->move(engine, BENCH_DRIVER_COPY, 0, 0, &touching);
    if (!result)
        result = bench_time_bare(engine, walls, hosts);
    engine->ops->memory_destroy(engine);
    double more = kernels > 0 ? kernels * (hosts[0] - hosts[1]) : walls[0] - walls[1];
    *seconds = more > 0 ? more : 0;
    return result;
}

static int measure(struct bench_engine *engine, rope2d_element element, uint32_t flags, const char *path) {
    struct bench_case what = {.tower = &bench_towers[0], .tokens = TOKENS, .element = element};
    struct bench_spec spec;
    double seconds, compiling, bare = 0;
    uint32_t kernels;
    bench_spec_fill(what.tower, ROPE2D_PAIRING_HALF, &spec);
    rope2d_plan_params params = {
        .struct_size = sizeof params, .spec = &spec.spec, .in = element, .out = element, .flags = flags};
    int result = engine->ops->open(engine);
    if (result)
        return result;
    rope2d_status status = time_plan(engine, &params, path, &seconds, &compiling, &kernels);
    if (status)
        return message_status(status, engine->choice->name);
    if (engine->choice->info.backend != ROPE2D_BACKEND_CPU)
        result = time_bare(engine, &what, kernels, &bare);
    if (!result)
        dprintf(VERIFY_WORKER_DESCRIPTOR, "%.9g %.9g %.9g\n", seconds, compiling, bare);
    return result;
}

int bench_worker_main(int argc, char **argv) {
    struct device_list devices = {0};
    struct bench_machine machine = {.core_cache = 1 << 20, .last_cache = 1 << 20};
    int element = argc == 4 ? word_index(argv[1], bench_element_names) : -1;
    if (element < 0 || devices_choose(argv[0], true, &devices) || !devices.count) {
        devices_free(&devices);
        return STATUS_USAGE;
    }
    struct bench_engine engine = {
        .ops = bench_engines[devices.items[0].info.backend],
        .choice = &devices.items[0],
        .threads = 1,
        .keeps_cache = true,
        .machine = &machine,
    };
    uint32_t flags = strcmp(argv[2], "untested") == 0 ? ROPE2D_PLAN_NO_SELF_TEST : 0;
    int result = measure(&engine, (rope2d_element)element, flags, argv[3]);
    engine.ops->close(&engine);
    devices_free(&devices);
    return result;
}
