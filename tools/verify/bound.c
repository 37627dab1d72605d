// SPDX-License-Identifier: MIT
#include "bound.h"

#include <stdlib.h>

static const struct bound_ops *ops_of(rope2d_backend backend) {
    return backend == ROPE2D_BACKEND_VULKAN   ? &bound_vulkan_ops
           : backend == ROPE2D_BACKEND_OPENCL ? &bound_opencl_ops
                                              : NULL;
}

bool bound_can(const struct harness_case *what) {
    uint32_t tensors = 0;
    for (; tensors < HARNESS_MAX_TENSORS && what->heads[tensors] != 0; ++tensors)
        if (what->heads[tensors] == HARNESS_NO_HEADS)
            return false;
    return tensors > 0 && tensors <= BOUND_MOST_TENSORS && what->prefix + what->height * what->width > 0;
}

uint64_t bound_offset(const struct bound_job *job, const struct harness_side *side) {
    return job->places[side->block].begins + harness_side_at(job->work, side, 0, 0, 0);
}

// The first element of any tensor in a block.
static uint64_t first_of(const struct harness_work *work, uint32_t block) {
    uint64_t first = work->blocks[block].bytes;
    for (uint32_t i = 0; i < work->tensor_count; ++i) {
        const struct harness_side *sides[] = {&work->tensors[i].in, &work->tensors[i].out};
        for (size_t j = 0; j < 2; ++j) {
            uint64_t at = harness_side_at(work, sides[j], 0, 0, 0);
            if (sides[j]->block == block && at < first)
                first = at;
        }
    }
    return first;
}

static void place(struct bound_job *job, uint64_t alignment, bool is_beside) {
    for (uint32_t i = 0; i < job->work->block_count; ++i) {
        uint64_t first = first_of(job->work, i), size = job->work->blocks[i].element_size;
        uint64_t aligned = (first + alignment - 1) / alignment * alignment;
        uint64_t behind = !is_beside ? 0 : i % 2 == 0 ? size : alignment - size;
        if (aligned / alignment % 2 == 0)
            aligned += alignment; // so that it is a multiple of nothing larger
        job->places[i] = (struct bound_place){aligned + behind - first, aligned,
                                              aligned + behind - first + job->work->blocks[i].bytes};
    }
}

static struct bound_group group_of(const struct harness_work *work, uint32_t number) {
    struct bound_group group = {.count = 0};
    for (uint32_t i = 0; i < work->tensor_count; ++i) {
        if (work->tensors[i].group != number)
            continue;
        group.tensors[group.count++] = &work->tensors[i];
        group.tokens = work->tensors[i].tokens;
    }
    return group;
}

static rope2d_status rotate_groups(struct bound_job *job, const struct bound_ops *ops, rope2d_table table,
                                   uint64_t *dispatches) {
    rope2d_plan *plan = NULL;
    rope2d_status status = harness_plan(job->device, job->work, table, &plan);
    for (uint32_t i = 0; i < job->work->group_count && !status; ++i) {
        const struct bound_group group = group_of(job->work, i);
        rope2d_positions *positions = NULL;
        uint64_t count = 0;
        rope2d_positions_params params =
            harness_positions_params(&job->work->positions[i], &job->work->spec, table);
        status = rope2d_positions_create(job->device->device, &params, &positions);
        if (!status)
            status = ops->rotate(job, plan, positions, &group, &count);
        *dispatches += count;
        rope2d_positions_destroy(positions);
    }
    return status;
}

rope2d_status bound_run(struct harness_device *device, const struct harness_work *work, rope2d_table table,
                        bool is_beside, unsigned char *const *blocks, uint64_t *dispatches,
                        uint64_t offsets[2]) {
    const struct bound_ops *ops = ops_of(device->info.backend);
    struct bound_job job = {.device = device, .work = work, .blocks = blocks};
    harness_log_clear(&device->log);
    *dispatches = 0;
    if (!ops || !ops->create)
        return ROPE2D_ERROR_UNSUPPORTED;
    uint64_t alignment = device->info.buffer_offset_alignment;
    place(&job, alignment > BOUND_LEAST_ALIGNMENT ? alignment : BOUND_LEAST_ALIGNMENT, is_beside);
    offsets[0] = bound_offset(&job, &work->tensors[0].in);
    offsets[1] = bound_offset(&job, &work->tensors[0].out);
    rope2d_status status = ops->create(&job);
    if (!status)
        status = rotate_groups(&job, ops, table, dispatches);
    if (!status)
        status = ops->read(&job);
    ops->destroy(&job);
    return status;
}
