// SPDX-License-Identifier: MIT
#include "lane.h"

#include "../../shaders/shape.h"

#define LEAST_ARENA (64u * 1024)

static rope2d_status create_commands(struct vulkan_device *device, struct vulkan_lane *lane) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = device->queue_family,
    };
    VK_CREATE(lane->pool, device->vk, vkCreateCommandPool, device->handle, &pool, device->allocation,
              &lane->pool);
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = lane->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VK_CREATE(lane->commands, device->vk, vkAllocateCommandBuffers, device->handle, &commands,
              &lane->commands);
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VK_CREATE(lane->fence, device->vk, vkCreateFence, device->handle, &fence, device->allocation,
              &lane->fence);
    return ROPE2D_OK;

fail:
    return status;
}

static rope2d_status create_sets(struct vulkan_device *device, struct vulkan_lane *lane) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    uint32_t sets = device->layouts[1].set != VK_NULL_HANDLE ? 2 : 1;
    VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 2 * sets},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 + 2 * device->layouts[0].slots},
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1},
    };
    if (sets == 2)
        sizes[1].descriptorCount += 1 + 2 * device->layouts[1].slots;
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = sets,
        .poolSizeCount = sets == 2 ? 3 : 2,
        .pPoolSizes = sizes,
    };
    VK_CREATE(lane->descriptors, device->vk, vkCreateDescriptorPool, device->handle, &pool,
              device->allocation, &lane->descriptors);
    VkDescriptorSetLayout layouts[2] = {device->layouts[0].set, device->layouts[1].set};
    VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = lane->descriptors,
        .descriptorSetCount = sets,
        .pSetLayouts = layouts,
    };
    VK(device->vk, vkAllocateDescriptorSets, device->handle, &info, lane->sets);
    return ROPE2D_OK;

fail:
    return status;
}

static void lane_destroy(struct vulkan_device *device, struct vulkan_lane *lane) {
    rope2d_vulkan_buffer_destroy(device, &lane->mirror);
    rope2d_vulkan_buffer_destroy(device, &lane->arena);
    rope2d_vulkan_buffer_destroy(device, &lane->shape);
    if (lane->descriptors != VK_NULL_HANDLE)
        device->vk.vkDestroyDescriptorPool(device->handle, lane->descriptors, device->allocation);
    if (lane->fence != VK_NULL_HANDLE)
        device->vk.vkDestroyFence(device->handle, lane->fence, device->allocation);
    if (lane->pool != VK_NULL_HANDLE)
        device->vk.vkDestroyCommandPool(device->handle, lane->pool, device->allocation);
    rope2d_release(&device->owner->host, lane, 1, sizeof(*lane));
}

static rope2d_status lane_create(struct vulkan_device *device, struct vulkan_lane *lane) {
    ROPE2D_TRY(create_commands(device, lane));
    if (!device->pushes)
        ROPE2D_TRY(create_sets(device, lane));
    return rope2d_vulkan_buffer_create(device, VULKAN_MEMORY_HOST, R_SHAPE_WORDS * sizeof(uint32_t),
                                       VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, &lane->shape);
}

rope2d_status rope2d_vulkan_lane_take(struct vulkan_device *device, struct vulkan_lane **lane) {
    rope2d_lock_take(&device->lane_lock);
    *lane = device->idle_lanes;
    if (*lane != NULL)
        device->idle_lanes = (*lane)->next;
    rope2d_lock_give(&device->lane_lock);
    if (*lane != NULL)
        return ROPE2D_OK;

    const rope2d_host *host = &device->owner->host;
    struct vulkan_lane *made = rope2d_allocate(host, 1, sizeof(*made));
    if (made == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for a lane");
    rope2d_status status = lane_create(device, made);
    if (status != ROPE2D_OK) {
        lane_destroy(device, made);
        return status;
    }
    *lane = made;
    return ROPE2D_OK;
}

void rope2d_vulkan_lane_give(struct vulkan_device *device, struct vulkan_lane *lane, bool is_sound) {
    if (!is_sound) {
        lane_destroy(device, lane);
        return;
    }
    rope2d_lock_take(&device->lane_lock);
    lane->next = device->idle_lanes;
    device->idle_lanes = lane;
    rope2d_lock_give(&device->lane_lock);
}

void rope2d_vulkan_lanes_destroy(struct vulkan_device *device) {
    while (device->idle_lanes != NULL) {
        struct vulkan_lane *lane = device->idle_lanes;
        device->idle_lanes = lane->next;
        lane_destroy(device, lane);
    }
}

rope2d_status rope2d_vulkan_lane_reserve(struct vulkan_device *device, struct vulkan_lane *lane,
                                         uint64_t bytes) {
    if (lane->arena.handle != VK_NULL_HANDLE && lane->arena.size >= bytes)
        return ROPE2D_OK;
    uint64_t size = LEAST_ARENA;
    while (size < bytes)
        size *= 2;
    rope2d_vulkan_buffer_destroy(device, &lane->arena);
    rope2d_vulkan_buffer_destroy(device, &lane->mirror);
    ROPE2D_TRY(rope2d_vulkan_buffer_create(device, VULKAN_MEMORY_DEVICE, size,
                                           VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                               VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                               VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                           &lane->arena));
    if (lane->arena.mapped != NULL && lane->arena.is_host_cached)
        return ROPE2D_OK;
    return rope2d_vulkan_buffer_create(device, VULKAN_MEMORY_HOST, size,
                                       VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                       &lane->mirror);
}

rope2d_status rope2d_vulkan_lane_begin(struct vulkan_device *device, struct vulkan_lane *lane) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    VK(device->vk, vkResetFences, device->handle, 1, &lane->fence);
    VK(device->vk, vkBeginCommandBuffer, lane->commands, &info);
    return ROPE2D_OK;

fail:
    return status;
}

rope2d_status rope2d_vulkan_lane_run(struct vulkan_device *device, struct vulkan_lane *lane) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &lane->commands,
    };
    VK(device->vk, vkEndCommandBuffer, lane->commands);
    rope2d_vulkan_queue_take(device);
    VkResult result = device->vk.vkQueueSubmit(device->queue, 1, &info, lane->fence);
    rope2d_vulkan_queue_give(device);
    VK_RESULT(result, "vkQueueSubmit");
    VK(device->vk, vkWaitForFences, device->handle, 1, &lane->fence, VK_TRUE, UINT64_MAX);
    return ROPE2D_OK;

fail:
    // The commands may still run, and the lane is about to be destroyed.
    rope2d_vulkan_queue_take(device);
    device->vk.vkQueueWaitIdle(device->queue);
    rope2d_vulkan_queue_give(device);
    return status;
}
