// SPDX-License-Identifier: MIT
#include "vulkan_shim_parts.h"

#include <dlfcn.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT struct shim *shim_get(void);
EXPORT PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name);

struct shim shim;
pthread_mutex_t shim_lock = PTHREAD_MUTEX_INITIALIZER;
static VkInstance last_instance; // through whose trampolines every device can be reached
static PFN_vkGetInstanceProcAddr real_get;

struct shim *shim_get(void) {
    return &shim;
}

PFN_vkVoidFunction shim_real(const char *name) {
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

VkResult shim_fate(const char *name) {
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&shim_lock);
    const bool is_meant = shim.fail_in == NULL || strcmp(name, shim.fail_in) == 0;
    if (is_meant && ++shim.calls == shim.fail_at) {
        shim.failed = name;
        result = (VkResult)shim.fail_with;
    } else if (shim.stays_lost && shim.failed != NULL &&
               (strcmp(name, "vkQueueSubmit") == 0 || strncmp(name, "vkWait", 6) == 0 ||
                strcmp(name, "vkQueueWaitIdle") == 0)) {
        result = (VkResult)shim.fail_with;
    }
    pthread_mutex_unlock(&shim_lock);
    return result;
}

void shim_live(VkResult result, int64_t change) {
    pthread_mutex_lock(&shim_lock);
    if (result == VK_SUCCESS)
        shim.live += change;
    pthread_mutex_unlock(&shim_lock);
}

void shim_fault(bool is_fault) {
    pthread_mutex_lock(&shim_lock);
    shim.faults += is_fault;
    pthread_mutex_unlock(&shim_lock);
}

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

// It waits in any case: what the driver behind it still does needs what is about to be destroyed.
static VKAPI_ATTR VkResult VKAPI_CALL shim_vkQueueWaitIdle(VkQueue queue) {
    const VkResult fate = shim_fate("vkQueueWaitIdle");
    const VkResult result = REAL(vkQueueWaitIdle)(queue);
    return fate != VK_SUCCESS ? fate : result;
}

// ----------------------------------------------------------------------- objects, which are counted

#define OBJECT(create, create_info, destroy, type)                                                           \
    static VKAPI_ATTR VkResult VKAPI_CALL shim_##create(                                                     \
        VkDevice device, const create_info *info, const VkAllocationCallbacks *callbacks, type *object) {    \
        FAILS(create);                                                                                       \
        VkResult result = REAL(create)(device, info, callbacks, object);                                     \
        shim_live(result, 1);                                                                                \
        return result;                                                                                       \
    }                                                                                                        \
    static VKAPI_ATTR void VKAPI_CALL shim_##destroy(VkDevice device, type object,                           \
                                                     const VkAllocationCallbacks *callbacks) {               \
        shim_fault(object == VK_NULL_HANDLE);                                                                \
        shim_live(VK_SUCCESS, -1);                                                                           \
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
        pthread_mutex_lock(&shim_lock);
        shim.given += right ? shim.kept : 0;
        shim.faults += !right;
        pthread_mutex_unlock(&shim_lock);
        changed.initialDataSize = DRIVER_HEADER;
    }
    VkResult result = REAL(vkCreatePipelineCache)(device, &changed, callbacks, cache);
    shim_live(result, 1);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkDestroyPipelineCache(VkDevice device, VkPipelineCache cache,
                                                              const VkAllocationCallbacks *callbacks) {
    shim_fault(cache == VK_NULL_HANDLE);
    shim_live(VK_SUCCESS, -1);
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
    pthread_mutex_lock(&shim_lock);
    shim.merged += count;
    pthread_mutex_unlock(&shim_lock);
    return REAL(vkMergePipelineCaches)(device, into, count, from);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkCreateComputePipelines(VkDevice device, VkPipelineCache cache,
                                                                    uint32_t count,
                                                                    const VkComputePipelineCreateInfo *infos,
                                                                    const VkAllocationCallbacks *callbacks,
                                                                    VkPipeline *pipelines) {
    FAILS(vkCreateComputePipelines);
    VkResult result = VK_SUCCESS;
    if (shim.is_hollow)
        *pipelines = (VkPipeline)&shim;
    else
        result = REAL(vkCreateComputePipelines)(device, cache, count, infos, callbacks, pipelines);
    shim_live(result, count);
    const VkSpecializationInfo *constants = infos[0].stage.pSpecializationInfo;
    pthread_mutex_lock(&shim_lock);
    if (constants != NULL && constants->dataSize == sizeof(shim.constants[0]))
        memcpy(shim.constants[shim.pipelines % 2], constants->pData, constants->dataSize);
    shim.pipelines += count;
    pthread_mutex_unlock(&shim_lock);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkDestroyPipeline(VkDevice device, VkPipeline pipeline,
                                                         const VkAllocationCallbacks *callbacks) {
    shim_fault(pipeline == VK_NULL_HANDLE);
    shim_live(VK_SUCCESS, -1);
    if (!shim.is_hollow)
        REAL(vkDestroyPipeline)(device, pipeline, callbacks);
}

static VKAPI_ATTR VkResult VKAPI_CALL shim_vkCreateInstance(const VkInstanceCreateInfo *info,
                                                            const VkAllocationCallbacks *callbacks,
                                                            VkInstance *instance) {
    FAILS(vkCreateInstance);
    VkResult result = REAL(vkCreateInstance)(info, callbacks, instance);
    if (result == VK_SUCCESS)
        last_instance = *instance;
    shim_live(result, 1);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkDestroyInstance(VkInstance instance,
                                                         const VkAllocationCallbacks *callbacks) {
    PFN_vkDestroyInstance destroy = REAL(vkDestroyInstance);
    shim_live(VK_SUCCESS, -1);
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
    shim_live(result, 1);
    return result;
}

static VKAPI_ATTR void VKAPI_CALL shim_vkDestroyDevice(VkDevice device,
                                                       const VkAllocationCallbacks *callbacks) {
    shim_live(VK_SUCCESS, -1);
    REAL(vkDestroyDevice)(device, callbacks);
}

// ------------------------------------------------------------------------------------------------- lookups

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL shim_vkGetDeviceProcAddr(VkDevice device, const char *name) {
    (void)device;
    return vkGetInstanceProcAddr(last_instance, name);
}

static const struct shim_entry wrapped[] = {
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
    ENTRY(vkGetDeviceProcAddr),
    {NULL, NULL},
};

static PFN_vkVoidFunction find(const struct shim_entry *entry, const char *name) {
    while (entry->name != NULL && strcmp(entry->name, name) != 0)
        entry++;
    return entry->function;
}

PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name) {
    (void)instance;
    PFN_vkVoidFunction function = find(wrapped, name);
    if (function == NULL)
        function = find(shim_memory_entries, name);
    if (function == NULL)
        function = find(shim_lie_entries, name);
    return function != NULL ? function : shim_real(name);
}
