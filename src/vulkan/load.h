// SPDX-License-Identifier: MIT
//
// Vulkan's functions, opened at run time into tables that belong to an instance and a device: volk's types,
// never its globals, so that a program which uses volk itself can link this library.
#ifndef ROPE2D_VULKAN_LOAD_H
#define ROPE2D_VULKAN_LOAD_H

#include "../internal.h"

#define VK_NO_PROTOTYPES
#include <volk.h>

#define VULKAN_INSTANCE_FUNCTIONS(X)                                                                         \
    X(vkDestroyInstance)                                                                                     \
    X(vkEnumeratePhysicalDevices)                                                                            \
    X(vkGetPhysicalDeviceProperties)                                                                         \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                              \
    X(vkGetPhysicalDeviceMemoryProperties)                                                                   \
    X(vkGetPhysicalDeviceFormatProperties)                                                                   \
    X(vkEnumerateDeviceExtensionProperties)                                                                  \
    X(vkCreateDevice)                                                                                        \
    X(vkGetDeviceProcAddr)

#define VULKAN_DEVICE_FUNCTIONS(X)                                                                           \
    X(vkDestroyDevice)                                                                                       \
    X(vkGetDeviceQueue)                                                                                      \
    X(vkQueueSubmit)                                                                                         \
    X(vkQueueWaitIdle)                                                                                       \
    X(vkAllocateMemory)                                                                                      \
    X(vkFreeMemory)                                                                                          \
    X(vkMapMemory)                                                                                           \
    X(vkFlushMappedMemoryRanges)                                                                             \
    X(vkInvalidateMappedMemoryRanges)                                                                        \
    X(vkCreateBuffer)                                                                                        \
    X(vkDestroyBuffer)                                                                                       \
    X(vkGetBufferMemoryRequirements)                                                                         \
    X(vkBindBufferMemory)                                                                                    \
    X(vkCreateImage)                                                                                         \
    X(vkDestroyImage)                                                                                        \
    X(vkGetImageMemoryRequirements)                                                                          \
    X(vkBindImageMemory)                                                                                     \
    X(vkCreateImageView)                                                                                     \
    X(vkDestroyImageView)                                                                                    \
    X(vkCreatePipelineCache)                                                                                 \
    X(vkDestroyPipelineCache)                                                                                \
    X(vkGetPipelineCacheData)                                                                                \
    X(vkMergePipelineCaches)                                                                                 \
    X(vkCreateSampler)                                                                                       \
    X(vkDestroySampler)                                                                                      \
    X(vkCreateShaderModule)                                                                                  \
    X(vkDestroyShaderModule)                                                                                 \
    X(vkCreateDescriptorSetLayout)                                                                           \
    X(vkDestroyDescriptorSetLayout)                                                                          \
    X(vkCreatePipelineLayout)                                                                                \
    X(vkDestroyPipelineLayout)                                                                               \
    X(vkCreateComputePipelines)                                                                              \
    X(vkDestroyPipeline)                                                                                     \
    X(vkCreateDescriptorPool)                                                                                \
    X(vkDestroyDescriptorPool)                                                                               \
    X(vkAllocateDescriptorSets)                                                                              \
    X(vkUpdateDescriptorSets)                                                                                \
    X(vkCreateCommandPool)                                                                                   \
    X(vkDestroyCommandPool)                                                                                  \
    X(vkAllocateCommandBuffers)                                                                              \
    X(vkBeginCommandBuffer)                                                                                  \
    X(vkEndCommandBuffer)                                                                                    \
    X(vkCreateFence)                                                                                         \
    X(vkDestroyFence)                                                                                        \
    X(vkResetFences)                                                                                         \
    X(vkWaitForFences)                                                                                       \
    X(vkCmdBindPipeline)                                                                                     \
    X(vkCmdBindDescriptorSets)                                                                               \
    X(vkCmdPushConstants)                                                                                    \
    X(vkCmdDispatch)                                                                                         \
    X(vkCmdCopyBuffer)                                                                                       \
    X(vkCmdCopyBufferToImage)                                                                                \
    X(vkCmdPipelineBarrier)

// The loader, an instance, and the functions that need no device. An instance may be half-built: destroy
// accepts it, zeroed memory too.
struct vulkan_instance {
    void *library;
    VkInstance handle;
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
    PFN_vkCreateInstance vkCreateInstance;
    PFN_vkEnumerateInstanceExtensionProperties vkEnumerateInstanceExtensionProperties;
    PFN_vkEnumerateInstanceVersion vkEnumerateInstanceVersion; // NULL on Vulkan 1.0
#define VULKAN_MEMBER(name) PFN_##name name;
    VULKAN_INSTANCE_FUNCTIONS(VULKAN_MEMBER)
#undef VULKAN_MEMBER
    PFN_vkGetPhysicalDeviceProperties2 vkGetPhysicalDeviceProperties2; // NULL where neither 1.1 nor the
                                                                       // extension is there
};

// Opens the loader: what the environment variable ROPE2D_VULKAN_LOADER names, or the system's.
rope2d_status rope2d_vulkan_load(struct vulkan_instance *instance, const rope2d_host *host);
// Fills the functions of instance->handle. `properties2` is the name of vkGetPhysicalDeviceProperties2, or
// NULL.
rope2d_status rope2d_vulkan_load_instance(struct vulkan_instance *instance, const rope2d_host *host,
                                          const char *properties2);
rope2d_status rope2d_vulkan_load_device(const struct vulkan_instance *instance, VkDevice device,
                                        struct VolkDeviceTable *table, const rope2d_host *host);
void rope2d_vulkan_instance_destroy(struct vulkan_instance *instance);

// "VK_ERROR_DEVICE_LOST" and so on.
const char *rope2d_vulkan_result_name(VkResult result);
// Logs a failed call and returns the status that its result stands for.
rope2d_status rope2d_vulkan_fail(const rope2d_host *host, VkResult result, const char *call);

// What a call has returned: logs its name and jumps to `fail` unless it succeeded. Needs `host` and `status`.
#define VK_RESULT(result, name)                                                                              \
    do {                                                                                                     \
        VkResult vk_result = (result);                                                                       \
        if (vk_result != VK_SUCCESS) {                                                                       \
            status = rope2d_vulkan_fail(host, vk_result, name);                                              \
            goto fail;                                                                                       \
        }                                                                                                    \
    } while (0)

// Calls a function of a table.
#define VK(table, name, ...) VK_RESULT((table).name(__VA_ARGS__), #name)

// The same for a call that makes an object. What a failed call leaves in the handle is not worth keeping.
#define VK_CREATE(handle, table, name, ...)                                                                  \
    do {                                                                                                     \
        VkResult vk_made = (table).name(__VA_ARGS__);                                                        \
        if (vk_made != VK_SUCCESS)                                                                           \
            (handle) = VK_NULL_HANDLE;                                                                       \
        VK_RESULT(vk_made, #name);                                                                           \
    } while (0)

#endif
