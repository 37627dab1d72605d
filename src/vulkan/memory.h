// SPDX-License-Identifier: MIT
//
// Buffers and images: small ones in memory that they share, large ones with memory of their own, or in the
// caller's. Everything may be half-built: destroy accepts it, zeroed memory too.
#ifndef ROPE2D_VULKAN_MEMORY_H
#define ROPE2D_VULKAN_MEMORY_H

#include "pool.h"

enum vulkan_memory {
    VULKAN_MEMORY_DEVICE, // near the device; mapped where the host can see it
    VULKAN_MEMORY_HOST,   // near the host, always mapped, cached where possible
    VULKAN_MEMORY_MAPPED // always mapped, near the device where possible: small things that only kernels read
};

struct vulkan_buffer {
    VkBuffer handle;
    bool is_borrowed;      // the caller's
    uint64_t offset;       // of the first byte in `handle`: 0 unless it is the caller's
    VkDeviceMemory memory; // of its own; VK_NULL_HANDLE: it has a slice, or is the caller's
    struct vulkan_slice slice;
    uint64_t size;
    void *mapped;        // NULL when the host cannot see it
    bool is_coherent;    // needs no flush and no invalidate
    bool is_host_cached; // the host can read it without extreme slowness
};

rope2d_status rope2d_vulkan_buffer_create(struct vulkan_device *device, enum vulkan_memory kind,
                                          uint64_t size, VkBufferUsageFlags usage,
                                          struct vulkan_buffer *buffer);
void rope2d_vulkan_buffer_destroy(struct vulkan_device *device, struct vulkan_buffer *buffer);
// Make the host's writes visible to the device, and the other way round. Nothing to do when coherent.
rope2d_status rope2d_vulkan_buffer_flush(struct vulkan_device *device, const struct vulkan_buffer *buffer);
rope2d_status rope2d_vulkan_buffer_invalidate(struct vulkan_device *device,
                                              const struct vulkan_buffer *buffer);

// A sampled RGBA fp32 image.
struct vulkan_image {
    VkImage handle;
    VkDeviceMemory memory; // as a buffer's
    struct vulkan_slice slice;
    VkImageView view;
    uint32_t width;
    uint32_t height;
};

// In two steps, for an image in memory of the caller's: it is made, then bound.
rope2d_status rope2d_vulkan_image_make(struct vulkan_device *device, uint32_t width, uint32_t height,
                                       struct vulkan_image *image);
rope2d_status rope2d_vulkan_image_bind(struct vulkan_device *device, VkDeviceMemory memory, uint64_t offset,
                                       struct vulkan_image *image);
rope2d_status rope2d_vulkan_image_create(struct vulkan_device *device, uint32_t width, uint32_t height,
                                         struct vulkan_image *image);
void rope2d_vulkan_image_destroy(struct vulkan_device *device, struct vulkan_image *image);

// The most bytes that a caller's buffer can have: Vulkan tells what memory it needs, which is its size or
// more.
uint64_t rope2d_vulkan_buffer_most(const struct vulkan_device *device, VkBuffer buffer);
// Whether a range of a caller's buffer lies within that.
rope2d_status rope2d_vulkan_range_check(const struct vulkan_device *device, const char *name, VkBuffer buffer,
                                        uint64_t offset, uint64_t size);

#endif
