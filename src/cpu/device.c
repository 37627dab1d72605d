// SPDX-License-Identifier: MIT
//
// The CPU backend: one device, which reads positions where the host has them and has nothing to compile.
#include "device.h"

#include "../backend.h"
#include "channels.h"
#include "identify.h"
#include "vector.h"

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

static void describe(rope2d_device_info *info, rope2d_isa isa) {
    *info = (rope2d_device_info){
        .struct_size = sizeof(*info),
        .backend = ROPE2D_BACKEND_CPU,
        .api = "C11",
        .is_software = 1,
        .default_table = ROPE2D_TABLE_BUFFER,
        .memory_bytes = memory_bytes(),
    };
    (void)snprintf(info->driver, sizeof(info->driver), "rope2d, %s", rope2d_isa_name(isa));
    rope2d_cpu_identify(info->name, sizeof(info->name), info->vendor, sizeof(info->vendor));
}

static rope2d_status enumerate(const rope2d_host *host, uint32_t *count, rope2d_device_info *infos) {
    (void)host;
    if (infos && *count > 0)
        describe(&infos[0], rope2d_isa_find());
    *count = 1;
    return ROPE2D_OK;
}

static rope2d_status device_create(rope2d_device *device, const rope2d_device_params *params) {
    if (params->index != 0)
        return rope2d_fail(&device->host, ROPE2D_ERROR_DEVICE_INDEX, "index is %u; there is 1 CPU",
                           params->index);
    rope2d_cpu *cpu = rope2d_allocate(&device->host, 1, sizeof(*cpu));
    device->impl = cpu;
    if (!cpu)
        return rope2d_fail(&device->host, ROPE2D_ERROR_HOST_MEMORY, "no memory for a device: %zu bytes",
                           sizeof(*cpu));
    cpu->isa = device->flags & ROPE2D_DEVICE_PORTABLE ? ROPE2D_ISA_PORTABLE : rope2d_isa_find();
    cpu->last_cache = rope2d_last_cache_bytes();
    cpu->ahead = rope2d_ahead_bytes();
    describe(&device->info, cpu->isa);
    return ROPE2D_OK;
}

static void device_destroy(rope2d_device *device) {
    rope2d_release(&device->host, device->impl, 1, sizeof(rope2d_cpu));
}

static rope2d_status positions_create(rope2d_positions *positions) {
    (void)positions;
    return ROPE2D_OK;
}

static void positions_destroy(rope2d_positions *positions) {
    (void)positions;
}

static rope2d_status plan_create(rope2d_plan *plan) {
    const rope2d_cpu *cpu = plan->device->impl;
    const rope2d_turn_kernel *kernel = rope2d_vector_choose(&plan->pattern, plan->in, plan->out, cpu->isa);
    if (kernel) {
        rope2d_vector *vector;
        const rope2d_status status =
            rope2d_vector_create(&vector, kernel, &plan->pattern, &plan->device->host);
        plan->impl = vector;
        ROPE2D_TRY(status);
        if (plan->in == plan->out && plan->pattern.freq_heads == 1 && !vector->product)
            ROPE2D_TRY(rope2d_vector_add_others(vector, &plan->pattern, cpu->isa, cpu->ahead.heads > 0,
                                                &plan->device->host));
        plan->test_runs |= rope2d_vector_test_runs(vector);
        if (vector->merged)
            plan->test_heads = vector->merged->heads;
    }
    plan->tensors_per_dispatch = ROPE2D_MAX_TENSORS;
    const char *in = rope2d_element_word(plan->in);
    const char *out = rope2d_element_word(plan->out);
    char name[ROPE2D_KERNEL_NAME];
    if (kernel)
        rope2d_turn_kernel_name(kernel, name);
    if (kernel && plan->in == plan->out)
        (void)snprintf(plan->kernel, sizeof(plan->kernel), "%s", name);
    else if (kernel)
        (void)snprintf(plan->kernel, sizeof(plan->kernel), "%s_%s_%s", name, in, out);
    else
        (void)snprintf(plan->kernel, sizeof(plan->kernel), "%s_%s_%s",
                       rope2d_channels_kernel(cpu->isa, &plan->pattern) == rope2d_portable_rotate
                           ? "portable"
                           : "channels",
                       in, out);
    return ROPE2D_OK;
}

static void plan_destroy(rope2d_plan *plan) {
    rope2d_vector_destroy(plan->impl, &plan->device->host);
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
    .apply = rope2d_cpu_apply,
    .dispatches = dispatches,
};
