// SPDX-License-Identifier: MIT
#include "run.h"

#include <string.h>

static void run_backwards(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data) {
    (void)user;
    while (tasks > 0)
        task(data, --tasks);
}

static rope2d_status open_device(struct harness_device *device, rope2d_device_params params, bool backwards) {
    memset(device, 0, sizeof(*device));
    rope2d_host host = harness_host(&device->log);
    if (backwards) {
        host.parallel_for = run_backwards;
        host.threads = 3;
    }
    params.struct_size = sizeof(params);
    params.host = &host;
    rope2d_status status = rope2d_device_create(&params, &device->device);
    device->info.struct_size = sizeof(device->info);
    if (status == ROPE2D_OK)
        status = rope2d_device_get_info(device->device, &device->info);
    return status;
}

rope2d_status harness_device_open(struct harness_device *device, rope2d_backend backend, uint32_t index,
                                  uint32_t flags, bool backwards) {
    const rope2d_device_params params = {.backend = backend, .index = index, .flags = flags};
    return open_device(device, params, backwards);
}

rope2d_status harness_device_open_least(struct harness_device *device, rope2d_backend backend, uint32_t index,
                                        uint64_t dispatch_bytes, bool backwards) {
    const rope2d_device_params params = {.backend = backend,
                                         .index = index,
                                         .flags = ROPE2D_DEVICE_MINIMUM_LIMITS,
                                         .dispatch_bytes = dispatch_bytes};
    return open_device(device, params, backwards);
}

void harness_device_forget(struct harness_device *device) {
    rope2d_plan **plans = &device->plans[0][0][0][0];
    for (size_t i = 0; i < sizeof(device->plans) / sizeof(rope2d_plan *); i++) {
        rope2d_plan_destroy(plans[i]);
        plans[i] = NULL;
    }
}

void harness_device_close(struct harness_device *device) {
    harness_device_forget(device);
    rope2d_device_destroy(device->device);
    memset(device, 0, sizeof(*device));
}

static uint32_t structure_index(struct harness_device *device, const struct harness_case *what) {
    uint32_t count;
    const struct harness_structure *first = harness_structures(&count);
    if (what->own == NULL)
        return (uint32_t)(harness_structure_find(what->structure) - first);
    rope2d_plan **plans = &device->plans[HARNESS_MAX_STRUCTURES][0][0][0];
    for (size_t i = 0; device->own != what->own && i < sizeof(device->plans[0]) / sizeof(rope2d_plan *);
         i++) {
        rope2d_plan_destroy(plans[i]);
        plans[i] = NULL;
    }
    device->own = what->own;
    return HARNESS_MAX_STRUCTURES;
}

rope2d_status harness_plan(struct harness_device *device, const struct harness_work *work, rope2d_table table,
                           rope2d_plan **plan) {
    uint32_t index = structure_index(device, work->what);
    rope2d_plan **kept = &device->plans[index][work->types.in][work->types.out][table];
    rope2d_plan_params params = {.struct_size = sizeof(params),
                                 .spec = &work->spec.spec,
                                 .in = work->types.in,
                                 .out = work->types.out,
                                 .table = table};
    rope2d_status status = *kept != NULL ? ROPE2D_OK : rope2d_plan_create(device->device, &params, kept);
    *plan = *kept;
    return status;
}

static rope2d_status apply_group(const struct harness_work *work, const rope2d_plan *plan,
                                 const rope2d_positions *positions, uint32_t group,
                                 unsigned char *const *blocks, uint64_t *dispatches) {
    rope2d_tensor tensors[HARNESS_MAX_TENSORS];
    rope2d_apply_params params = {.struct_size = sizeof(params),
                                  .batch = work->batch,
                                  .first_token = work->what->first_token,
                                  .tensors = tensors};
    for (uint32_t i = 0; i < work->tensor_count; i++)
        if (work->tensors[i].group == group) {
            params.tokens = work->tensors[i].tokens;
            tensors[params.tensor_count++] = harness_tensor_view(work, &work->tensors[i], blocks);
        }
    rope2d_status status = rope2d_plan_dispatches(plan, positions, &params, dispatches);
    return status == ROPE2D_OK ? rope2d_apply(plan, positions, &params) : status;
}

rope2d_status harness_run(struct harness_device *device, const struct harness_work *work, rope2d_table table,
                          unsigned char *const *blocks, uint64_t *dispatches) {
    rope2d_plan *plan = NULL;
    harness_log_clear(&device->log);
    rope2d_status status = harness_plan(device, work, table, &plan);
    *dispatches = 0;
    for (uint32_t group = 0; group < work->group_count && status == ROPE2D_OK; group++) {
        rope2d_positions *positions = NULL;
        uint64_t count = 0;
        rope2d_positions_params params =
            harness_positions_params(&work->positions[group], &work->spec, table);
        status = rope2d_positions_create(device->device, &params, &positions);
        if (status == ROPE2D_OK)
            status = apply_group(work, plan, positions, group, blocks, &count);
        *dispatches += count;
        rope2d_positions_destroy(positions);
    }
    return status;
}

struct cosines {
    const float *table;
    const int32_t *rows;
    uint32_t columns;
};

// One axis: a token has one row, and a row one column for each pair.
static void cosine_of(const void *user, uint64_t token, uint32_t pair, float *cosine, float *sine) {
    const struct cosines *cosines = user;
    size_t entry = (size_t)cosines->rows[token] * cosines->columns + pair;
    *cosine = cosines->table[2 * entry];
    *sine = cosines->table[2 * entry + 1];
}

rope2d_status harness_run_cancel(struct harness_device *device, struct harness_work *work) {
    rope2d_positions *positions = NULL;
    rope2d_positions_params params =
        harness_positions_params(&work->positions[0], &work->spec, ROPE2D_TABLE_BUFFER);
    rope2d_status status = rope2d_positions_create(device->device, &params, &positions);
    if (status == ROPE2D_OK) {
        struct cosines cosines = {rope2d_positions_host_table(positions),
                                  rope2d_positions_host_rows(positions), work->spec.pairs};
        harness_work_cancel(work, cosine_of, &cosines);
    }
    rope2d_positions_destroy(positions);
    return status;
}
