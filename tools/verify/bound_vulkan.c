// SPDX-License-Identifier: MIT
#include "bound.h"

#include "config.h"

#if ROPE2D_HAVE_VULKAN
#include <stdlib.h>
#include <string.h>

#include "vulkan/lane.h"

#include "rope2d/rope2d_vulkan.h"

struct buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    unsigned char *mapped;
};

// Vulkan promises one for every buffer.
static uint32_t find_type(const struct vulkan_device *vulkan, uint32_t allowed) {
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = 0; i < vulkan->memory.memoryTypeCount; ++i)
        if ((allowed >> i & 1) != 0 && (vulkan->memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    return 0;
}

// The buffer itself begins one alignment behind its memory's beginning.
static rope2d_status create_buffer(const struct vulkan_device *vulkan, uint64_t bytes,
                                   struct buffer *buffer) {
    const rope2d_host *host = &vulkan->owner->host;
    rope2d_status status = ROPE2D_OK;
    VkMemoryRequirements needs = {0};
    void *mapped = NULL;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    VK_CREATE(buffer->handle, vulkan->vk, vkCreateBuffer, vulkan->handle, &info, NULL, &buffer->handle);
    vulkan->vk.vkGetBufferMemoryRequirements(vulkan->handle, buffer->handle, &needs);
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.alignment + needs.size,
                                   .memoryTypeIndex = find_type(vulkan, needs.memoryTypeBits)};
    VK_CREATE(buffer->memory, vulkan->vk, vkAllocateMemory, vulkan->handle, &memory, NULL, &buffer->memory);
    VK(vulkan->vk, vkBindBufferMemory, vulkan->handle, buffer->handle, buffer->memory, needs.alignment);
    VK(vulkan->vk, vkMapMemory, vulkan->handle, buffer->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    buffer->mapped = (unsigned char *)mapped + needs.alignment;
    return ROPE2D_OK;

fail:
    return status;
}

static rope2d_status create(struct bound_job *job) {
    const struct vulkan_device *vulkan = rope2d_vulkan_of(job->device->device);
    struct buffer *buffers = calloc(HARNESS_MAX_BLOCKS, sizeof *buffers);
    rope2d_status status = buffers ? ROPE2D_OK : ROPE2D_ERROR_HOST_MEMORY;
    job->impl = buffers;
    for (uint32_t i = 0; i < job->work->block_count && !status; ++i) {
        status = create_buffer(vulkan, job->places[i].bytes, &buffers[i]);
        if (!status)
            memcpy(buffers[i].mapped + job->places[i].begins, job->blocks[i], job->work->blocks[i].bytes);
    }
    return status;
}

static void destroy(struct bound_job *job) {
    const struct vulkan_device *vulkan = rope2d_vulkan_of(job->device->device);
    struct buffer *buffers = job->impl;
    for (uint32_t i = 0; buffers && i < HARNESS_MAX_BLOCKS; ++i) {
        vulkan->vk.vkDestroyBuffer(vulkan->handle, buffers[i].handle, NULL);
        vulkan->vk.vkFreeMemory(vulkan->handle, buffers[i].memory, NULL);
    }
    free(buffers);
}

static rope2d_vulkan_view view(const struct bound_job *job, const struct harness_side *side) {
    const struct buffer *buffers = job->impl;
    return (rope2d_vulkan_view){.buffer = buffers[side->block].handle,
                                .size = job->places[side->block].bytes,
                                .offset = bound_offset(job, side),
                                .batch_stride = side->batch_stride,
                                .token_stride = side->token_stride,
                                .head_stride = side->head_stride};
}

static rope2d_status bind(const struct bound_job *job, const rope2d_plan *plan,
                          const rope2d_positions *positions, const struct bound_group *group,
                          rope2d_vulkan_binding **binding) {
    rope2d_vulkan_tensor tensors[HARNESS_MAX_TENSORS] = {{0}};
    rope2d_vulkan_binding_params params = {.struct_size = sizeof params,
                                           .batch = job->work->batch,
                                           .first_token = job->work->what->first_token,
                                           .tokens = group->tokens,
                                           .tensor_count = group->count,
                                           .tensors = tensors};
    for (uint32_t i = 0; i < group->count; ++i) {
        const struct harness_tensor *tensor = group->tensors[i];
        tensors[i] = (rope2d_vulkan_tensor){tensor->heads, view(job, &tensor->in), view(job, &tensor->out)};
    }
    return rope2d_vulkan_binding_create(plan, positions, &params, binding);
}

static rope2d_status submit(struct vulkan_device *vulkan, const rope2d_vulkan_binding *binding) {
    struct vulkan_lane *lane = NULL;
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    rope2d_status status = rope2d_vulkan_lane_take(vulkan, &lane);
    if (status)
        return status;
    status = rope2d_vulkan_lane_begin(vulkan, lane);
    if (!status)
        status = rope2d_vulkan_record(binding, lane->commands);
    if (!status) {
        vulkan->vk.vkCmdPipelineBarrier(lane->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                        VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
        status = rope2d_vulkan_lane_run(vulkan, lane);
    }
    rope2d_vulkan_lane_give(vulkan, lane, !status);
    return status;
}

static rope2d_status rotate(struct bound_job *job, const rope2d_plan *plan, const rope2d_positions *positions,
                            const struct bound_group *group, uint64_t *dispatches) {
    rope2d_vulkan_binding *binding = NULL;
    rope2d_status status = bind(job, plan, positions, group, &binding);
    if (!status)
        *dispatches = rope2d_vulkan_binding_dispatches(binding);
    if (!status)
        status = submit(rope2d_vulkan_of(job->device->device), binding);
    rope2d_vulkan_binding_destroy(binding);
    return status;
}

static rope2d_status read_back(struct bound_job *job) {
    const struct buffer *buffers = job->impl;
    for (uint32_t i = 0; i < job->work->block_count; ++i)
        memcpy(job->blocks[i], buffers[i].mapped + job->places[i].begins, job->work->blocks[i].bytes);
    return ROPE2D_OK;
}

const struct bound_ops bound_vulkan_ops = {create, destroy, rotate, read_back};
#else
const struct bound_ops bound_vulkan_ops = {0};
#endif
