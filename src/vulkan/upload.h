// SPDX-License-Identifier: MIT
//
// Constant data onto the device: written directly where the host can see the memory, else through a copy.
#ifndef ROPE2D_VULKAN_UPLOAD_H
#define ROPE2D_VULKAN_UPLOAD_H

#include "memory.h"

// Makes a buffer of `size` bytes that begins with `bytes` bytes of data; the rest is 0. Kernels on any later
// submission see it.
rope2d_status rope2d_vulkan_upload_buffer(struct vulkan_device *device, VkBufferUsageFlags usage,
                                          const void *data, uint64_t bytes, uint64_t size,
                                          struct vulkan_buffer *buffer);
// The same for an image of `size` = width * height * 16 bytes.
rope2d_status rope2d_vulkan_upload_image(struct vulkan_device *device, uint32_t width, uint32_t height,
                                         const void *data, uint64_t bytes, struct vulkan_image *image);

// Writes a mapped buffer of `size` bytes in the same way.
rope2d_status rope2d_vulkan_upload_fill(struct vulkan_device *device, const struct vulkan_buffer *buffer,
                                        const void *data, uint64_t bytes);
// Records the copy of a buffer's size, or of a whole image, which is left in
// VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL; and the barrier behind which compute shaders see it.
void rope2d_vulkan_copy_to_buffer(struct vulkan_device *device, VkCommandBuffer commands,
                                  const struct vulkan_buffer *from, const struct vulkan_buffer *to);
void rope2d_vulkan_copy_to_image(struct vulkan_device *device, VkCommandBuffer commands,
                                 const struct vulkan_buffer *from, const struct vulkan_image *to);

#endif
