// SPDX-License-Identifier: MIT
//
// Small things share memory: blocks of which slices are taken and given back. Thread-safe.
#ifndef ROPE2D_VULKAN_POOL_H
#define ROPE2D_VULKAN_POOL_H

#include "device.h"

#define VULKAN_GRANULE        256 // no device asks for more of atoms that are flushed, nor of descriptors' offsets
#define VULKAN_MOST_POOLED    (64 * 1024)
#define VULKAN_MOST_ALIGNMENT (64 * 1024) // of what is pooled

struct vulkan_block;

struct vulkan_slice {
    struct vulkan_block *block; // NULL: nothing was taken
    VkDeviceMemory memory;
    VkBuffer buffer; // where the block is the caller's; VK_NULL_HANDLE: bind `memory`
    uint64_t offset; // of the memory, or of the caller's buffer
    uint64_t size;   // whole granules
    void *mapped;    // of the slice; NULL when the host cannot see it
};

// A slice of memory of this type; images and buffers never share a block.
rope2d_status rope2d_vulkan_pool_take(struct vulkan_device *device, uint32_t type, bool is_image,
                                      uint64_t size, uint64_t alignment, struct vulkan_slice *slice);
// A slice of the block that the caller gave when the device was adopted. Never falls back to another.
rope2d_status rope2d_vulkan_pool_take_given(struct vulkan_device *device, uint64_t size,
                                            struct vulkan_slice *slice);
void rope2d_vulkan_pool_give(struct vulkan_device *device, struct vulkan_slice *slice); // zeroed is legal
// Makes the caller's block. `mapped` is where the host sees `offset`.
rope2d_status rope2d_vulkan_pool_adopt(struct vulkan_device *device, VkBuffer buffer, uint64_t offset,
                                       uint64_t size, void *mapped);
void rope2d_vulkan_pool_destroy(struct vulkan_device *device);

#endif
