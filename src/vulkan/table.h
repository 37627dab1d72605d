// SPDX-License-Identifier: MIT
//
// Positions on a Vulkan device: row numbers in a buffer, and the cos/sin table as a buffer or a texture.
#ifndef ROPE2D_VULKAN_TABLE_H
#define ROPE2D_VULKAN_TABLE_H

#include "memory.h"

#include "rope2d/rope2d_vulkan.h"

struct vulkan_positions {
    struct vulkan_buffer rows;
    struct vulkan_buffer table; // of tables that are buffers
    struct vulkan_image image;  // of tables that are textures
    uint32_t fold;              // log2 of the texture's width
    // Of positions in memory of the caller's, place.c:
    VkMemoryRequirements image_needs;
    rope2d_vulkan_place staging; // of what is copied
    bool copies_rows;
    bool copies_table;
};

// Whether they have their memory: all but those that the caller has not placed yet.
static inline bool rope2d_vulkan_is_placed(const struct vulkan_positions *positions) {
    return positions->rows.handle != VK_NULL_HANDLE;
}
rope2d_status rope2d_vulkan_not_placed(const rope2d_positions *positions); // logs

uint64_t rope2d_vulkan_rows_bytes(const rope2d_positions *positions); // no buffer is empty
uint64_t rope2d_vulkan_table_bytes(const rope2d_positions *positions);

// The texture is about square, and its width a power of two, so that the kernel folds by shifting.
uint32_t rope2d_vulkan_table_fold(const rope2d_device *device, uint64_t entries);

#endif
