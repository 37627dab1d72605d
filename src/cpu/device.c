// SPDX-License-Identifier: MIT
//
// The CPU backend: one device, which reads positions where the host has them and has nothing to compile.
#include "../backend.h"
#include "identify.h"

#include <stdio.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#elif defined(__unix__)
#include <unistd.h>
#endif

static uint64_t memory_bytes(void) {
#if defined(_WIN32)
    MEMORYSTATUSEX memory = {.dwLength = sizeof(memory)};
    return GlobalMemoryStatusEx(&memory) ? memory.ullTotalPhys : 0;
#elif defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
#else
    return 0;
#endif
}

static void describe(rope2d_device_info *info) {
    *info = (rope2d_device_info){
        .struct_size = sizeof(*info),
        .backend = ROPE2D_BACKEND_CPU,
        .driver = "rope2d, portable C",
        .api = "C11",
        .is_software = 1,
        .default_table = ROPE2D_TABLE_BUFFER,
        .memory_bytes = memory_bytes(),
    };
    rope2d_cpu_identify(info->name, sizeof(info->name), info->vendor, sizeof(info->vendor));
}

static rope2d_status enumerate(const rope2d_host *host, uint32_t *count, rope2d_device_info *infos) {
    (void)host;
    if (infos && *count > 0)
        describe(&infos[0]);
    *count = 1;
    return ROPE2D_OK;
}

static rope2d_status device_create(rope2d_device *device, const rope2d_device_params *params) {
    if (params->index != 0)
        return rope2d_fail(&device->host, ROPE2D_ERROR_DEVICE_INDEX, "index is %u, there is 1 CPU",
                           params->index);
    describe(&device->info);
    return ROPE2D_OK;
}

static void device_destroy(rope2d_device *device) {
    (void)device;
}

static rope2d_status positions_create(rope2d_positions *positions) {
    (void)positions;
    return ROPE2D_OK;
}

static void positions_destroy(rope2d_positions *positions) {
    (void)positions;
}

static rope2d_status plan_create(rope2d_plan *plan) {
    static const char *const types[ROPE2D_ELEMENT_COUNT] = {"f32", "f16", "bf16"};
    plan->tensors_per_dispatch = ROPE2D_MAX_TENSORS;
    (void)snprintf(plan->kernel, sizeof(plan->kernel), "portable_%s_%s_%s%s", types[plan->in],
                   types[plan->out], plan->pattern.wide.count > 0 ? "wide" : "single",
                   plan->pattern.angles == 2 ? "_two_angles" : "");
    return ROPE2D_OK;
}

static void plan_destroy(rope2d_plan *plan) {
    (void)plan;
}

static rope2d_status dispatches(const rope2d_plan *plan, const rope2d_positions *positions,
                                const rope2d_work *work, uint64_t *count) {
    (void)plan;
    (void)positions;
    (void)work;
    *count = 1;
    return ROPE2D_OK;
}

const rope2d_backend_ops rope2d_cpu_ops = {
    .name = "CPU",
    .enumerate = enumerate,
    .device_create = device_create,
    .device_destroy = device_destroy,
    .positions_create = positions_create,
    .positions_destroy = positions_destroy,
    .plan_create = plan_create,
    .plan_destroy = plan_destroy,
    .apply = rope2d_portable_apply,
    .dispatches = dispatches,
};
