// SPDX-License-Identifier: MIT
#include "update.h"

#include "descriptors.h"
#include "pipeline.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------------ sets

static void sets_destroy(struct vulkan_device *device, struct vulkan_sets *sets) {
    rope2d_vulkan_buffer_destroy(device, &sets->shapes);
    if (sets->pool != VK_NULL_HANDLE)
        device->vk.vkDestroyDescriptorPool(device->handle, sets->pool, device->allocation);
    rope2d_release(&device->owner->host, sets->pushed, sets->capacity, sizeof(*sets->pushed));
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
    VK_CREATE(sets->pool, device->vk, vkCreateDescriptorPool, device->handle, &pool, device->allocation,
              &sets->pool);
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = sets->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout->set,
    };
    for (uint32_t i = 0; i < sets->capacity; i++)
        VK(device->vk, vkAllocateDescriptorSets, device->handle, &info, &sets->dispatches[i].set);
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
    if (device->pushes) {
        sets->pushed = rope2d_allocate(host, capacity, sizeof(*sets->pushed));
        if (sets->pushed == NULL)
            return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for %u dispatches",
                               capacity);
    } else {
        ROPE2D_TRY(create_pool(device, is_texture, sets));
    }
    return rope2d_vulkan_buffer_create(device, VULKAN_MEMORY_MAPPED, (uint64_t)capacity * VULKAN_SHAPE_STEP,
                                       VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, &sets->shapes);
}

// ---------------------------------------------------------------------------------------------------- update

static void begin_cutting(const rope2d_vulkan_binding *binding, const struct vulkan_update *update,
                          rope2d_cutter *cutter) {
    rope2d_stage_limits limits = rope2d_vulkan_limits(binding->plan, &update->seen);
    limits.total_bytes = UINT64_MAX;
    limits.direct = true;
    rope2d_cutter_begin(cutter, binding->plan, &update->work, &limits);
}

static rope2d_status count_dispatches(const rope2d_vulkan_binding *binding,
                                      const struct vulkan_update *update, uint32_t *count) {
    rope2d_cutter cutter;
    rope2d_piece piece;
    bool more = false;
    begin_cutting(binding, update, &cutter);
    for (*count = 0; *count < UINT32_MAX / VULKAN_SHAPE_STEP; (*count)++) {
        ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
        if (!more)
            return ROPE2D_OK;
    }
    return rope2d_fail(update->host, ROPE2D_ERROR_LIMIT, "a binding has more than %u dispatches", *count);
}

// All row numbers where one descriptor reaches them, so that a range may have any positions.
static struct vulkan_window choose_window(const rope2d_vulkan_binding *binding,
                                          const struct vulkan_update *update, const rope2d_piece *piece) {
    const struct vulkan_window all = {0, update->seen.row_count};
    if (all.count <= binding->plan->device->info.max_buffer_range / sizeof(int32_t))
        return all;
    return rope2d_vulkan_row_window(&update->seen, &update->work, piece);
}

static void write_dispatch(rope2d_vulkan_binding *binding, const struct vulkan_update *update,
                           const rope2d_piece *piece, uint32_t index) {
    struct vulkan_dispatch *dispatch = &binding->sets.dispatches[index];
    const struct vulkan_plan *pipelines = binding->plan->impl;
    const struct vulkan_kernel *kernel = piece->vector ? &pipelines->vector : &pipelines->single;
    uint32_t is_texture = binding->plan->table_kind == ROPE2D_TABLE_TEXTURE;
    uint64_t offset = (uint64_t)index * VULKAN_SHAPE_STEP;
    uint32_t words[R_SHAPE_WORDS];
    dispatch->window = choose_window(binding, update, piece);
    rope2d_shape_write(words, binding->plan, &update->seen, &update->work, piece, dispatch->window.first,
                       update->table.fold);
    memcpy((unsigned char *)binding->sets.shapes.mapped + offset, words, sizeof(words));
    memcpy(dispatch->words, words, sizeof(dispatch->words));
    VkDescriptorBufferInfo shape = {binding->sets.shapes.handle, binding->sets.shapes.offset + offset,
                                    VULKAN_SHAPE_BYTES};
    VkDescriptorBufferInfo tensors[2 * R_MAX_DISPATCH_TENSORS];
    dispatch->piece = *piece;
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        tensors[2 * i] = rope2d_vulkan_update_describe(update, &piece->tensors[i].in);
        tensors[2 * i + 1] = rope2d_vulkan_update_describe(update, &piece->tensors[i].out);
        dispatch->tensors[i] = *piece->tensors[i].tensor;
        dispatch->piece.tensors[i].tensor = &dispatch->tensors[i];
    }
    struct vulkan_descriptors once;
    struct vulkan_descriptors *written = binding->sets.pushed != NULL ? &binding->sets.pushed[index] : &once;
    rope2d_vulkan_descriptors_fill(binding->device, is_texture, &shape, &kernel->units, &update->table,
                                   &dispatch->window, tensors, piece->tensor_count, written);
    rope2d_vulkan_descriptors_write(binding->device, dispatch->set, written);
    dispatch->pipeline = kernel->pipeline;
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

static rope2d_status write_all(rope2d_vulkan_binding *binding, const struct vulkan_update *update,
                               uint32_t count) {
    rope2d_cutter cutter;
    rope2d_piece piece;
    bool more = false;
    begin_cutting(binding, update, &cutter);
    binding->count = 0;
    binding->work = update->work;
    binding->work.tensors = NULL;
    binding->seen = update->seen;
    binding->seen.impl = NULL;
    binding->fold = update->table.fold;
    for (uint32_t i = 0; i < count; i++) {
        ROPE2D_TRY(rope2d_cutter_next(&cutter, &piece, &more));
        write_dispatch(binding, update, &piece, i);
    }
    if (count > 0)
        ROPE2D_TRY(rope2d_vulkan_buffer_flush(binding->device, &binding->sets.shapes));
    binding->count = count;
    return ROPE2D_OK;
}

static rope2d_status update_with(rope2d_vulkan_binding *binding, struct vulkan_update *update) {
    uint32_t count = 0;
    ROPE2D_TRY(rope2d_vulkan_update_check(binding, update));
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
    struct vulkan_update *update = rope2d_allocate(host, 1, sizeof(*update));
    if (update == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory to update a binding");
    update->host = host;
    update->device = binding->device;
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
    // Plan and positions may have gone: retired together, they are destroyed in any order.
    sets_destroy(binding->device, &binding->sets);
    rope2d_release(&binding->device->owner->host, binding, 1, sizeof(*binding));
}

uint32_t rope2d_vulkan_binding_dispatches(const rope2d_vulkan_binding *binding) {
    return binding == NULL ? 0 : binding->count;
}
