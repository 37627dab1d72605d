// SPDX-License-Identifier: MIT
#include "effects.h"

#include <inttypes.h>
#include <stdio.h>

#include "bound.h"

static bool is_bound(const struct verify_task *task) {
    return task->variation == VERIFY_BOUND_AT || task->variation == VERIFY_BOUND_BESIDE;
}

static bool has_offsets(const struct verify_task *task) {
    return task->variation >= VERIFY_BEFORE_BOUNDARY;
}

// Of a group's tokens, those that are surely rotated.
static uint64_t rotated_tokens(const struct harness_positions *positions, uint64_t tokens) {
    uint64_t unrotated = 0;
    for (uint32_t i = 0; i < positions->unrotated_count; ++i)
        unrotated += positions->unrotated[i].end - positions->unrotated[i].begin;
    return unrotated < tokens ? tokens - unrotated : 0;
}

// No dispatch has more than the bound, or one token of one tensor.
static uint64_t least_of_group(const struct harness_work *work, uint32_t group) {
    uint64_t most = EFFECTS_LEAST_BYTES, bytes = 0;
    for (uint32_t i = 0; i < work->tensor_count; ++i) {
        const struct harness_tensor *tensor = &work->tensors[i];
        uint64_t token = (uint64_t)tensor->heads * work->spec.spec.head_dim *
                         (rope2d_element_size(work->types.in) + rope2d_element_size(work->types.out));
        if (tensor->group != group)
            continue;
        most = token > most ? token : most;
        bytes += token * work->batch * rotated_tokens(&work->positions[group], tensor->tokens);
    }
    return bytes / most + (bytes % most != 0);
}

// The dispatches that a run at minimum limits has at least. A CPU does not split.
static uint64_t least_dispatches(const struct harness_work *work, const struct harness_device *device) {
    uint64_t least = 0;
    if (device->info.backend == ROPE2D_BACKEND_CPU || work->spec.pairs == 0)
        return 0;
    for (uint32_t group = 0; group < work->group_count; ++group)
        least += least_of_group(work, group);
    return least;
}

static bool is_clamped(const rope2d_device_info *info) {
    return info->backend == ROPE2D_BACKEND_CPU ||
           (info->max_group_size <= 128 && info->max_buffer_range <= (uint64_t)128 << 20);
}

// Beside a multiple of what it is measured by, an element off, or on an odd one.
static bool is_in_place(const struct verify_task *task, uint64_t offset, uint64_t alignment, uint64_t size) {
    const uint64_t behind = offset % alignment;
    switch (task->variation) {
    case VERIFY_BEFORE_BOUNDARY:
        return behind == alignment - size;
    case VERIFY_BEHIND_BOUNDARY:
        return behind == size;
    case VERIFY_BOUND_AT:
        return behind == 0 && offset / alignment % 2 == 1;
    default:
        return behind == size || behind == alignment - size;
    }
}

static bool judge_offsets(const struct effects *effects, const struct verify_task *task,
                          const struct harness_work *work, const struct harness_device *device, char *text) {
    const uint64_t sizes[] = {rope2d_element_size(work->types.in), rope2d_element_size(work->types.out)};
    uint64_t alignment = is_bound(task) ? device->info.buffer_offset_alignment : VERIFY_LEAST_ALIGNMENT;
    if (alignment < BOUND_LEAST_ALIGNMENT)
        alignment = BOUND_LEAST_ALIGNMENT;
    for (size_t i = 0; i < 2; ++i)
        if (!is_in_place(task, effects->offsets[i], alignment, sizes[i])) {
            snprintf(text, HARNESS_TEXT_SIZE,
                     "a tensor begins at byte %" PRIu64 ", where the alignment is %" PRIu64,
                     effects->offsets[i], alignment);
            return false;
        }
    return true;
}

bool effects_judge(const struct effects *effects, const struct verify_task *task,
                   const struct harness_work *work, const struct harness_device *device, char *text) {
    if (!device)
        return true; // a program: no variations
    if (task->variation == VERIFY_MINIMUM_LIMITS) {
        const uint64_t least = least_dispatches(work, device);
        if (!is_clamped(&device->info)) {
            snprintf(text, HARNESS_TEXT_SIZE, "the device's limits are not the least ones");
            return false;
        }
        if (effects->dispatches < least) {
            snprintf(text, HARNESS_TEXT_SIZE, "%" PRIu64 " dispatches, not %" PRIu64 " of at most %d bytes",
                     effects->dispatches, least, EFFECTS_LEAST_BYTES);
            return false;
        }
    }
    return !has_offsets(task) || judge_offsets(effects, task, work, device, text);
}

void effects_add(cJSON *result, const struct effects *effects, const struct verify_task *task,
                 const struct harness_work *work, const struct harness_device *device) {
    cJSON_AddNumberToObject(result, "dispatches", (double)effects->dispatches);
    if (device && task->variation == VERIFY_MINIMUM_LIMITS)
        cJSON_AddNumberToObject(result, "least_dispatches", (double)least_dispatches(work, device));
    if (!device || !has_offsets(task))
        return;
    cJSON *offsets = cJSON_AddArrayToObject(result, "offsets");
    for (size_t i = 0; i < 2; ++i)
        cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)effects->offsets[i]));
}
