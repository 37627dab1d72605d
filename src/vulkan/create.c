// SPDX-License-Identifier: MIT
#include "../backend.h"
#include "apply.h"
#include "cache.h"
#include "compile.h"
#include "device.h"
#include "lane.h"
#include "pool.h"
#include "shader.h"

#include <string.h>

#define MOST_ARENA_BYTES  (256u * 1024 * 1024) // keeps a dispatch far below any watchdog's patience
#define LEAST_ARENA_BYTES (1024u * 1024)

#define SUBSET     "VK_KHR_portability_subset"
#define FLOAT16    "VK_KHR_shader_float16_int8"
#define ROBUSTNESS "VK_EXT_pipeline_robustness"

static rope2d_status pick_physical(struct vulkan_device *device, const rope2d_host *host, uint32_t index) {
    VkPhysicalDevice *list = NULL;
    uint32_t capacity = 0;
    uint32_t count = 0;
    rope2d_status status = rope2d_vulkan_physical_list(&device->instance, host, &list, &capacity, &count);
    if (status == ROPE2D_OK && index < count)
        device->physical = list[index];
    else if (status == ROPE2D_OK)
        status =
            rope2d_fail(host, ROPE2D_ERROR_DEVICE_INDEX, "index is %u; Vulkan has %u devices", index, count);
    rope2d_release(host, list, capacity, sizeof(*list));
    return status;
}

// What the device can have; nothing where it cannot be asked.
static void ask_features(const struct vulkan_device *device, VkPhysicalDeviceFeatures2 *features) {
    const struct vulkan_instance *instance = &device->instance;
    PFN_vkGetPhysicalDeviceFeatures2 get = NULL;
    if ((device->owner->flags & ROPE2D_DEVICE_MINIMUM_LIMITS) != 0 ||
        instance->vkGetPhysicalDeviceProperties2 == NULL)
        return;
    PFN_vkVoidFunction function =
        instance->vkGetInstanceProcAddr(instance->handle, "vkGetPhysicalDeviceFeatures2");
    if (function == NULL)
        function = instance->vkGetInstanceProcAddr(instance->handle, "vkGetPhysicalDeviceFeatures2KHR");
    if (function == NULL)
        return;
    memcpy(&get, &function, sizeof(function));
    get(device->physical, features);
}

static rope2d_status create_handle(struct vulkan_device *device, const rope2d_host *host, bool *converted) {
    rope2d_status status = ROPE2D_OK;
    struct vulkan_instance *instance = &device->instance;
    VkPhysicalDevicePipelineRobustnessFeaturesEXT robustness = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT};
    VkPhysicalDeviceShaderFloat16Int8FeaturesKHR float16 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES_KHR};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    if (rope2d_vulkan_has_extension(instance, host, device->physical, ROBUSTNESS))
        features.pNext = &robustness;
    if (rope2d_vulkan_has_extension(instance, host, device->physical, FLOAT16)) {
        float16.pNext = features.pNext;
        features.pNext = &float16;
    }
    ask_features(device, &features);
    const VkPhysicalDeviceFeatures enabled = {.shaderInt64 = device->owner->info.is_software &&
                                                             features.features.shaderInt64};
    ROPE2D_TRY(rope2d_vulkan_queue_family(instance, host, device->physical, &device->queue_family));

    // A device that implements only a part of Vulkan says so by an extension that must then be enabled.
    const char *extensions[3];
    void *chain = NULL;
    uint32_t count = 0;
    if (rope2d_vulkan_has_extension(instance, host, device->physical, SUBSET))
        extensions[count++] = SUBSET;
    device->has_robustness = robustness.pipelineRobustness != VK_FALSE;
    if (device->has_robustness) {
        extensions[count++] = ROBUSTNESS;
        chain = &robustness;
    }
    *converted = float16.shaderFloat16 != VK_FALSE;
    float16.shaderInt8 = VK_FALSE;
    float16.pNext = chain;
    if (*converted) {
        extensions[count++] = FLOAT16;
        chain = &float16;
    }
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = device->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = chain,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
        .pEnabledFeatures = &enabled,
    };
    VK_CREATE(device->handle, *instance, vkCreateDevice, device->physical, &info, NULL, &device->handle);
    ROPE2D_TRY(rope2d_vulkan_load_device(instance, device->handle, &device->vk, host));
    device->vk.vkGetDeviceQueue(device->handle, device->queue_family, 0, &device->queue);
    device->has_int64 = enabled.shaderInt64 != VK_FALSE;
    return ROPE2D_OK;

fail:
    return status;
}

// Fetched by whole texels: no filter and no wrapping ever applies.
static rope2d_status create_sampler(struct vulkan_device *device, const rope2d_host *host) {
    rope2d_status status = ROPE2D_OK;
    VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = VK_FILTER_NEAREST,
        .minFilter = VK_FILTER_NEAREST,
        .mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST,
        .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
        .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
    };
    VK_CREATE(device->sampler, device->vk, vkCreateSampler, device->handle, &info, device->allocation,
              &device->sampler);
    return ROPE2D_OK;

fail:
    return status;
}

static void choose_sizes(struct vulkan_device *device, const rope2d_device_info *info) {
    device->group_size = info->max_group_size < 64 ? info->max_group_size : 64;
    device->vector_group = info->max_group_size < 128 ? info->max_group_size & ~7u : 128; // R_LANES_TOGETHER
    device->arena_bytes = info->memory_bytes / 8;
    if (device->arena_bytes > MOST_ARENA_BYTES)
        device->arena_bytes = MOST_ARENA_BYTES;
    if (device->arena_bytes < LEAST_ARENA_BYTES)
        device->arena_bytes = LEAST_ARENA_BYTES;
}

rope2d_status rope2d_vulkan_parts_create(struct vulkan_device *device, rope2d_device *owner) {
    const rope2d_host *host = &owner->host;
    const rope2d_device_info *info = &owner->info;
    owner->has_near_runs = rope2d_vulkan_keeps_order(info);
    owner->has_long_runs = info->is_software && !owner->has_near_runs;
    if (!rope2d_lock_create(&device->queue_lock) || !rope2d_lock_create(&device->lane_lock) ||
        !rope2d_lock_create(&device->pool_lock) || !rope2d_lock_create(&device->kernel_lock) ||
        !rope2d_lock_create(&device->retire_lock))
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: the system has no lock left");
    ROPE2D_TRY(rope2d_vulkan_check_limits(&device->instance, host, device->physical, info));
    rope2d_vulkan_describe_memory(&device->instance, device->physical, &device->memory);
    choose_sizes(device, info);
    ROPE2D_TRY(rope2d_vulkan_cache_create(device));
    ROPE2D_TRY(rope2d_vulkan_layout_create(device, 0));
    if (!info->has_textures)
        return ROPE2D_OK;
    ROPE2D_TRY(create_sampler(device, host));
    return rope2d_vulkan_layout_create(device, 1);
}

void rope2d_vulkan_queue_take(struct vulkan_device *device) {
    rope2d_lock_take(&device->queue_lock);
    if (device->lock_queue != NULL)
        device->lock_queue(device->queue_user, device->queue);
}

void rope2d_vulkan_queue_give(struct vulkan_device *device) {
    if (device->unlock_queue != NULL)
        device->unlock_queue(device->queue_user, device->queue);
    rope2d_lock_give(&device->queue_lock);
}

rope2d_status rope2d_vulkan_device_create(rope2d_device *device, const rope2d_device_params *params) {
    const rope2d_host *host = &device->host;
    struct vulkan_device *vulkan = rope2d_allocate(host, 1, sizeof(*vulkan));
    if (vulkan == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for a device");
    device->impl = vulkan;
    vulkan->owner = device;
    device->drain = rope2d_vulkan_drain;
    if (device->flags & ROPE2D_DEVICE_RUNTIME_COMPILE)
        ROPE2D_TRY(rope2d_vulkan_compile_check(host));
    ROPE2D_TRY(rope2d_vulkan_instance_create(&vulkan->instance, host));
    ROPE2D_TRY(pick_physical(vulkan, host, params->index));
    rope2d_vulkan_describe(&vulkan->instance, host, vulkan->physical, params->index,
                           (device->flags & ROPE2D_DEVICE_MINIMUM_LIMITS) != 0, &device->info);
    bool converts = false;
    ROPE2D_TRY(create_handle(vulkan, host, &converts));
    device->converts = converts ? ROPE2D_CONVERTS_PERHAPS : ROPE2D_CONVERTS_NOT;
    return rope2d_vulkan_parts_create(vulkan, device);
}

void rope2d_vulkan_device_destroy(rope2d_device *device) {
    struct vulkan_device *vulkan = rope2d_vulkan_of(device);
    if (vulkan == NULL)
        return;
    rope2d_vulkan_lanes_destroy(vulkan);
    rope2d_vulkan_pool_destroy(vulkan);
    rope2d_vulkan_shaders_destroy(vulkan);
    rope2d_vulkan_layout_destroy(vulkan, 0);
    rope2d_vulkan_layout_destroy(vulkan, 1);
    rope2d_vulkan_cache_destroy(vulkan);
    if (vulkan->sampler != VK_NULL_HANDLE)
        vulkan->vk.vkDestroySampler(vulkan->handle, vulkan->sampler, vulkan->allocation);
    if (vulkan->handle != NULL && !vulkan->is_adopted) {
        // A device whose functions never loaded is destroyed through the instance's own lookup.
        if (vulkan->vk.vkDestroyDevice == NULL) {
            PFN_vkVoidFunction found =
                vulkan->instance.vkGetDeviceProcAddr(vulkan->handle, "vkDestroyDevice");
            memcpy(&vulkan->vk.vkDestroyDevice, &found, sizeof(found));
        }
        if (vulkan->vk.vkDestroyDevice != NULL)
            vulkan->vk.vkDestroyDevice(vulkan->handle, NULL);
    }
    if (!vulkan->is_adopted)
        rope2d_vulkan_instance_destroy(&vulkan->instance);
    rope2d_lock_destroy(&vulkan->queue_lock);
    rope2d_lock_destroy(&vulkan->lane_lock);
    rope2d_lock_destroy(&vulkan->pool_lock);
    rope2d_lock_destroy(&vulkan->kernel_lock);
    rope2d_lock_destroy(&vulkan->retire_lock);
    rope2d_release(&device->host, vulkan, 1, sizeof(*vulkan));
    device->impl = NULL;
}

const rope2d_backend_ops rope2d_vulkan_ops = {
    .name = "Vulkan",
    .enumerate = rope2d_vulkan_enumerate,
    .device_create = rope2d_vulkan_device_create,
    .device_destroy = rope2d_vulkan_device_destroy,
    .positions_create = rope2d_vulkan_positions_create,
    .positions_destroy = rope2d_vulkan_positions_destroy,
    .plan_create = rope2d_vulkan_plan_create,
    .plan_destroy = rope2d_vulkan_plan_destroy,
    .apply = rope2d_vulkan_apply,
    .dispatches = rope2d_vulkan_dispatches,
    .cache_key = rope2d_vulkan_cache_key,
    .cache_get = rope2d_vulkan_cache_get,
    .cache_set = rope2d_vulkan_cache_set,
};
