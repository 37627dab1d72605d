// SPDX-License-Identifier: MIT
#include "pool.h"

#include <string.h>

#define BLOCK_BYTES (1024u * 1024)

struct vulkan_block {
    struct vulkan_block *next;
    VkDeviceMemory memory; // VK_NULL_HANDLE: the caller's
    VkBuffer buffer;       // the caller's
    uint64_t offset;       // of the first granule in the caller's buffer
    unsigned char *mapped;
    uint32_t type;
    bool is_image;
    uint32_t granules;
    uint32_t used;
    bool *is_used; // [granules]
};

static struct vulkan_block *block_make(struct vulkan_device *device, uint32_t granules) {
    const rope2d_host *host = &device->owner->host;
    struct vulkan_block *block = rope2d_allocate(host, 1, sizeof(*block));
    if (block != NULL)
        block->is_used = rope2d_allocate(host, granules, sizeof(*block->is_used));
    if (block != NULL && block->is_used == NULL) {
        rope2d_release(host, block, 1, sizeof(*block));
        block = NULL;
    }
    if (block == NULL)
        rope2d_log(host, ROPE2D_LOG_ERROR, "Vulkan: no memory for a block of %u granules", granules);
    else
        block->granules = granules;
    return block;
}

static void block_destroy(struct vulkan_device *device, struct vulkan_block *block) {
    const rope2d_host *host = &device->owner->host;
    if (block->memory != VK_NULL_HANDLE)
        device->vk.vkFreeMemory(device->handle, block->memory, device->allocation); // unmaps too
    rope2d_release(host, block->is_used, block->granules, sizeof(*block->is_used));
    rope2d_release(host, block, 1, sizeof(*block));
}

static rope2d_status block_back(struct vulkan_device *device, struct vulkan_block *block) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    void *mapped = NULL;
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = BLOCK_BYTES,
        .memoryTypeIndex = block->type,
    };
    VK_CREATE(block->memory, device->vk, vkAllocateMemory, device->handle, &info, device->allocation,
              &block->memory);
    if (device->memory.memoryTypes[block->type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)
        VK(device->vk, vkMapMemory, device->handle, block->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    block->mapped = mapped;
    return ROPE2D_OK;

fail:
    return status;
}

static rope2d_status block_create(struct vulkan_device *device, uint32_t type, bool is_image,
                                  struct vulkan_block **result) {
    struct vulkan_block *block = block_make(device, BLOCK_BYTES / VULKAN_GRANULE);
    if (block == NULL)
        return ROPE2D_ERROR_HOST_MEMORY;
    block->type = type;
    block->is_image = is_image;
    const rope2d_status status = block_back(device, block);
    if (status != ROPE2D_OK) {
        block_destroy(device, block);
        return status;
    }
    block->next = device->blocks;
    device->blocks = block;
    *result = block;
    return ROPE2D_OK;
}

// First fit. False when the block has no such room.
static bool block_take(struct vulkan_block *block, uint32_t count, uint32_t step,
                       struct vulkan_slice *slice) {
    uint32_t free_run = 0;
    for (uint32_t begin = 0; begin < block->granules && count <= block->granules - begin; begin += step) {
        while (free_run < count && !block->is_used[begin + free_run])
            free_run++;
        if (free_run == count) {
            memset(block->is_used + begin, 1, count * sizeof(*block->is_used));
            block->used += count;
            slice->block = block;
            slice->memory = block->memory;
            slice->buffer = block->buffer;
            slice->offset = block->offset + (uint64_t)begin * VULKAN_GRANULE;
            slice->size = (uint64_t)count * VULKAN_GRANULE;
            slice->mapped = block->mapped != NULL ? block->mapped + (size_t)begin * VULKAN_GRANULE : NULL;
            return true;
        }
        free_run = 0;
    }
    return false;
}

static uint32_t granules_of(uint64_t bytes) {
    return (uint32_t)((bytes + VULKAN_GRANULE - 1) / VULKAN_GRANULE);
}

static rope2d_status take(struct vulkan_device *device, uint32_t type, bool is_image, uint32_t count,
                          uint32_t step, struct vulkan_slice *slice) {
    struct vulkan_block *block = device->blocks;
    for (; block != NULL; block = block->next)
        if (block->type == type && block->is_image == is_image && block_take(block, count, step, slice))
            return ROPE2D_OK;
    ROPE2D_TRY(block_create(device, type, is_image, &block));
    block_take(block, count, step, slice);
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_pool_take(struct vulkan_device *device, uint32_t type, bool is_image,
                                      uint64_t size, uint64_t alignment, struct vulkan_slice *slice) {
    memset(slice, 0, sizeof(*slice));
    rope2d_lock_take(&device->pool_lock);
    const rope2d_status status =
        take(device, type, is_image, granules_of(size), alignment > 0 ? granules_of(alignment) : 1, slice);
    rope2d_lock_give(&device->pool_lock);
    return status;
}

rope2d_status rope2d_vulkan_pool_take_given(struct vulkan_device *device, uint64_t size,
                                            struct vulkan_slice *slice) {
    struct vulkan_block *block = device->given;
    bool is_taken = false;
    memset(slice, 0, sizeof(*slice));
    rope2d_lock_take(&device->pool_lock);
    if (size <= (uint64_t)block->granules * VULKAN_GRANULE)
        is_taken = block_take(block, granules_of(size), 1, slice);
    const uint32_t used = block->used;
    rope2d_lock_give(&device->pool_lock);
    if (is_taken)
        return ROPE2D_OK;
    return rope2d_fail(&device->owner->host, ROPE2D_ERROR_DEVICE_MEMORY,
                       "params.small of the device has %llu bytes, of which %llu are taken: no room for %llu",
                       (unsigned long long)block->granules * VULKAN_GRANULE,
                       (unsigned long long)used * VULKAN_GRANULE, (unsigned long long)size);
}

// An empty block stays only while no other could serve in its place.
static void drop_if_spare(struct vulkan_device *device, struct vulkan_block *empty) {
    bool has_other = false;
    struct vulkan_block **link = &device->blocks;
    for (struct vulkan_block *block = device->blocks; block != NULL; block = block->next)
        has_other |= block != empty && block->type == empty->type && block->is_image == empty->is_image;
    if (!has_other)
        return;
    while (*link != NULL && *link != empty)
        link = &(*link)->next;
    *link = empty->next;
    block_destroy(device, empty);
}

void rope2d_vulkan_pool_give(struct vulkan_device *device, struct vulkan_slice *slice) {
    struct vulkan_block *block = slice->block;
    if (block == NULL)
        return;
    rope2d_lock_take(&device->pool_lock);
    memset(block->is_used + (slice->offset - block->offset) / VULKAN_GRANULE, 0,
           slice->size / VULKAN_GRANULE * sizeof(*block->is_used));
    block->used -= (uint32_t)(slice->size / VULKAN_GRANULE);
    if (block->used == 0 && block != device->given)
        drop_if_spare(device, block);
    rope2d_lock_give(&device->pool_lock);
    memset(slice, 0, sizeof(*slice));
}

rope2d_status rope2d_vulkan_pool_adopt(struct vulkan_device *device, VkBuffer buffer, uint64_t offset,
                                       uint64_t size, void *mapped) {
    const uint64_t granules = size / VULKAN_GRANULE;
    struct vulkan_block *block = block_make(device, granules < UINT32_MAX ? (uint32_t)granules : UINT32_MAX);
    if (block == NULL)
        return ROPE2D_ERROR_HOST_MEMORY;
    block->buffer = buffer;
    block->offset = offset;
    block->mapped = mapped;
    device->given = block;
    return ROPE2D_OK;
}

void rope2d_vulkan_pool_destroy(struct vulkan_device *device) {
    while (device->blocks != NULL) {
        struct vulkan_block *block = device->blocks;
        device->blocks = block->next;
        block_destroy(device, block);
    }
    if (device->given != NULL)
        block_destroy(device, device->given);
    device->given = NULL;
}
