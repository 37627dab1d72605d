// SPDX-License-Identifier: MIT
//
// Wrong on purpose, so that tools/with-validation is seen to notice: `validation_control clean` does nothing
// wrong, `usage` makes a buffer without a size, `hazard` writes twice to one place without a barrier. Every
// one of them exits with 0.
#include "vulkan/lane.h"
#include "vulkan_open.h"

#include <stdio.h>
#include <string.h>

static void make_empty_buffer(struct vulkan_device *device) {
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    if (device->vk.vkCreateBuffer(device->handle, &info, NULL, &buffer) == VK_SUCCESS)
        device->vk.vkDestroyBuffer(device->handle, buffer, NULL);
}

static rope2d_status copy_twice(struct vulkan_device *device) {
    struct vulkan_buffer from = {0};
    struct vulkan_buffer to = {0};
    struct vulkan_lane *lane = NULL;
    VkBufferCopy region = {.size = 64};
    rope2d_status status =
        rope2d_vulkan_buffer_create(device, VULKAN_MEMORY_HOST, 64, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &from);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_buffer_create(device, VULKAN_MEMORY_HOST, 64, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                             &to);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_lane_take(device, &lane);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_lane_begin(device, lane);
    if (status == ROPE2D_OK) {
        device->vk.vkCmdCopyBuffer(lane->commands, from.handle, to.handle, 1, &region);
        device->vk.vkCmdCopyBuffer(lane->commands, from.handle, to.handle, 1, &region);
        status = rope2d_vulkan_lane_run(device, lane);
    }
    if (lane != NULL)
        rope2d_vulkan_lane_give(device, lane, status == ROPE2D_OK);
    rope2d_vulkan_buffer_destroy(device, &from);
    rope2d_vulkan_buffer_destroy(device, &to);
    return status;
}

int main(int count, char **arguments) {
    captured_log log = {"", true};
    rope2d_device *device = NULL;
    const char *wrong = count == 2 ? arguments[1] : "";
    rope2d_status status = vulkan_open(0, 0, NULL, &log, &device);
    if (status == ROPE2D_OK && strcmp(wrong, "usage") == 0)
        make_empty_buffer(rope2d_vulkan_of(device));
    else if (status == ROPE2D_OK && strcmp(wrong, "hazard") == 0)
        status = copy_twice(rope2d_vulkan_of(device));
    else if (strcmp(wrong, "clean") != 0)
        status = ROPE2D_ERROR_ENUM;
    rope2d_device_destroy(device);
    return status == ROPE2D_OK ? 0 : 2;
}
