// SPDX-License-Identifier: MIT
//
// Positions on a Vulkan device: row numbers in a buffer, and the cos/sin table as a buffer or a texture.
#ifndef ROPE2D_VULKAN_TABLE_H
#define ROPE2D_VULKAN_TABLE_H

#include "memory.h"

struct vulkan_positions {
    struct vulkan_buffer rows;
    struct vulkan_buffer table; // of tables that are buffers
    struct vulkan_image image;  // of tables that are textures
    uint32_t fold;              // log2 of the texture's width
};

// The texture is about square, and its width a power of two, so that the kernel folds by shifting.
uint32_t rope2d_vulkan_table_fold(const rope2d_device *device, uint64_t entries);

#endif
