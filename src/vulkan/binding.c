// SPDX-License-Identifier: MIT
//
// The caller's buffers are checked as host tensors are: each gets a range of made-up addresses, which never
// meet.
#include "binding.h"

#include "descriptors.h"
#include "pipeline.h"

#include <inttypes.h>
#include <string.h>

#define SHAPE_BYTES  (R_SHAPE_WORDS * sizeof(uint32_t))
#define SHAPE_STEP   256 // no device asks for a coarser alignment, neither of uniform nor of storage buffers
#define MOST_BUFFERS (2 * ROPE2D_MAX_TENSORS)

_Static_assert(SHAPE_BYTES <= SHAPE_STEP, "a shape fits its step");

struct range {
    VkBuffer buffer;
    uint64_t address; // a multiple of SHAPE_STEP, ascending
    uint64_t size;
};

// An update under way.
struct update {
    const rope2d_host *host;
    const rope2d_vulkan_binding_params *params;
    struct range ranges[MOST_BUFFERS];
    uint32_t range_count;
    rope2d_tensor tensors[ROPE2D_MAX_TENSORS];
    rope2d_checked_tensor checked[ROPE2D_MAX_TENSORS];
    rope2d_work work;
    const rope2d_positions *positions; // the binding's, or own_rows
    rope2d_positions own_rows;         // the binding's with row numbers of the caller's; borrows all it has
    struct vulkan_positions own_table;
};

// ------------------------------------------------------------------------------------------------ addresses

static bool is_zero(const rope2d_vulkan_view *view) {
    return view->buffer == VK_NULL_HANDLE && view->size == 0 && view->offset == 0 &&
           view->batch_stride == 0 && view->token_stride == 0 && view->head_stride == 0;
}

static struct range *find_range(struct update *update, VkBuffer buffer) {
    for (uint32_t i = 0; i < update->range_count; i++)
        if (update->ranges[i].buffer == buffer)
            return &update->ranges[i];
    struct range *made = &update->ranges[update->range_count++];
    made->buffer = buffer;
    made->size = 0;
    return made;
}

static rope2d_status add_view(struct update *update, uint32_t tensor, const char *name,
                              const rope2d_vulkan_view *view) {
    if (view->buffer == VK_NULL_HANDLE)
        return rope2d_fail(update->host, ROPE2D_ERROR_NULL, "tensors[%u].%s.buffer is VK_NULL_HANDLE", tensor,
                           name);
    struct range *range = find_range(update, view->buffer);
    if (range->size < view->size)
        range->size = view->size;
    return ROPE2D_OK;
}

// An address of 0 would be NULL, hence the first step.
static rope2d_status place_ranges(struct update *update) {
    uint64_t next = SHAPE_STEP;
    for (uint32_t i = 0; i < update->range_count; i++) {
        struct range *range = &update->ranges[i];
        if (range->size > (uint64_t)UINTPTR_MAX / 2 - next - 2 * SHAPE_STEP)
            return rope2d_fail(update->host, ROPE2D_ERROR_LIMIT,
                               "the buffers of a binding have %" PRIu64 " bytes and more, at most %" PRIu64,
                               range->size, (uint64_t)UINTPTR_MAX / 2);
        range->address = next;
        next += range->size / SHAPE_STEP * SHAPE_STEP + 2 * SHAPE_STEP;
    }
    return ROPE2D_OK;
}

// Whole words, which is what kernels read and write.
static rope2d_view host_view(struct update *update, const rope2d_vulkan_view *view) {
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

static rope2d_status make_tensors(struct update *update) {
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

static VkDescriptorBufferInfo describe_side(const struct update *update, const rope2d_stage_side *side) {
    uint32_t at = update->range_count - 1;
    while (side->offset < update->ranges[at].address)
        at--;
    VkDescriptorBufferInfo info = {update->ranges[at].buffer, side->offset - update->ranges[at].address,
                                   side->bytes};
    return info;
}

// -------------------------------------------------------------------------------------------------------
// sets

static void sets_destroy(struct vulkan_device *device, struct vulkan_sets *sets) {
    rope2d_vulkan_buffer_destroy(device, &sets->shapes);
    if (sets->pool != VK_NULL_HANDLE)
        device->vk.vkDestroyDescriptorPool(device->handle, sets->pool, device->allocation);
    rope2d_release(&device->owner->host, sets->dispatches, sets->capacity, sizeof(*sets->dispatches));
}

static rope2d_status create_pool(struct vulkan_device *device, uint32_t is_texture,
                                 struct vulkan_sets *sets) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    const struct vulkan_layout *layout = &device->layouts[is_texture];
    VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 2 * sets->capacity},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, (2 - is_texture + 2 * layout->slots) * sets->capacity},
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, sets->capacity},
    };
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = sets->capacity,
        .poolSizeCount = is_texture ? 3 : 2,
        .pPoolSizes = sizes,
    };
    VK_CREATE(device->vk.vkCreateDescriptorPool(device->handle, &pool, device->allocation, &sets->pool),
              sets->pool);
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = sets->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout->set,
    };
    for (uint32_t i = 0; i < sets->capacity; i++)
        VK(device->vk.vkAllocateDescriptorSets(device->handle, &info, &sets->dispatches[i].set));
    return ROPE2D_OK;

fail:
    return status;
}

static rope2d_status sets_create(struct vulkan_device *device, uint32_t is_texture, uint32_t capacity,
                                 struct vulkan_sets *sets) {
    const rope2d_host *host = &device->owner->host;
    sets->dispatches = rope2d_allocate(host, capacity, sizeof(*sets->dispatches));
    if (sets->dispatches == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for %u dispatches", capacity);
    sets->capacity = capacity;
    ROPE2D_TRY(create_pool(device, is_texture, sets));
    return rope2d_vulkan_buffer_create(device, VULKAN_MEMORY_MAPPED, (uint64_t)capacity * SHAPE_STEP,
                                       VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, &sets->shapes);
}

// ---------------------------------------------------------------------------------------------------- update

static void begin_cutting(const rope2d_vulkan_binding *binding, const struct update *update,
                          rope2d_cutter *cutter) {
    rope2d_stage_limits limits = rope2d_vulkan_limits(binding->plan, update->positions);
    limits.total_bytes = UINT64_MAX;
    limits.direct = true;
    rope2d_cutter_begin(cutter, binding->plan, &update->work, &limits);
}

static rope2d_status count_dispatches(const rope2d_vulkan_binding *binding, const struct update *update,
                                      uint32_t *count) {
    rope2d_cutter cutter;
    rope2d_piece piece;
    bool more = false;
    begin_cutting(binding, update, &cutter);
    for (*count = 0; *count < UINT32_MAX / SHAPE_STEP; (*count)++) {
        ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
        if (!more)
            return ROPE2D_OK;
    }
    return rope2d_fail(update->host, ROPE2D_ERROR_LIMIT, "a binding has more than %u dispatches", *count);
}

static void write_dispatch(rope2d_vulkan_binding *binding, const struct update *update,
                           const rope2d_piece *piece, uint32_t index) {
    struct vulkan_dispatch *dispatch = &binding->sets.dispatches[index];
    const struct vulkan_plan *pipelines = binding->plan->impl;
    const struct vulkan_positions *table = update->positions->impl;
    const struct vulkan_kernel *kernel = piece->wide ? &pipelines->wide : &pipelines->single;
    uint32_t is_texture = binding->plan->table_kind == ROPE2D_TABLE_TEXTURE;
    struct vulkan_window window = rope2d_vulkan_row_window(update->positions, &update->work, piece);
    uint64_t offset = (uint64_t)index * SHAPE_STEP;
    uint32_t words[R_SHAPE_WORDS];
    rope2d_shape_write(words, binding->plan, update->positions, &update->work, piece, window.first,
                       table->fold, binding->device->group_size);
    memcpy((unsigned char *)binding->sets.shapes.mapped + offset, words, sizeof(words));
    VkDescriptorBufferInfo shape = {binding->sets.shapes.handle, offset, SHAPE_BYTES};
    VkDescriptorBufferInfo tensors[2 * R_MAX_DISPATCH_TENSORS];
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        tensors[2 * i] = describe_side(update, &piece->tensors[i].in);
        tensors[2 * i + 1] = describe_side(update, &piece->tensors[i].out);
    }
    rope2d_vulkan_set_write(binding->device, dispatch->set, is_texture, &shape, &kernel->units, table,
                            &window, tensors, piece->tensor_count);
    dispatch->pipeline = kernel->pipeline;
    dispatch->groups[0] = piece->groups[0];
    dispatch->groups[1] = piece->groups[1];
}

// What may go wrong with the caller's rows: their memory is too small, or begins where no descriptor can.
static rope2d_status check_rows(const rope2d_vulkan_binding *binding, const struct update *update) {
    const rope2d_vulkan_binding_params *params = update->params;
    const rope2d_pattern *pattern = &binding->positions->pattern;
    const uint32_t alignment = binding->plan->device->info.buffer_offset_alignment;
    const uint32_t batch = params->row_batch > 1 ? params->row_batch : 1;
    const uint64_t count = rope2d_product(rope2d_product(batch, params->row_tokens), pattern->row_axes);
    if (params->row_offset % alignment != 0)
        return rope2d_fail(update->host, ROPE2D_ERROR_TENSOR_ALIGNMENT,
                           "params.row_offset is %" PRIu64 ", must be a multiple of %u", params->row_offset,
                           alignment);
    if (count == 0 || count > INT32_MAX)
        return rope2d_fail(update->host, ROPE2D_ERROR_LIMIT,
                           "params.row_tokens is %" PRIu64 " for a row_batch of %u and %u row numbers each: "
                           "from 1 to %d in all",
                           params->row_tokens, batch, pattern->row_axes, INT32_MAX);
    if (params->row_offset > params->row_size ||
        count * sizeof(int32_t) > params->row_size - params->row_offset)
        return rope2d_fail(
            update->host, ROPE2D_ERROR_TENSOR_SIZE,
            "params.row_size is %" PRIu64 ", but %" PRIu64 " row numbers at %" PRIu64 " need %" PRIu64,
            params->row_size, count, params->row_offset, params->row_offset + count * sizeof(int32_t));
    return ROPE2D_OK;
}

static rope2d_status take_rows(const rope2d_vulkan_binding *binding, struct update *update) {
    const rope2d_vulkan_binding_params *params = update->params;
    update->positions = binding->positions;
    if (params->rows == VK_NULL_HANDLE || binding->positions->impl == NULL)
        return ROPE2D_OK;
    ROPE2D_TRY(check_rows(binding, update));
    update->own_table = *(const struct vulkan_positions *)binding->positions->impl;
    update->own_table.rows.handle = params->rows;
    update->own_table.rows_offset = params->row_offset;
    update->own_rows = *binding->positions;
    update->own_rows.impl = &update->own_table;
    update->own_rows.rows = NULL; // the device alone has them
    update->own_rows.tokens = params->row_tokens;
    update->own_rows.batch = params->row_batch > 1 ? params->row_batch : 1;
    if (params->row_bound > 0 && params->row_bound < update->own_rows.table_rows)
        update->own_rows.table_rows = params->row_bound;
    update->positions = &update->own_rows;
    return ROPE2D_OK;
}

static rope2d_status check(rope2d_vulkan_binding *binding, struct update *update) {
    const rope2d_vulkan_binding_params *params = update->params;
    if (params == NULL)
        return rope2d_fail(update->host, ROPE2D_ERROR_NULL, "params is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(update->host, "params", params->struct_size, sizeof(*params)));
    if (params->tensor_count > ROPE2D_MAX_TENSORS)
        return rope2d_fail(update->host, ROPE2D_ERROR_LIMIT, "tensor_count is %u, the limit is %u",
                           params->tensor_count, ROPE2D_MAX_TENSORS);
    if (params->tensor_count > 0 && params->tensors == NULL)
        return rope2d_fail(update->host, ROPE2D_ERROR_NULL, "tensors is NULL, tensor_count is %u",
                           params->tensor_count);
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
    ROPE2D_TRY(rope2d_work_prepare(binding->plan, update->positions, &apply, update->checked, &update->work));
    if (binding->positions->impl == NULL) // window.c brings it piece by piece
        return rope2d_fail(update->host, ROPE2D_ERROR_LIMIT,
                           "positions: their table fits no buffer of %s, and rope2d_apply alone can use it",
                           binding->plan->device->info.name);
    return ROPE2D_OK;
}

static rope2d_status grow(rope2d_vulkan_binding *binding, uint32_t count) {
    struct vulkan_sets larger = {0};
    if (count <= binding->sets.capacity)
        return ROPE2D_OK;
    const uint32_t is_texture = binding->plan->table_kind == ROPE2D_TABLE_TEXTURE;
    rope2d_status status = sets_create(binding->device, is_texture, count, &larger);
    if (status == ROPE2D_OK && larger.shapes.mapped == NULL)
        status = rope2d_fail(&binding->plan->device->host, ROPE2D_ERROR_UNSUPPORTED,
                             "Vulkan: no memory of this device is visible to the host");
    if (status != ROPE2D_OK) {
        sets_destroy(binding->device, &larger);
        return status;
    }
    sets_destroy(binding->device, &binding->sets);
    binding->sets = larger;
    return ROPE2D_OK;
}

static rope2d_status write_all(rope2d_vulkan_binding *binding, const struct update *update, uint32_t count) {
    rope2d_cutter cutter;
    rope2d_piece piece;
    bool more = false;
    begin_cutting(binding, update, &cutter);
    binding->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
        write_dispatch(binding, update, &piece, i);
    }
    if (count > 0)
        ROPE2D_TRY(rope2d_vulkan_buffer_flush(binding->device, &binding->sets.shapes));
    binding->count = count;
    return ROPE2D_OK;
}

static rope2d_status update_with(rope2d_vulkan_binding *binding, struct update *update) {
    uint32_t count = 0;
    ROPE2D_TRY(check(binding, update));
    ROPE2D_TRY(count_dispatches(binding, update, &count));
    ROPE2D_TRY(grow(binding, count));
    return write_all(binding, update, count);
}

rope2d_status rope2d_vulkan_binding_update(rope2d_vulkan_binding *binding,
                                           const rope2d_vulkan_binding_params *params) {
    if (binding == NULL)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &binding->plan->device->host;
    // Too large for the stacks of job threads.
    struct update *update = rope2d_allocate(host, 1, sizeof(*update));
    if (update == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory to update a binding");
    update->host = host;
    update->params = params;
    const rope2d_status status = update_with(binding, update);
    rope2d_release(host, update, 1, sizeof(*update));
    return status;
}

// ------------------------------------------------------------------------------------------------------ life

rope2d_status rope2d_vulkan_binding_create(const rope2d_plan *plan, const rope2d_positions *positions,
                                           const rope2d_vulkan_binding_params *params,
                                           rope2d_vulkan_binding **binding) {
    if (binding != NULL)
        *binding = NULL;
    if (plan == NULL)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &plan->device->host;
    if (positions == NULL || binding == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "%s is NULL",
                           positions == NULL ? "positions" : "binding");
    if (plan->device->backend != ROPE2D_BACKEND_VULKAN)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "plan is of %s, which is no Vulkan device",
                           plan->device->info.name);
    rope2d_vulkan_binding *made = rope2d_allocate(host, 1, sizeof(*made));
    if (made == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for a binding");
    made->plan = plan;
    made->positions = positions;
    made->device = rope2d_vulkan_of(plan->device);
    made->layout = made->device->layouts[plan->table_kind == ROPE2D_TABLE_TEXTURE].pipeline;
    const rope2d_status status = rope2d_vulkan_binding_update(made, params);
    if (status != ROPE2D_OK) {
        rope2d_vulkan_binding_destroy(made);
        return status;
    }
    *binding = made;
    return ROPE2D_OK;
}

void rope2d_vulkan_binding_destroy(rope2d_vulkan_binding *binding) {
    if (binding == NULL)
        return;
    sets_destroy(binding->device, &binding->sets);
    rope2d_release(&binding->plan->device->host, binding, 1, sizeof(*binding));
}

uint32_t rope2d_vulkan_binding_dispatches(const rope2d_vulkan_binding *binding) {
    return binding == NULL ? 0 : binding->count;
}
