// SPDX-License-Identifier: MIT
#include "vulkan_shim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT struct shim *shim_get(void);
EXPORT PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name);

static struct shim shim;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VkInstance last_instance; // through whose trampolines every device can be reached
static PFN_vkGetInstanceProcAddr real_get;

struct shim *shim_get(void) {
    return &shim;
}

static PFN_vkVoidFunction real(const char *name) {
    if (real_get == NULL) {
        void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
        void *found = library != NULL ? dlsym(library, "vkGetInstanceProcAddr") : NULL;
        memcpy(&real_get, &found, sizeof(real_get));
    }
    if (real_get == NULL)
        return NULL;
    PFN_vkVoidFunction function = real_get(last_instance, name);
    return function != NULL ? function : real_get(NULL, name);
}

// Counts a call that can fail, and says what it is to return.
static VkResult fate(const char *name) {
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&lock);
    if (++shim.calls == shim.fail_at) {
        shim.failed = name;
        result = (VkResult)shim.fail_with;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void live(VkResult result, int64_t change) {
    pthread_mutex_lock(&lock);
    if (result == VK_SUCCESS)
        shim.live += change;
    pthread_mutex_unlock(&lock);
}

static void fault(bool is_fault) {
    pthread_mutex_lock(&lock);
    shim.faults += is_fault;
    pthread_mutex_unlock(&lock);
}

#define REAL(name) ((PFN_##name)real(#name))

#define FAILS(name)                                                                                          \
    do {                                                                                                     \
        VkResult shim_fate = fate(#name);                                                                    \
        if (shim_fate != VK_SUCCESS)                                                                         \
            return shim_fate;                                                                                \
    } while (0)

// -------------------------------------------------------------------------------------- calls that only fail
// Parameters, arguments and types cannot stand in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)

#define CALL(name, parameters, arguments)                                                                    \
    static VKAPI_ATTR VkResult VKAPI_CALL shim_##name parameters {                                           \
        FAILS(name);                                                                                         \
        return REAL(name) arguments;                                                                         \
    }

CALL(vkEnumerateInstanceVersion, (uint32_t * version), (version))
CALL(vkEnumerateInstanceExtensionProperties,
     (const char *layer, uint32_t *count, VkExtensionProperties *list), (layer, count, list))
CALL(vkEnumeratePhysicalDevices, (VkInstance instance, uint32_t *count, VkPhysicalDevice *list),
     (instance, count, list))
CALL(vkEnumerateDeviceExtensionProperties,
     (VkPhysicalDevice physical, const char *layer, uint32_t *count, VkExtensionProperties *list),
     (physical, layer, count, list))
CALL(vkQueueSubmit, (VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence),
     (queue, count, infos, fence))
CALL(vkQueueWaitIdle, (VkQueue queue), (queue))
CALL(vkBindBufferMemory, (VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset),
     (device, buffer, memory, offset))
CALL(vkBindImageMemory, (VkDevice device, VkImage image, VkDeviceMemory memory, VkDeviceSize offset),
     (device, image, memory, offset))
CALL(vkAllocateDescriptorSets,
     (VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *sets), (device, info, sets))
CALL(vkAllocateCommandBuffers,
     (VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers),
     (device, info, buffers))
CALL(vkBeginCommandBuffer, (VkCommandBuffer commands, const VkCommandBufferBeginInfo *info), (commands, info))
CALL(vkEndCommandBuffer, (VkCommandBuffer commands), (commands))
CALL(vkResetFences, (VkDevice device, uint32_t count, const VkFence *fences), (device, count, fences))
CALL(vkWaitForFences,
     (VkDevice device, uint32_t count, const VkFence *fences, VkBool32 all, uint64_t timeout),
     (device, count, fences, all, timeout))

// ----------------------------------------------------------------------- objects, which are counted

#define OBJECT(create, create_info, destroy, type)                                                           \
    static VKAPI_ATTR VkResult VKAPI_CALL shim_##create(                                                     \
        VkDevice device, const create_info *info, const VkAllocationCallbacks *callbacks, type *object) {    \
        FAILS(create);                                                                                       \
        VkResult result = REAL(create)(device, info, callbacks, object);                                     \
        live(result, 1);                                                                                     \
        return result;                                                                                       \
    }                                                                                                        \
    static VKAPI_ATTR void VKAPI_CALL shim_##destroy(VkDevice device, type object,                           \
                                                     const VkAllocationCallbacks *callbacks) {               \
        fault(object == VK_NULL_HANDLE);                                                                     \
        live(VK_SUCCESS, -1);                                                                                \
        REAL(destroy)(device, object, callbacks);                                                            \
    }

OBJECT(vkCreateBuffer, VkBufferCreateInfo, vkDestroyBuffer, VkBuffer)
OBJECT(vkCreateImage, VkImageCreateInfo, vkDestroyImage, VkImage)
OBJECT(vkCreateImageView, VkImageViewCreateInfo, vkDestroyImageView, VkImageView)
OBJECT(vkCreateSampler, VkSamplerCreateInfo, vkDestroySampler, VkSampler)
OBJECT(vkCreateShaderModule, VkShaderModuleCreateInfo, vkDestroyShaderModule, VkShaderModule)
OBJECT(vkCreateDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, vkDestroyDescriptorSetLayout,
       VkDescriptorSetLayout)
OBJECT(vkCreatePipelineLayout, VkPipelineLayoutCreateInfo, vkDestroyPipelineLayout, VkPipelineLayout)
OBJECT(vkCreateDescriptorPool, VkDescriptorPoolCreateInfo, vkDestroyDescriptorPool, VkDescriptorPool)
OBJECT(vkCreateCommandPool, VkCommandPoolCreateInfo, vkDestroyCommandPool, VkCommandPool)
OBJECT(vkCreateFence, VkFenceCreateInfo, vkDestroyFence, VkFence)

// NOLINTEND(bugprone-macro-parentheses)

// ----------------------------------------------------------------------------------------- pipeline caches
// Software drivers have nothing to keep but a header. The shim adds bytes of its own to it, and wants them
// back.

enum { DRIVER_HEADER = 32 };

static unsigned char kept_byte(uint64_t i) {
    return (unsigned char)(i * 7 + 1);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkCreatePipelineCache(VkDevice device,
                                                                 const VkPipelineCacheCreateInfo *info,
                                                                 const VkAllocationCallbacks *callbacks,
                                                                 VkPipelineCache *cache) {
    FAILS(vkCreatePipelineCache);
    VkPipelineCacheCreateInfo changed = *info;
    if (shim.kept > 0 && info->initialDataSize > DRIVER_HEADER) {
        const unsigned char *bytes = info->pInitialData;
        bool right = info->initialDataSize == DRIVER_HEADER + shim.kept;
        for (uint64_t i = 0; right && i < shim.kept; i++)
            right = bytes[DRIVER_HEADER + i] == kept_byte(i);
        pthread_mutex_lock(&lock);
        shim.given += right ? shim.kept : 0;
        shim.faults += !right;
        pthread_mutex_unlock(&lock);
        changed.initialDataSize = DRIVER_HEADER;
    }
    VkResult result = REAL(vkCreatePipelineCache)(device, &changed, callbacks, cache);
    live(result, 1);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkDestroyPipelineCache(VkDevice device, VkPipelineCache cache,
                                                              const VkAllocationCallbacks *callbacks) {
    fault(cache == VK_NULL_HANDLE);
    live(VK_SUCCESS, -1);
    REAL(vkDestroyPipelineCache)(device, cache, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkGetPipelineCacheData(VkDevice device, VkPipelineCache cache,
                                                                  size_t *size, void *data) {
    FAILS(vkGetPipelineCacheData);
    if (shim.kept == 0)
        return REAL(vkGetPipelineCacheData)(device, cache, size, data);
    unsigned char *bytes = data;
    size_t header = DRIVER_HEADER;
    const size_t whole = DRIVER_HEADER + (size_t)shim.kept;
    if (data == NULL) {
        *size = whole;
        return VK_SUCCESS;
    }
    if (*size < whole)
        return VK_INCOMPLETE;
    VkResult result = REAL(vkGetPipelineCacheData)(device, cache, &header, data);
    for (uint64_t i = 0; i < shim.kept; i++)
        bytes[DRIVER_HEADER + i] = kept_byte(i);
    *size = whole;
    return result == VK_INCOMPLETE ? VK_SUCCESS : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkMergePipelineCaches(VkDevice device, VkPipelineCache into,
                                                                 uint32_t count,
                                                                 const VkPipelineCache *from) {
    FAILS(vkMergePipelineCaches);
    pthread_mutex_lock(&lock);
    shim.merged += count;
    pthread_mutex_unlock(&lock);
    return REAL(vkMergePipelineCaches)(device, into, count, from);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache,
                                                                    uint32_t count,
                                                                    const VkComputePipelineCreateInfo *infos,
                                                                    const VkAllocationCallbacks *callbacks,
                                                                    VkPipeline *pipelines) {
    FAILS(vkCreateComputePipelines);
    VkResult result = REAL(vkCreateComputePipelines)(device, cache, count, infos, callbacks, pipelines);
    live(result, count);
    pthread_mutex_lock(&lock);
    shim.pipelines += count;
    pthread_mutex_unlock(&lock);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkDestroyPipeline(VkDevice device, VkPipeline pipeline,
                                                         const VkAllocationCallbacks *callbacks) {
    fault(pipeline == VK_NULL_HANDLE);
    live(VK_SUCCESS, -1);
    REAL(vkDestroyPipeline)(device, pipeline, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkCreateInstance(const VkInstanceCreateInfo *info,
                                                            const VkAllocationCallbacks *callbacks,
                                                            VkInstance *instance) {
    FAILS(vkCreateInstance);
    VkResult result = REAL(vkCreateInstance)(info, callbacks, instance);
    if (result == VK_SUCCESS)
        last_instance = *instance;
    live(result, 1);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkDestroyInstance(VkInstance instance,
                                                         const VkAllocationCallbacks *callbacks) {
    PFN_vkDestroyInstance destroy = REAL(vkDestroyInstance);
    live(VK_SUCCESS, -1);
    if (last_instance == instance)
        last_instance = NULL;
    destroy(instance, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkCreateDevice(VkPhysicalDevice physical,
                                                          const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *callbacks,
                                                          VkDevice *device) {
    FAILS(vkCreateDevice);
    VkResult result = REAL(vkCreateDevice)(physical, info, callbacks, device);
    live(result, 1);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkDestroyDevice(VkDevice device,
                                                       const VkAllocationCallbacks *callbacks) {
    live(VK_SUCCESS, -1);
    REAL(vkDestroyDevice)(device, callbacks);
}

// ------------------------------------------------------------------------------------------------- memory

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
    live(result, 1);
    if (result == VK_SUCCESS && shim.memory != SHIM_MEMORY_REAL) {
        pthread_mutex_lock(&lock);
        struct block *block = find_block(VK_NULL_HANDLE);
        if (block != NULL)
            *block = (struct block){*memory, info->allocationSize, info->memoryTypeIndex, NULL, NULL};
        pthread_mutex_unlock(&lock);
        fault(block == NULL);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkFreeMemory(VkDevice device, VkDeviceMemory memory,
                                                    const VkAllocationCallbacks *callbacks) {
    fault(memory == VK_NULL_HANDLE);
    live(VK_SUCCESS, -1);
    pthread_mutex_lock(&lock);
    struct block *block = memory != VK_NULL_HANDLE ? find_block(memory) : NULL;
    if (block != NULL) {
        free(block->host);
        *block = (struct block){0};
    }
    pthread_mutex_unlock(&lock);
    REAL(vkFreeMemory)(device, memory, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkMapMemory(VkDevice device, VkDeviceMemory memory,
                                                       VkDeviceSize offset, VkDeviceSize size,
                                                       VkMemoryMapFlags flags, void **data) {
    FAILS(vkMapMemory);
    VkResult result = REAL(vkMapMemory)(device, memory, offset, size, flags, data);
    if (result != VK_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
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
    pthread_mutex_unlock(&lock);
    return VK_SUCCESS;
}

// The library flushes and invalidates whole memory, or ranges of whole atoms; anything else is a fault.
static void copy_ranges(uint32_t count, const VkMappedMemoryRange *ranges, bool to_device) {
    enum { ATOM = 256 };
    pthread_mutex_lock(&lock);
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
    pthread_mutex_unlock(&lock);
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
    pthread_mutex_lock(&lock);
    shim.copies++;
    pthread_mutex_unlock(&lock);
    REAL(vkCmdCopyBuffer)(commands, from, to, count, regions);
}

// ------------------------------------------------------------------------------------------------- lookups

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL shim_vkGetDeviceProcAddr(VkDevice device, const char *name) {
    (void)device;
    return vkGetInstanceProcAddr(last_instance, name);
}

#define ENTRY(name)                                                                                          \
    { #name, (PFN_vkVoidFunction)shim_##name }

static const struct {
    const char *name;
    PFN_vkVoidFunction function;
} wrapped[] = {
    ENTRY(vkEnumerateInstanceVersion),
    ENTRY(vkEnumerateInstanceExtensionProperties),
    ENTRY(vkEnumeratePhysicalDevices),
    ENTRY(vkEnumerateDeviceExtensionProperties),
    ENTRY(vkQueueSubmit),
    ENTRY(vkQueueWaitIdle),
    ENTRY(vkBindBufferMemory),
    ENTRY(vkBindImageMemory),
    ENTRY(vkAllocateDescriptorSets),
    ENTRY(vkAllocateCommandBuffers),
    ENTRY(vkBeginCommandBuffer),
    ENTRY(vkEndCommandBuffer),
    ENTRY(vkResetFences),
    ENTRY(vkWaitForFences),
    ENTRY(vkCreateBuffer),
    ENTRY(vkDestroyBuffer),
    ENTRY(vkCreateImage),
    ENTRY(vkDestroyImage),
    ENTRY(vkCreateImageView),
    ENTRY(vkDestroyImageView),
    ENTRY(vkCreateSampler),
    ENTRY(vkDestroySampler),
    ENTRY(vkCreateShaderModule),
    ENTRY(vkDestroyShaderModule),
    ENTRY(vkCreateDescriptorSetLayout),
    ENTRY(vkDestroyDescriptorSetLayout),
    ENTRY(vkCreatePipelineLayout),
    ENTRY(vkDestroyPipelineLayout),
    ENTRY(vkCreatePipelineCache),
    ENTRY(vkDestroyPipelineCache),
    ENTRY(vkGetPipelineCacheData),
    ENTRY(vkMergePipelineCaches),
    ENTRY(vkCreateDescriptorPool),
    ENTRY(vkDestroyDescriptorPool),
    ENTRY(vkCreateCommandPool),
    ENTRY(vkDestroyCommandPool),
    ENTRY(vkCreateFence),
    ENTRY(vkDestroyFence),
    ENTRY(vkCreateComputePipelines),
    ENTRY(vkDestroyPipeline),
    ENTRY(vkCreateInstance),
    ENTRY(vkDestroyInstance),
    ENTRY(vkCreateDevice),
    ENTRY(vkDestroyDevice),
    ENTRY(vkGetPhysicalDeviceMemoryProperties),
    ENTRY(vkGetBufferMemoryRequirements),
    ENTRY(vkGetImageMemoryRequirements),
    ENTRY(vkAllocateMemory),
    ENTRY(vkFreeMemory),
    ENTRY(vkMapMemory),
    ENTRY(vkFlushMappedMemoryRanges),
    ENTRY(vkInvalidateMappedMemoryRanges),
    ENTRY(vkCmdCopyBuffer),
    ENTRY(vkGetDeviceProcAddr),
};

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name) {
    (void)instance;
    for (size_t i = 0; i < sizeof(wrapped) / sizeof(wrapped[0]); i++) {
        if (strcmp(wrapped[i].name, name) == 0)
            return wrapped[i].function;
    }
    return real(name);
}
