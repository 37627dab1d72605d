// SPDX-License-Identifier: MIT
//
// The shim's memory: other types than the device has, whose mapped memory is a copy where they are not
// coherent.
#include "vulkan_shim_parts.h"

#include <stdlib.h>
#include <string.h>

#define LOCAL    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define CACHED   VK_MEMORY_PROPERTY_HOST_CACHED_BIT

enum { MAX_TYPES = 3, MAX_BLOCKS = 1024 };

struct type {
    VkMemoryPropertyFlags flags;
    uint32_t heap;
};

static const struct type shown[SHIM_MEMORY_COUNT][MAX_TYPES] = {
    [SHIM_MEMORY_DISCRETE] = {{LOCAL, 0}, {VISIBLE | COHERENT, 1}, {VISIBLE | COHERENT | CACHED, 1}},
    [SHIM_MEMORY_DISCRETE_INCOHERENT] = {{LOCAL, 0}, {VISIBLE | CACHED, 1}},
    [SHIM_MEMORY_WINDOW] = {{LOCAL, 0}, {LOCAL | VISIBLE | COHERENT, 0}, {VISIBLE | COHERENT | CACHED, 1}},
    [SHIM_MEMORY_SMALL_WINDOW] = {{LOCAL, 0},
                                  {LOCAL | VISIBLE | COHERENT, 2},
                                  {VISIBLE | COHERENT | CACHED, 1}},
    [SHIM_MEMORY_UNIFIED_INCOHERENT] = {{LOCAL | VISIBLE | CACHED, 0}},
};

static uint32_t type_count(void) {
    uint32_t count = 0;
    while (count < MAX_TYPES && shown[shim.memory][count].flags != 0)
        count++;
    return count;
}

// Memory that the test shows as another type, and what the library sees of it when it is mapped.
struct block {
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint32_t type;
    unsigned char *device; // where the driver mapped it
    unsigned char *host;   // the copy; NULL when coherent
};

static struct block blocks[MAX_BLOCKS]; // guarded by lock

static struct block *find_block(VkDeviceMemory memory) {
    for (uint32_t i = 0; i < MAX_BLOCKS; i++) {
        if (blocks[i].memory == memory)
            return &blocks[i];
    }
    return NULL;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkGetPhysicalDeviceMemoryProperties(
    VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties *memory) {
    REAL(vkGetPhysicalDeviceMemoryProperties)(physical, memory);
    shim_lie_about_memory(memory);
    if (shim.memory == SHIM_MEMORY_REAL)
        return;
    uint64_t size = memory->memoryHeaps[0].size;
    memory->memoryHeapCount = 3;
    memory->memoryHeaps[0] = (VkMemoryHeap){size, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    memory->memoryHeaps[1] = (VkMemoryHeap){size, 0};
    memory->memoryHeaps[2] = (VkMemoryHeap){size / 64, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
    memory->memoryTypeCount = type_count();
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        memory->memoryTypes[i] = (VkMemoryType){shown[shim.memory][i].flags, shown[shim.memory][i].heap};
}

static VKAPI_ATTR void VKAPI_CALL shim_vkGetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
                                                                     VkMemoryRequirements *needs) {
    REAL(vkGetBufferMemoryRequirements)(device, buffer, needs);
    if (shim.memory != SHIM_MEMORY_REAL)
        needs->memoryTypeBits = (1u << type_count()) - 1;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkGetImageMemoryRequirements(VkDevice device, VkImage image,
                                                                    VkMemoryRequirements *needs) {
    REAL(vkGetImageMemoryRequirements)(device, image, needs);
    if (shim.memory != SHIM_MEMORY_REAL)
        needs->memoryTypeBits = (1u << type_count()) - 1;
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                                            const VkAllocationCallbacks *callbacks,
                                                            VkDeviceMemory *memory) {
    FAILS(vkAllocateMemory);
    VkMemoryAllocateInfo changed = *info;
    if (shim.memory != SHIM_MEMORY_REAL)
        changed.memoryTypeIndex = 0; // the software devices have but one type
    VkResult result = REAL(vkAllocateMemory)(device, &changed, callbacks, memory);
    shim_live(result, 1);
    if (result == VK_SUCCESS && shim.memory != SHIM_MEMORY_REAL) {
        pthread_mutex_lock(&shim_lock);
        struct block *block = find_block(VK_NULL_HANDLE);
        if (block != NULL)
            *block = (struct block){*memory, info->allocationSize, info->memoryTypeIndex, NULL, NULL};
        pthread_mutex_unlock(&shim_lock);
        shim_fault(block == NULL);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkFreeMemory(VkDevice device, VkDeviceMemory memory,
                                                    const VkAllocationCallbacks *callbacks) {
    shim_fault(memory == VK_NULL_HANDLE);
    shim_live(VK_SUCCESS, -1);
    pthread_mutex_lock(&shim_lock);
    struct block *block = memory != VK_NULL_HANDLE ? find_block(memory) : NULL;
    if (block != NULL) {
        free(block->host);
        *block = (struct block){0};
    }
    pthread_mutex_unlock(&shim_lock);
    REAL(vkFreeMemory)(device, memory, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkMapMemory(VkDevice device, VkDeviceMemory memory,
                                                       VkDeviceSize offset, VkDeviceSize size,
                                                       VkMemoryMapFlags flags, void **data) {
    FAILS(vkMapMemory);
    VkResult result = REAL(vkMapMemory)(device, memory, offset, size, flags, data);
    if (result != VK_SUCCESS)
        return result;
    pthread_mutex_lock(&shim_lock);
    shim.mapped++;
    struct block *block = find_block(memory);
    if (block != NULL) {
        VkMemoryPropertyFlags seen = shown[shim.memory][block->type].flags;
        shim.faults += (seen & VISIBLE) == 0 || offset != 0;
        if ((seen & COHERENT) == 0) {
            block->device = *data;
            block->host = malloc((size_t)block->size);
            if (block->host != NULL)
                memset(block->host, 0x5a, (size_t)block->size);
            *data = block->host;
        }
    }
    pthread_mutex_unlock(&shim_lock);
    return VK_SUCCESS;
}

// The library flushes and invalidates whole memory, or ranges of whole atoms; anything else is a fault.
static void copy_ranges(uint32_t count, const VkMappedMemoryRange *ranges, bool to_device) {
    enum { ATOM = 256 };
    pthread_mutex_lock(&shim_lock);
    for (uint32_t i = 0; i < count; i++) {
        const VkDeviceSize offset = ranges[i].offset;
        struct block *block = find_block(ranges[i].memory);
        const VkDeviceSize size = block == NULL                     ? 0
                                  : ranges[i].size == VK_WHOLE_SIZE ? block->size - offset
                                                                    : ranges[i].size;
        if (block == NULL || block->host == NULL || offset % ATOM != 0 || offset > block->size ||
            size > block->size - offset || (size % ATOM != 0 && offset + size != block->size))
            shim.faults++;
        else if (to_device)
            memcpy(block->device + offset, block->host + offset, (size_t)size);
        else
            memcpy(block->host + offset, block->device + offset, (size_t)size);
    }
    pthread_mutex_unlock(&shim_lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkFlushMappedMemoryRanges(VkDevice device, uint32_t count,
                                                                     const VkMappedMemoryRange *ranges) {
    FAILS(vkFlushMappedMemoryRanges);
    copy_ranges(count, ranges, true);
    return REAL(vkFlushMappedMemoryRanges)(device, count, ranges);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkInvalidateMappedMemoryRanges(VkDevice device, uint32_t count,
                                                                          const VkMappedMemoryRange *ranges) {
    FAILS(vkInvalidateMappedMemoryRanges);
    VkResult result = REAL(vkInvalidateMappedMemoryRanges)(device, count, ranges);
    copy_ranges(count, ranges, false);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkCmdCopyBuffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                                       uint32_t count, const VkBufferCopy *regions) {
    pthread_mutex_lock(&shim_lock);
    shim.copies++;
    pthread_mutex_unlock(&shim_lock);
    REAL(vkCmdCopyBuffer)(commands, from, to, count, regions);
}

const struct shim_entry shim_memory_entries[] = {
    ENTRY(vkGetPhysicalDeviceMemoryProperties),
    ENTRY(vkGetBufferMemoryRequirements),
    ENTRY(vkGetImageMemoryRequirements),
    ENTRY(vkAllocateMemory),
    ENTRY(vkFreeMemory),
    ENTRY(vkMapMemory),
    ENTRY(vkFlushMappedMemoryRanges),
    ENTRY(vkInvalidateMappedMemoryRanges),
    ENTRY(vkCmdCopyBuffer),
    {NULL, NULL},
};
