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
#include "../verify/folder.h"
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

static double runs_of(const struct bench_engine *engine) {
    return engine->ops->run_seconds ? engine->ops->run_seconds(engine) : 0;
}

static double repeats_of(const struct bench_engine *engine) {
    return engine->ops->repeat_seconds ? engine->ops->repeat_seconds(engine) : 0;
}

// A plan in seconds, of these the driver's while it makes pipelines, negative where nobody knows, and those
// of the self-test's runs; and the kernels made.
struct plan_times {
    double seconds, compiling, runs;
    uint32_t kernels;
};

// `keep`: the file that receives the device's cache while the plan lives, for of OpenCL a cache has the
// programs that live; NULL: none.
static rope2d_status make_plan(struct bench_engine *engine, const rope2d_plan_params *params,
                               const char *keep, struct plan_times *times) {
    rope2d_plan *plan = NULL;
    uint32_t kernels = kernels_of(engine);
    double before = engine->ops->compile_seconds(engine), runs = runs_of(engine);
    double repeats = repeats_of(engine), begin = seconds_now();
    rope2d_status status = rope2d_plan_create(engine->device, params, &plan);
    times->seconds = seconds_now() - begin - (repeats_of(engine) - repeats);
    times->compiling = before < 0 ? -1 : engine->ops->compile_seconds(engine) - before;
    times->runs = runs_of(engine) - runs;
    times->kernels = kernels_of(engine) - kernels;
    if (!status && keep)
        status = keep_bytes(engine->device, keep);
    rope2d_plan_destroy(plan);
    return status;
}

enum mode { MODE_TESTED, MODE_UNTESTED, MODE_PARTS, MODE_COLD, MODE_BARE };
static const char *const mode_names[] = {"tested", "untested", "parts", "cold", "bare", NULL};

// Without a cache the driver makes machine code when kernels first run: what the plan's runs take more than a
// second plan's, and these more than when they are repeated.
static rope2d_status add_unseen(struct bench_engine *engine, const rope2d_plan_params *params,
                                struct plan_times *times) {
    struct plan_times again = {0}, last = {0};
    rope2d_status status = make_plan(engine, params, NULL, &again);
    engine->ops->run_twice(engine);
    if (!status)
        status = make_plan(engine, params, NULL, &last);
    double unseen = last.runs + (times->runs > again.runs ? times->runs - again.runs : 0);
    times->compiling += unseen < times->runs ? unseen : times->runs;
    return status;
}

static rope2d_status time_plan(struct bench_engine *engine, const rope2d_plan_params *params, enum mode mode,
                               const char *path, struct plan_times *times) {
    struct bytes cache = {NULL, 0};
    rope2d_status status = ROPE2D_OK;
    bool is_first = !path || !read_bytes(path, &cache), can_repeat = engine->ops->run_twice != NULL;
    if (!is_first)
        status = rope2d_device_set_cache(engine->device, cache.data, cache.size);
    free(cache.data);
    if (mode == MODE_PARTS && can_repeat)
        engine->ops->run_twice(engine);
    if (!status)
        status = make_plan(engine, params, is_first ? path : NULL, times);
    if (!status && mode == MODE_COLD && can_repeat)
        status = add_unseen(engine, params, times);
    else if (mode == MODE_PARTS && can_repeat)
        times->compiling += times->runs;
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

// Of a copy kernel what its first run takes more than its second, in buffers that were touched before: with
// the making of the pipeline, and without.
static int time_copy(struct bench_engine *engine, const struct bench_case *what, double *all, double *run) {
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
    *all = walls[0] > walls[1] ? walls[0] - walls[1] : 0;
    *run = hosts[0] > hosts[1] ? hosts[0] - hosts[1] : 0;
    return result;
}

// What goes to the process that started this one.
static void tell(double a, double b, double c) {
    dprintf(VERIFY_WORKER_DESCRIPTOR, "%.9g %.9g %.9g\n", a, b, c);
}

static int measure_plan(struct bench_engine *engine, const struct bench_case *what, enum mode mode,
                        const char *path) {
    struct bench_spec spec;
    struct plan_times times = {0};
    double all = 0, run = 0;
    bench_spec_fill(what->tower, ROPE2D_PAIRING_HALF, &spec);
    rope2d_plan_params params = {.struct_size = sizeof params,
                                 .spec = &spec.spec,
                                 .in = what->element,
                                 .out = what->element,
                                 .flags = mode == MODE_UNTESTED ? ROPE2D_PLAN_NO_SELF_TEST : 0};
    rope2d_status status = time_plan(engine, &params, mode, path, &times);
    if (status)
        return message_status(status, engine->choice->name);
    int result = STATUS_OK;
    if (engine->choice->info.backend != ROPE2D_BACKEND_CPU && mode != MODE_COLD)
        result = time_copy(engine, what, &all, &run);
    if (result)
        return result;
    // Where it is known how long the driver makes kernels, a copy kernel's own making has no part in it.
    uint32_t kernels = times.kernels > 0 ? times.kernels : 1;
    tell(times.seconds, times.compiling, times.compiling < 0 ? all : kernels * run);
    return STATUS_OK;
}

static int measure(struct bench_engine *engine, rope2d_element element, enum mode mode, const char *path) {
    struct bench_case what = {.tower = &bench_towers[0], .tokens = TOKENS, .element = element};
    double all, run;
    int result = engine->ops->open(engine);
    if (!result && mode != MODE_BARE)
        return measure_plan(engine, &what, mode, path);
    if (!result)
        result = time_copy(engine, &what, &all, &run);
    if (!result)
        tell(all, run, all);
    return result;
}

int bench_worker_main(int argc, char **argv) {
    char folder[FOLDER_PATH_SIZE];
    struct device_list devices = {0};
    struct bench_machine machine = {.core_cache = 1 << 20, .last_cache = 1 << 20};
    int element = argc == 4 ? word_index(argv[1], bench_element_names) : -1;
    int mode = argc == 4 ? word_index(argv[2], mode_names) : -1;
    bool is_hidden = mode == MODE_COLD || mode == MODE_BARE;
    if (element < 0 || mode < 0 || (is_hidden && !bench_hide_driver_caches(folder)))
        return STATUS_USAGE;
    int result = devices_choose(argv[0], true, &devices);
    if (!result && devices.count) {
        struct bench_engine engine = {
            .ops = bench_engines[devices.items[0].info.backend],
            .choice = &devices.items[0],
            .threads = 1,
            .keeps_cache = true,
            .machine = &machine,
        };
        result = measure(&engine, (rope2d_element)element, (enum mode)mode, is_hidden ? NULL : argv[3]);
        engine.ops->close(&engine);
    }
    devices_free(&devices);
    if (is_hidden)
        folder_remove(folder);
    return result;
}
