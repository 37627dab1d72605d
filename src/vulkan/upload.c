// SPDX-License-Identifier: MIT
#include "upload.h"

#include "lane.h"

#include <string.h>

rope2d_status rope2d_vulkan_upload_fill(struct vulkan_device *device, const struct vulkan_buffer *buffer,
                                        const void *data, uint64_t bytes) {
    if (bytes > 0)
        memcpy(buffer->mapped, data, (size_t)bytes);
    memset((unsigned char *)buffer->mapped + bytes, 0, (size_t)(buffer->size - bytes));
    return rope2d_vulkan_buffer_flush(device, buffer);
}

void rope2d_vulkan_copy_to_buffer(struct vulkan_device *device, VkCommandBuffer commands,
                                  const struct vulkan_buffer *from, const struct vulkan_buffer *to) {
    VkBufferCopy region = {from->offset, to->offset, to->size};
    VkBufferMemoryBarrier done = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_UNIFORM_READ_BIT,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .buffer = to->handle,
        .offset = to->offset,
        .size = to->size,
    };
    device->vk.vkCmdCopyBuffer(commands, from->handle, to->handle, 1, &region);
    device->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 1, &done, 0, NULL);
}

void rope2d_vulkan_copy_to_image(struct vulkan_device *device, VkCommandBuffer commands,
                                 const struct vulkan_buffer *from, const struct vulkan_image *to) {
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
        .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = to->handle,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    device->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                                    VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    VkBufferImageCopy region = {
        .bufferOffset = from->offset,
        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
        .imageExtent = {to->width, to->height, 1},
    };
    device->vk.vkCmdCopyBufferToImage(commands, from->handle, to->handle,
                                      VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
    barrier.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    barrier.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    device->vk.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

// Through a buffer that the host sees, into the one of `buffer` and `image` that is not NULL.
static rope2d_status copy_across(struct vulkan_device *device, const void *data, uint64_t bytes,
                                 uint64_t size, const struct vulkan_buffer *buffer,
                                 const struct vulkan_image *image) {
    struct vulkan_buffer mirror = {0};
    struct vulkan_lane *lane = NULL;
    rope2d_status status = rope2d_vulkan_buffer_create(device, VULKAN_MEMORY_HOST, size,
                                                       VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &mirror);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_upload_fill(device, &mirror, data, bytes);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_lane_take(device, &lane);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_lane_begin(device, lane);
    if (status == ROPE2D_OK) {
        if (buffer != NULL)
            rope2d_vulkan_copy_to_buffer(device, lane->commands, &mirror, buffer);
        else
            rope2d_vulkan_copy_to_image(device, lane->commands, &mirror, image);
        status = rope2d_vulkan_lane_run(device, lane);
    }
    if (lane != NULL)
        rope2d_vulkan_lane_give(device, lane, status == ROPE2D_OK);
    rope2d_vulkan_buffer_destroy(device, &mirror);
    return status;
}

rope2d_status rope2d_vulkan_upload_buffer(struct vulkan_device *device, VkBufferUsageFlags usage,
                                          const void *data, uint64_t bytes, uint64_t size,
                                          struct vulkan_buffer *buffer) {
    // Without a queue nothing can be copied, and the host writes it.
    enum vulkan_memory kind = device->queue == NULL ? VULKAN_MEMORY_MAPPED : VULKAN_MEMORY_DEVICE;
    ROPE2D_TRY(
        rope2d_vulkan_buffer_create(device, kind, size, usage | VK_BUFFER_USAGE_TRANSFER_DST_BIT, buffer));
    rope2d_status status = buffer->mapped != NULL ? rope2d_vulkan_upload_fill(device, buffer, data, bytes)
                                                  : copy_across(device, data, bytes, size, buffer, NULL);
    if (status != ROPE2D_OK)
        rope2d_vulkan_buffer_destroy(device, buffer);
    return status;
}

rope2d_status rope2d_vulkan_upload_image(struct vulkan_device *device, uint32_t width, uint32_t height,
                                         const void *data, uint64_t bytes, struct vulkan_image *image) {
    ROPE2D_TRY(rope2d_vulkan_image_create(device, width, height, image));
    rope2d_status status = copy_across(device, data, bytes, (uint64_t)width * height * 16, NULL, image);
    if (status != ROPE2D_OK)
        rope2d_vulkan_image_destroy(device, image);
    return status;
}
