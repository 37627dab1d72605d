// SPDX-License-Identifier: MIT
#include "update.h"

#include <inttypes.h>

// ------------------------------------------------------------------------------------------------ addresses

static bool is_zero(const rope2d_vulkan_view *view) {
    return view->buffer == VK_NULL_HANDLE && view->size == 0 && view->offset == 0 &&
           view->batch_stride == 0 && view->token_stride == 0 && view->head_stride == 0;
}

static struct vulkan_address_range *find_range(struct vulkan_update *update, VkBuffer buffer) {
    for (uint32_t i = 0; i < update->range_count; i++)
        if (update->ranges[i].buffer == buffer)
            return &update->ranges[i];
    struct vulkan_address_range *made = &update->ranges[update->range_count++];
    made->buffer = buffer;
    made->size = 0;
    return made;
}

static rope2d_status add_view(struct vulkan_update *update, uint32_t tensor, const char *name,
                              const rope2d_vulkan_view *view) {
    if (view->buffer == VK_NULL_HANDLE)
        return rope2d_fail(update->host, ROPE2D_ERROR_NULL, "tensors[%u].%s.buffer is VK_NULL_HANDLE", tensor,
                           name);
    struct vulkan_address_range *range = find_range(update, view->buffer);
    if (range->size >= view->size)
        return ROPE2D_OK;
    range->size = view->size;
    const uint64_t most = rope2d_vulkan_buffer_most(update->device, view->buffer);
    if (view->size > most)
        return rope2d_fail(update->host, ROPE2D_ERROR_TENSOR_SIZE,
                           "tensors[%u].%s.size is %" PRIu64 "; its buffer has at most %" PRIu64, tensor,
                           name, view->size, most);
    return ROPE2D_OK;
}

// An address of 0 would be NULL, hence the first step.
static rope2d_status place_ranges(struct vulkan_update *update) {
    uint64_t next = VULKAN_SHAPE_STEP;
    for (uint32_t i = 0; i < update->range_count; i++) {
        struct vulkan_address_range *range = &update->ranges[i];
        if (range->size > (uint64_t)UINTPTR_MAX / 2 - next - 2 * VULKAN_SHAPE_STEP)
            return rope2d_fail(update->host, ROPE2D_ERROR_LIMIT,
                               "the buffers of a binding have %" PRIu64 " bytes and more; at most %" PRIu64,
                               range->size, (uint64_t)UINTPTR_MAX / 2);
        range->address = next;
        next += range->size / VULKAN_SHAPE_STEP * VULKAN_SHAPE_STEP + 2 * VULKAN_SHAPE_STEP;
    }
    return ROPE2D_OK;
}

// Whole words, which is what kernels read and write.
static rope2d_view host_view(struct vulkan_update *update, const rope2d_vulkan_view *view) {
    const rope2d_view made = {
        .base = (void *)(uintptr_t)find_range(update, view->buffer)->address,
        .size = view->size / 4 * 4,
        .offset = view->offset,
        .batch_stride = view->batch_stride,
        .token_stride = view->token_stride,
        .head_stride = view->head_stride,
    };
    return made;
}

static rope2d_status make_tensors(struct vulkan_update *update) {
    const rope2d_vulkan_binding_params *params = update->params;
    for (uint32_t i = 0; i < params->tensor_count; i++) {
        const rope2d_vulkan_tensor *tensor = &params->tensors[i];
        if (tensor->heads == 0)
            continue;
        ROPE2D_TRY(add_view(update, i, "in", &tensor->in));
        if (!is_zero(&tensor->out))
            ROPE2D_TRY(add_view(update, i, "out", &tensor->out));
    }
    ROPE2D_TRY(place_ranges(update));
    for (uint32_t i = 0; i < params->tensor_count; i++) {
        const rope2d_vulkan_tensor *tensor = &params->tensors[i];
        update->tensors[i].heads = tensor->heads;
        if (tensor->heads == 0)
            continue;
        update->tensors[i].in = host_view(update, &tensor->in);
        if (!is_zero(&tensor->out))
            update->tensors[i].out = host_view(update, &tensor->out);
    }
    return ROPE2D_OK;
}

VkDescriptorBufferInfo rope2d_vulkan_update_describe(const struct vulkan_update *update,
                                                     const rope2d_stage_side *side) {
    uint32_t at = update->range_count - 1;
    while (side->offset < update->ranges[at].address)
        at--;
    VkDescriptorBufferInfo info = {update->ranges[at].buffer, side->offset - update->ranges[at].address,
                                   side->bytes};
    return info;
}

static rope2d_status check_no_rows(const struct vulkan_update *update) {
    const rope2d_vulkan_binding_params *p = update->params;
    if ((p->row_size | p->row_offset | p->row_tokens | p->row_bound) == 0 && p->row_batch <= 1)
        return ROPE2D_OK;
    return rope2d_fail(update->host, ROPE2D_ERROR_ROW,
                       "params.rows is VK_NULL_HANDLE, with row_size %" PRIu64 ", row_offset %" PRIu64
                       ", row_bound %u, row_batch %u and row_tokens %" PRIu64 "; all must be 0",
                       p->row_size, p->row_offset, p->row_bound, p->row_batch, p->row_tokens);
}

// What may go wrong with the caller's rows: their memory is too small, or begins where no descriptor can.
static rope2d_status check_rows(const rope2d_vulkan_binding *binding, const struct vulkan_update *update) {
    const rope2d_vulkan_binding_params *params = update->params;
    const uint32_t alignment = binding->plan->device->info.buffer_offset_alignment;
    if (params->row_offset % alignment != 0)
        return rope2d_fail(update->host, ROPE2D_ERROR_TENSOR_ALIGNMENT,
                           "params.row_offset is %" PRIu64 "; must be a multiple of %u", params->row_offset,
                           alignment);
    const uint64_t most = rope2d_vulkan_buffer_most(update->device, params->rows);
    if (params->row_size > most)
        return rope2d_fail(update->host, ROPE2D_ERROR_TENSOR_SIZE,
                           "params.row_size is %" PRIu64 "; its buffer has at most %" PRIu64,
                           params->row_size, most);
    return rope2d_caller_rows_check(
        binding->positions, params->row_batch > 1 ? params->row_batch : 1, params->row_tokens,
        params->row_bound, params->row_offset < params->row_size ? params->row_size - params->row_offset : 0,
        "params.row_size - row_offset");
}

static rope2d_status take_rows(const rope2d_vulkan_binding *binding, struct vulkan_update *update) {
    const rope2d_vulkan_binding_params *params = update->params;
    update->seen = *binding->positions;
    if (binding->positions->impl == NULL)
        return ROPE2D_OK;
    update->table = *(const struct vulkan_positions *)binding->positions->impl;
    if (!rope2d_vulkan_is_placed(&update->table))
        return rope2d_vulkan_not_placed(binding->positions);
    update->seen.impl = &update->table;
    if (params->rows == VK_NULL_HANDLE)
        return check_no_rows(update);
    ROPE2D_TRY(check_rows(binding, update));
    update->table.rows.handle = params->rows;
    update->table.rows.offset = params->row_offset;
    update->seen.rows = NULL; // the device alone has them
    update->seen.tokens = params->row_tokens;
    update->seen.batch = params->row_batch > 1 ? params->row_batch : 1;
    update->seen.row_count =
        update->seen.batch * update->seen.tokens * (uint64_t)update->seen.pattern.row_axes;
    if (params->row_bound > 0)
        update->seen.table_rows = params->row_bound;
    return ROPE2D_OK;
}

// Kernels must not write what they read as row numbers.
static rope2d_status check_written(const rope2d_vulkan_binding *binding, const struct vulkan_update *update) {
    const rope2d_vulkan_binding_params *params = update->params;
    for (uint32_t i = 0; params->rows != VK_NULL_HANDLE && i < update->range_count; i++)
        if (update->ranges[i].buffer == params->rows)
            return rope2d_rows_check(binding->plan, &update->work,
                                     update->ranges[i].address + params->row_offset,
                                     update->seen.row_count * sizeof(int32_t));
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_update_check(const rope2d_vulkan_binding *binding, struct vulkan_update *update) {
    const rope2d_vulkan_binding_params *params = update->params;
    if (params == NULL)
        return rope2d_fail(update->host, ROPE2D_ERROR_NULL, "params is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(update->host, "params", params->struct_size, sizeof(*params)));
    if (params->tensor_count > ROPE2D_MAX_TENSORS)
        return rope2d_fail(update->host, ROPE2D_ERROR_LIMIT, "tensor_count is %u; the limit is %u",
                           params->tensor_count, ROPE2D_MAX_TENSORS);
    if (params->tensor_count > 0 && params->tensors == NULL)
        return rope2d_fail(update->host, ROPE2D_ERROR_NULL, "tensors is NULL, tensor_count is %u",
                           params->tensor_count);
    ROPE2D_TRY(rope2d_match_check(binding->plan, binding->positions)); // before their parts are looked into
    ROPE2D_TRY(take_rows(binding, update));
    ROPE2D_TRY(make_tensors(update));
    const rope2d_apply_params apply = {
        .struct_size = sizeof(apply),
        .batch = params->batch,
        .first_token = params->first_token,
        .tokens = params->tokens,
        .tensor_count = params->tensor_count,
        .tensors = update->tensors,
    };
    ROPE2D_TRY(rope2d_work_prepare(binding->plan, &update->seen, &apply, update->checked, &update->work));
    ROPE2D_TRY(check_written(binding, update));
    if (binding->positions->impl == NULL) // window.c brings it piece by piece
        return rope2d_fail(update->host, ROPE2D_ERROR_LIMIT,
                           "positions: their table fits no buffer of %s, and rope2d_apply alone can use it",
                           binding->plan->device->info.name);
    return ROPE2D_OK;
}
