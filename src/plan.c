// SPDX-License-Identifier: MIT
//
// The life of a plan. What it compiles to is the backend's.
#include "backend.h"
#include "kernels.h"

static const uint32_t known_flags = ROPE2D_PLAN_NO_SELF_TEST | ROPE2D_PLAN_NO_COMPILE;

static rope2d_status check_element(const rope2d_host *host, const char *field, rope2d_element element) {
    if ((unsigned)element >= ROPE2D_ELEMENT_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "%s is %d; the last known is %d", field, (int)element,
                           ROPE2D_ELEMENT_COUNT - 1);
    return ROPE2D_OK;
}

static rope2d_status check_params(const rope2d_device *device, const rope2d_plan_params *params) {
    const rope2d_host *host = &device->host;
    ROPE2D_TRY(rope2d_check_struct_size(host, "params", params->struct_size, sizeof(*params)));
    if (!params->spec)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "params.spec is NULL");
    ROPE2D_TRY(check_element(host, "params.in", params->in));
    ROPE2D_TRY(check_element(host, "params.out", params->out));
    if ((unsigned)params->table >= ROPE2D_TABLE_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "params.table is %d; the last known is %d",
                           (int)params->table, ROPE2D_TABLE_COUNT - 1);
    if (params->flags & ~known_flags)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "params.flags is 0x%x; this version knows 0x%x",
                           params->flags, known_flags);
    if (params->table == ROPE2D_TABLE_TEXTURE && !device->info.has_textures)
        return rope2d_fail(host, ROPE2D_ERROR_UNSUPPORTED, "params.table is a texture; %s has none",
                           device->info.name);
    return ROPE2D_OK;
}

static rope2d_status fill(rope2d_plan *plan, const rope2d_plan_params *params, bool *compiled) {
    const rope2d_device *device = plan->device;
    plan->in = params->in;
    plan->out = params->out;
    plan->table_kind = params->table == ROPE2D_TABLE_AUTO ? device->info.default_table : params->table;
    plan->exactness = ROPE2D_UNTESTED;
    const bool may_test = !(params->flags & ROPE2D_PLAN_NO_SELF_TEST) && !device->lacks_queue;
    plan->may_test = may_test;
    plan->tensors_per_dispatch = 1;
    ROPE2D_TRY(rope2d_pattern_create(&plan->pattern, params->spec, &device->host));
    plan->test_heads = 3;
    plan->test_runs = 1u << ROPE2D_RUN_ODD;
    if (plan->pattern.wide.count > 0)
        plan->test_runs |= 1u << ROPE2D_RUN_EVEN;
    ROPE2D_TRY(rope2d_kernels_take(plan, !(params->flags & ROPE2D_PLAN_NO_COMPILE), compiled));
    if (!may_test) // taken from a plan that is there, the kernels brought that plan's
        return ROPE2D_OK;
    plan->exactness = rope2d_kernels_verdict(plan);
    if (plan->exactness != ROPE2D_UNTESTED || (params->flags & ROPE2D_PLAN_NO_COMPILE))
        return ROPE2D_OK;
    ROPE2D_TRY(rope2d_self_test(plan, &plan->exactness));
    rope2d_kernels_set_verdict(plan, plan->exactness);
    return ROPE2D_OK;
}

static rope2d_status create(rope2d_device *device, const rope2d_plan_params *params, rope2d_plan **plan,
                            bool *compiled) {
    ROPE2D_TRY(check_params(device, params));
    rope2d_plan *made = rope2d_allocate(&device->host, 1, sizeof(*made));
    if (!made)
        return rope2d_fail(&device->host, ROPE2D_ERROR_HOST_MEMORY, "no memory for a plan: %zu bytes",
                           sizeof(*made));
    made->device = device;
    const rope2d_control control = rope2d_control_enter();
    const rope2d_status status = fill(made, params, compiled);
    rope2d_control_leave(control);
    if (status != ROPE2D_OK) {
        rope2d_plan_destroy(made);
        return status;
    }
    *plan = made;
    return ROPE2D_OK;
}

rope2d_status rope2d_plan_create(rope2d_device *device, const rope2d_plan_params *params,
                                 rope2d_plan **plan) {
    bool compiled = false;
    if (plan)
        *plan = NULL;
    if (!device)
        return ROPE2D_ERROR_NULL;
    if (!plan || !params)
        return rope2d_fail(&device->host, ROPE2D_ERROR_NULL, "%s is NULL", plan ? "params" : "plan");
    const rope2d_status status = create(device, params, plan, &compiled);
    if (compiled)
        rope2d_cache_store(device);
    return status;
}

rope2d_status rope2d_prewarm(rope2d_device *device, const rope2d_plan_params *plans, uint32_t count) {
    rope2d_status status = ROPE2D_OK;
    uint32_t made = 0;
    bool any = false;
    if (!device)
        return ROPE2D_ERROR_NULL;
    if (count == 0)
        return ROPE2D_OK;
    if (!plans)
        return rope2d_fail(&device->host, ROPE2D_ERROR_NULL, "plans is NULL");
    rope2d_plan **list = rope2d_allocate(&device->host, count, sizeof(rope2d_plan *));
    if (!list)
        return rope2d_fail(&device->host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %u plans", count);
    while (status == ROPE2D_OK && made < count) {
        bool compiled = false;
        status = create(device, &plans[made], &list[made], &compiled);
        made += status == ROPE2D_OK;
        any = any || compiled;
    }
    if (any)
        rope2d_cache_store(device);
    for (uint32_t i = 0; i < made; i++) {
        if (status == ROPE2D_OK)
            rope2d_kernels_keep(list[i]);
        rope2d_plan_destroy(list[i]);
    }
    rope2d_release(&device->host, list, count, sizeof(rope2d_plan *));
    return status;
}

void rope2d_plan_destroy(rope2d_plan *plan) {
    if (!plan)
        return;
    const rope2d_device *device = plan->device;
    if (plan->kernels) {
        rope2d_kernels_give(plan);
    } else { // half-built
        device->ops->plan_destroy(plan);
        rope2d_pattern_destroy(&plan->pattern, &device->host);
    }
    rope2d_release(&device->host, plan, 1, sizeof(*plan));
}

rope2d_status rope2d_plan_get_info(const rope2d_plan *plan, rope2d_plan_info *info) {
    if (!plan)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &plan->device->host;
    if (!info)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "info is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(host, "info", info->struct_size, sizeof(*info)));
    info->in = plan->in;
    info->out = plan->out;
    info->table = plan->table_kind;
    info->exactness = plan->exactness;
    info->tensors_per_dispatch = plan->tensors_per_dispatch;
    _Static_assert(sizeof(info->kernel) == sizeof(plan->kernel), "both hold the same name");
    for (size_t i = 0; i < sizeof(info->kernel); i++)
        info->kernel[i] = plan->kernel[i];
    return ROPE2D_OK;
}
