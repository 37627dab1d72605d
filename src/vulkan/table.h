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

#endif
