// SPDX-License-Identifier: MIT
#include "memory.h"

#include <inttypes.h>
#include <string.h>

#define LOCAL    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define CACHED   VK_MEMORY_PROPERTY_HOST_CACHED_BIT

// What is asked for, best first. Reading uncached memory on the host is extremely slow, hence CACHED before
// COHERENT.
static const VkMemoryPropertyFlags wishes[3][5] = {
    [VULKAN_MEMORY_DEVICE] = {LOCAL | VISIBLE | CACHED | COHERENT, LOCAL | VISIBLE | CACHED,
                              LOCAL | VISIBLE | COHERENT, LOCAL, 0},
    [VULKAN_MEMORY_HOST] = {VISIBLE | CACHED | COHERENT, VISIBLE | CACHED, VISIBLE | COHERENT, VISIBLE,
                            VISIBLE},
    [VULKAN_MEMORY_MAPPED] = {LOCAL | VISIBLE | COHERENT, LOCAL | VISIBLE, VISIBLE | COHERENT, VISIBLE,
                              VISIBLE},
};

static uint64_t largest_local_heap(const VkPhysicalDeviceMemoryProperties *memory) {
    uint64_t largest = 0;
    for (uint32_t i = 0; i < memory->memoryHeapCount; i++) {
        if ((memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
            memory->memoryHeaps[i].size > largest)
            largest = memory->memoryHeaps[i].size;
    }
    return largest;
}

// UINT32_MAX when no type fits, which no conforming driver does.
static uint32_t choose_type(const struct vulkan_device *device, enum vulkan_memory kind, uint32_t allowed) {
    const VkPhysicalDeviceMemoryProperties *memory = &device->memory;
    uint64_t largest = largest_local_heap(memory);
    for (size_t wish = 0; wish < sizeof(wishes[kind]) / sizeof(wishes[kind][0]); wish++) {
        VkMemoryPropertyFlags flags = wishes[kind][wish];
        for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
            const VkMemoryType *type = &memory->memoryTypes[i];
            if (!(allowed & 1u << i) || (type->propertyFlags & flags) != flags)
                continue;
            // The small window that a discrete card opens to the host is left to those who need it.
            if (kind != VULKAN_MEMORY_MAPPED && (flags & LOCAL) && (flags & VISIBLE) &&
                memory->memoryHeaps[type->heapIndex].size < largest / 2)
                continue;
            return i;
        }
    }
    return UINT32_MAX;
}

struct backing {
    VkDeviceMemory memory; // of its own, unless a slice was taken
    struct vulkan_slice slice;
    VkMemoryPropertyFlags flags;
};

static rope2d_status allocate(struct vulkan_device *device, enum vulkan_memory kind, bool is_image,
                              const VkMemoryRequirements *needs, struct backing *backing) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    uint32_t type = choose_type(device, kind, needs->memoryTypeBits);
    if (type == UINT32_MAX)
        return rope2d_fail(host, ROPE2D_ERROR_UNSUPPORTED, "Vulkan: no memory type fits the mask 0x%x",
                           needs->memoryTypeBits);
    backing->flags = device->memory.memoryTypes[type].propertyFlags;
    if (needs->size <= VULKAN_MOST_POOLED && needs->alignment <= VULKAN_MOST_ALIGNMENT) {
        status =
            rope2d_vulkan_pool_take(device, type, is_image, needs->size, needs->alignment, &backing->slice);
        if (status == ROPE2D_OK)
            return ROPE2D_OK;
        goto fail;
    }
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs->size,
        .memoryTypeIndex = type,
    };
    VK_CREATE(backing->memory, device->vk, vkAllocateMemory, device->handle, &info, device->allocation,
              &backing->memory);
    return ROPE2D_OK;

fail:
    rope2d_log(host, ROPE2D_LOG_ERROR, "Vulkan: %llu bytes of memory type %u were asked for",
               (unsigned long long)needs->size, type);
    return status;
}

static rope2d_status back_buffer(struct vulkan_device *device, enum vulkan_memory kind,
                                 struct vulkan_buffer *buffer) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkMemoryRequirements needs = {0};
    struct backing backing = {0};
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer->handle, &needs);
    ROPE2D_TRY(allocate(device, kind, false, &needs, &backing));
    buffer->memory = backing.memory;
    buffer->slice = backing.slice;
    buffer->is_coherent = (backing.flags & COHERENT) != 0;
    buffer->is_host_cached = (backing.flags & CACHED) != 0;
    if (buffer->slice.block != NULL) {
        VK(device->vk, vkBindBufferMemory, device->handle, buffer->handle, buffer->slice.memory,
           buffer->slice.offset);
        buffer->mapped = buffer->slice.mapped;
        return ROPE2D_OK;
    }
    VK(device->vk, vkBindBufferMemory, device->handle, buffer->handle, buffer->memory, 0);
    if (backing.flags & VISIBLE)
        VK(device->vk, vkMapMemory, device->handle, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->mapped);
    return ROPE2D_OK;

fail:
    return status;
}

// Of the memory that the caller gave for small things, which is coherent.
static rope2d_status take_given(struct vulkan_device *device, struct vulkan_buffer *buffer) {
    ROPE2D_TRY(rope2d_vulkan_pool_take_given(device, buffer->size, &buffer->slice));
    buffer->handle = buffer->slice.buffer;
    buffer->offset = buffer->slice.offset;
    buffer->mapped = buffer->slice.mapped;
    buffer->is_borrowed = true;
    buffer->is_coherent = true;
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_buffer_create(struct vulkan_device *device, enum vulkan_memory kind,
                                          uint64_t size, VkBufferUsageFlags usage,
                                          struct vulkan_buffer *buffer) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    memset(buffer, 0, sizeof(*buffer));
    buffer->size = size;
    if (device->given != NULL && (usage & VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT))
        return take_given(device, buffer);
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = usage,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    VK_CREATE(buffer->handle, device->vk, vkCreateBuffer, device->handle, &info, device->allocation,
              &buffer->handle);
    status = back_buffer(device, kind, buffer);
    if (status == ROPE2D_OK)
        return ROPE2D_OK;

fail:
    rope2d_vulkan_buffer_destroy(device, buffer);
    return status;
}

void rope2d_vulkan_buffer_destroy(struct vulkan_device *device, struct vulkan_buffer *buffer) {
    if (buffer->handle != VK_NULL_HANDLE && !buffer->is_borrowed)
        device->vk.vkDestroyBuffer(device->handle, buffer->handle, device->allocation);
    if (buffer->memory != VK_NULL_HANDLE)
        device->vk.vkFreeMemory(device->handle, buffer->memory, device->allocation); // unmaps too
    rope2d_vulkan_pool_give(device, &buffer->slice);
    memset(buffer, 0, sizeof(*buffer));
}

static VkMappedMemoryRange whole(const struct vulkan_buffer *buffer) {
    VkMappedMemoryRange range = {
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = buffer->memory,
        .size = VK_WHOLE_SIZE,
    };
    if (buffer->slice.block != NULL) {
        range.memory = buffer->slice.memory;
        range.offset = buffer->slice.offset;
        range.size = buffer->slice.size;
    }
    return range;
}

rope2d_status rope2d_vulkan_buffer_flush(struct vulkan_device *device, const struct vulkan_buffer *buffer) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkMappedMemoryRange range = whole(buffer);
    if (!buffer->is_coherent)
        VK(device->vk, vkFlushMappedMemoryRanges, device->handle, 1, &range);
    return ROPE2D_OK;

fail:
    return status;
}

rope2d_status rope2d_vulkan_buffer_invalidate(struct vulkan_device *device,
                                              const struct vulkan_buffer *buffer) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkMappedMemoryRange range = whole(buffer);
    if (!buffer->is_coherent)
        VK(device->vk, vkInvalidateMappedMemoryRanges, device->handle, 1, &range);
    return ROPE2D_OK;

fail:
    return status;
}

rope2d_status rope2d_vulkan_image_bind(struct vulkan_device *device, VkDeviceMemory memory, uint64_t offset,
                                       struct vulkan_image *image) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VK(device->vk, vkBindImageMemory, device->handle, image->handle, memory, offset);
    VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->handle,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = VK_FORMAT_R32G32B32A32_SFLOAT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    VK_CREATE(image->view, device->vk, vkCreateImageView, device->handle, &info, device->allocation,
              &image->view);
    return ROPE2D_OK;

fail:
    return status;
}

static rope2d_status back_image(struct vulkan_device *device, struct vulkan_image *image) {
    VkMemoryRequirements needs = {0};
    struct backing backing = {0};
    device->vk.vkGetImageMemoryRequirements(device->handle, image->handle, &needs);
    ROPE2D_TRY(allocate(device, VULKAN_MEMORY_DEVICE, true, &needs, &backing));
    image->memory = backing.memory;
    image->slice = backing.slice;
    if (image->slice.block != NULL)
        return rope2d_vulkan_image_bind(device, image->slice.memory, image->slice.offset, image);
    return rope2d_vulkan_image_bind(device, image->memory, 0, image);
}

rope2d_status rope2d_vulkan_image_make(struct vulkan_device *device, uint32_t width, uint32_t height,
                                       struct vulkan_image *image) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    memset(image, 0, sizeof(*image));
    image->width = width;
    image->height = height;
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R32G32B32A32_SFLOAT,
        .extent = {width, height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
        .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
    };
    VK_CREATE(image->handle, device->vk, vkCreateImage, device->handle, &info, device->allocation,
              &image->handle);
    return ROPE2D_OK;

fail:
    return status;
}

rope2d_status rope2d_vulkan_image_create(struct vulkan_device *device, uint32_t width, uint32_t height,
                                         struct vulkan_image *image) {
    rope2d_status status = rope2d_vulkan_image_make(device, width, height, image);
    if (status == ROPE2D_OK)
        status = back_image(device, image);
    if (status != ROPE2D_OK)
        rope2d_vulkan_image_destroy(device, image);
    return status;
}

void rope2d_vulkan_image_destroy(struct vulkan_device *device, struct vulkan_image *image) {
    if (image->view != VK_NULL_HANDLE)
        device->vk.vkDestroyImageView(device->handle, image->view, device->allocation);
    if (image->handle != VK_NULL_HANDLE)
        device->vk.vkDestroyImage(device->handle, image->handle, device->allocation);
    if (image->memory != VK_NULL_HANDLE)
        device->vk.vkFreeMemory(device->handle, image->memory, device->allocation);
    rope2d_vulkan_pool_give(device, &image->slice);
    memset(image, 0, sizeof(*image));
}

uint64_t rope2d_vulkan_buffer_most(const struct vulkan_device *device, VkBuffer buffer) {
    VkMemoryRequirements needs = {0};
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer, &needs);
    return needs.size;
}

rope2d_status rope2d_vulkan_range_check(const struct vulkan_device *device, const char *name, VkBuffer buffer,
                                        uint64_t offset, uint64_t size) {
    const uint64_t most = rope2d_vulkan_buffer_most(device, buffer);
    if (offset <= most && size <= most - offset)
        return ROPE2D_OK;
    return rope2d_fail(&device->owner->host, ROPE2D_ERROR_TENSOR_SIZE,
                       "%s.size is %" PRIu64 " from offset %" PRIu64 "; its buffer has at most %" PRIu64
                       " bytes",
                       name, size, offset, most);
}
