// SPDX-License-Identifier: MIT
//
// What a kernel's descriptor set is filled with, for staged tensors and for the caller's own.
#ifndef ROPE2D_VULKAN_DESCRIPTORS_H
#define ROPE2D_VULKAN_DESCRIPTORS_H

#include "../stage.h"
#include "table.h"

// Row numbers that a dispatch can reach: a window of the rows' buffer.
struct vulkan_window {
    uint64_t first; // row number at its beginning, as the driver aligns it
    uint64_t count;
};

struct vulkan_window rope2d_vulkan_row_window(const rope2d_positions *positions, const rope2d_work *work,
                                              const rope2d_piece *piece);

// What a dispatch can hold on this device; total_bytes is the caller's to fill.
rope2d_stage_limits rope2d_vulkan_limits(const rope2d_plan *plan, const rope2d_positions *positions);

#define VULKAN_MOST_DESCRIPTORS (4 + 2 * R_MAX_DISPATCH_TENSORS)

// Writes of a set, which point into the struct: it must not be moved.
struct vulkan_descriptors {
    VkDescriptorBufferInfo buffers[VULKAN_MOST_DESCRIPTORS];
    VkDescriptorImageInfo image;
    VkWriteDescriptorSet writes[VULKAN_MOST_DESCRIPTORS];
    uint32_t count;
};

// `tensors`: an input and an output for each of `tensor_count`.
void rope2d_vulkan_descriptors_fill(const struct vulkan_device *device, uint32_t is_texture,
                                    const VkDescriptorBufferInfo *shape, const struct vulkan_buffer *units,
                                    const struct vulkan_positions *positions,
                                    const struct vulkan_window *window, const VkDescriptorBufferInfo *tensors,
                                    uint32_t tensor_count, struct vulkan_descriptors *descriptors);
// Writes them into a set, which must be in no pending command buffer; nothing where they are pushed.
void rope2d_vulkan_descriptors_write(const struct vulkan_device *device, VkDescriptorSet set,
                                     struct vulkan_descriptors *descriptors);
// Binds the set, or pushes the descriptors.
void rope2d_vulkan_descriptors_bind(const struct vulkan_device *device, VkCommandBuffer commands,
                                    VkPipelineLayout layout, VkDescriptorSet set,
                                    const struct vulkan_descriptors *descriptors);

#endif
