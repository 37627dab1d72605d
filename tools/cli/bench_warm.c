// SPDX-License-Identifier: MIT
//
// Plans on devices that were just made and have a cache of what was compiled before: the next start of a
// program.
#include <stdlib.h>

#include "bench_run.h"
#include "bench_time.h"
#include "message.h"

enum { REPEATS = 5 };

struct bytes {
    void *data;
    uint64_t size;
};

// A Vulkan device was adopted with a pipeline cache of the bench's, which its successors share.
static rope2d_status take_cache(struct bench_engine *engine, struct bytes *cache) {
    if (engine->choice->info.backend == ROPE2D_BACKEND_VULKAN)
        return ROPE2D_OK;
    rope2d_status status = rope2d_device_get_cache(engine->device, NULL, &cache->size);
    if (status || !cache->size)
        return status;
    cache->data = malloc((size_t)cache->size);
    return cache->data ? rope2d_device_get_cache(engine->device, cache->data, &cache->size)
                       : ROPE2D_ERROR_HOST_MEMORY;
}

static rope2d_status time_one(struct bench_engine *engine, const rope2d_plan_params *params,
                              const struct bytes *cache, double *seconds, double *compiling) {
    rope2d_device *device = NULL;
    rope2d_plan *plan = NULL;
    rope2d_status status = engine->ops->make_device(engine, &device);
    if (!status && cache->size)
        status = rope2d_device_set_cache(device, cache->data, cache->size);
    if (!status) {
        double before = engine->ops->compile_seconds(engine), begin = seconds_now();
        status = rope2d_plan_create(device, params, &plan);
        *seconds = seconds_now() - begin;
        *compiling = before < 0 ? 0 : engine->ops->compile_seconds(engine) - before;
    }
    rope2d_plan_destroy(plan);
    rope2d_device_destroy(device);
    return status;
}

static rope2d_status time_some(struct bench_engine *engine, const rope2d_plan_params *params,
                               const struct bytes *cache, double *seconds, double *compiling) {
    double each[REPEATS], parts[REPEATS];
    rope2d_status status = ROPE2D_OK;
    for (int i = 0; i < REPEATS && !status; ++i)
        status = time_one(engine, params, cache, &each[i], &parts[i]);
    *seconds = status ? -1 : bench_spread_of(each, REPEATS).median;
    *compiling = status ? 0 : bench_spread_of(parts, REPEATS).median;
    return status;
}

rope2d_status bench_warm_plans(struct bench_run *run, const rope2d_plan_params *params,
                               struct bench_overhead *overhead) {
    struct bench_engine *engine = &run->engine;
    rope2d_plan_params untested = *params;
    struct bytes cache = {NULL, 0};
    double compiling;
    untested.flags |= ROPE2D_PLAN_NO_SELF_TEST;
    rope2d_status status = take_cache(engine, &cache);
    if (!status)
        status = time_some(engine, params, &cache, &overhead->plan_warm, &overhead->warm_compile);
    if (!status)
        status = time_some(engine, &untested, &cache, &overhead->plan_untested, &compiling);
    free(cache.data);
    return status;
}
