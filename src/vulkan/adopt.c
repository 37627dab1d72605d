// SPDX-License-Identifier: MIT
//
// A device that belongs to the caller.
#include "../backend.h"
#include "compile.h"
#include "device.h"
#include "memory.h"
#include "pool.h"

#include "rope2d/rope2d_vulkan.h"

#include <inttypes.h>
#include <string.h>

static rope2d_status check_allocation(const rope2d_host *host, const VkAllocationCallbacks *allocation) {
    if (allocation == NULL || (allocation->pfnAllocation != NULL && allocation->pfnReallocation != NULL &&
                               allocation->pfnFree != NULL))
        return ROPE2D_OK;
    return rope2d_fail(host, ROPE2D_ERROR_NULL, "params.allocation->%s is NULL",
                       allocation->pfnAllocation == NULL     ? "pfnAllocation"
                       : allocation->pfnReallocation == NULL ? "pfnReallocation"
                                                             : "pfnFree");
}

static rope2d_status check_small(const rope2d_host *host, const rope2d_vulkan_place *small) {
    if (small->memory != VK_NULL_HANDLE)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH,
                           "%s.memory is given; must be VK_NULL_HANDLE: it is a range of a buffer",
                           "params.small");
    if (small->offset % ROPE2D_VULKAN_SMALL_ALIGNMENT != 0)
        return rope2d_fail(host, ROPE2D_ERROR_TENSOR_ALIGNMENT,
                           "params.small.offset is %" PRIu64 "; must be a multiple of %d", small->offset,
                           ROPE2D_VULKAN_SMALL_ALIGNMENT);
    if (small->buffer == VK_NULL_HANDLE && small->size == 0 && small->offset == 0 && small->mapped == NULL)
        return ROPE2D_OK;
    if (small->buffer == VK_NULL_HANDLE || small->mapped == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "params.small.%s is NULL, and the rest is not",
                           small->buffer == VK_NULL_HANDLE ? "buffer" : "mapped");
    if (small->size < ROPE2D_VULKAN_SMALL_ALIGNMENT)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT, "params.small.size is %" PRIu64 "; at least %d",
                           small->size, ROPE2D_VULKAN_SMALL_ALIGNMENT);
    return ROPE2D_OK;
}

static rope2d_status check_feature(const rope2d_host *host, const char *name, uint32_t value) {
    if (value <= 1)
        return ROPE2D_OK;
    return rope2d_fail(host, ROPE2D_ERROR_ENUM, "params.has_%s is %u; it is 0 or 1", name, value);
}

static rope2d_status check_params(const rope2d_host *host, const rope2d_vulkan_device_params *params) {
    const uint32_t known = ROPE2D_DEVICE_MINIMUM_LIMITS | ROPE2D_DEVICE_RUNTIME_COMPILE;
    const char *missing = NULL;
    if (params->get_instance_proc_addr == NULL)
        missing = "get_instance_proc_addr";
    else if (params->instance == NULL)
        missing = "instance";
    else if (params->physical_device == NULL)
        missing = "physical_device";
    else if (params->device == NULL)
        missing = "device";
    if (missing != NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "params.%s is NULL", missing);
    if ((params->lock_queue == NULL) != (params->unlock_queue == NULL))
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "params.%s is NULL, and the other callback is not",
                           params->lock_queue == NULL ? "lock_queue" : "unlock_queue");
    ROPE2D_TRY(check_feature(host, "shader_float16", params->has_shader_float16));
    ROPE2D_TRY(check_feature(host, "shader_int64", params->has_shader_int64));
    ROPE2D_TRY(check_feature(host, "pipeline_robustness", params->has_pipeline_robustness));
    ROPE2D_TRY(check_allocation(host, params->allocation));
    ROPE2D_TRY(check_small(host, &params->small));
    if (params->api_version != 0 && params->api_version >> 22 != 1) // variant 0, major 1
        return rope2d_fail(host, ROPE2D_ERROR_ENUM,
                           "params.api_version is 0x%x; must be 0 or VK_API_VERSION_1_0 (0x%x) or later",
                           params->api_version, (unsigned)VK_API_VERSION_1_0);
    if (params->flags & ~known)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "params.flags is 0x%x; this version knows 0x%x",
                           params->flags, known);
    return ROPE2D_OK;
}

static rope2d_status check_family(const struct vulkan_device *vulkan, const rope2d_host *host) {
    uint32_t count = 0;
    vulkan->instance.vkGetPhysicalDeviceQueueFamilyProperties(vulkan->physical, &count, NULL);
    if (vulkan->queue_family < count)
        return ROPE2D_OK;
    return rope2d_fail(host, ROPE2D_ERROR_DEVICE_INDEX, "params.queue_family is %u; the device has %u",
                       vulkan->queue_family, count);
}

static void take_handles(struct vulkan_device *vulkan, const rope2d_vulkan_device_params *params) {
    vulkan->is_adopted = true;
    vulkan->instance.handle = params->instance;
    vulkan->instance.vkGetInstanceProcAddr = params->get_instance_proc_addr;
    vulkan->physical = params->physical_device;
    vulkan->handle = params->device;
    vulkan->queue = params->queue;
    vulkan->queue_family = params->queue_family;
    vulkan->lock_queue = params->lock_queue;
    vulkan->unlock_queue = params->unlock_queue;
    vulkan->queue_user = params->queue_user;
    vulkan->pipeline_cache = params->pipeline_cache;
    if (params->allocation != NULL) {
        vulkan->callbacks = *params->allocation;
        vulkan->allocation = &vulkan->callbacks;
    }
}

static rope2d_status load_push(struct vulkan_device *vulkan, const rope2d_host *host) {
    const PFN_vkVoidFunction found =
        vulkan->instance.vkGetDeviceProcAddr(vulkan->handle, "vkCmdPushDescriptorSetKHR");
    if (found == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_UNSUPPORTED,
                           "params.has_push_descriptors is set, and the device has no "
                           "vkCmdPushDescriptorSetKHR");
    memcpy(&vulkan->vk.vkCmdPushDescriptorSetKHR, &found, sizeof(found));
    vulkan->pushes = true;
    return ROPE2D_OK;
}

static rope2d_status adopt(rope2d_device *device, const void *data) {
    const rope2d_vulkan_device_params *params = data;
    const rope2d_host *host = &device->host;
    struct vulkan_device *vulkan = rope2d_allocate(host, 1, sizeof(*vulkan));
    if (vulkan == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for a device");
    device->impl = vulkan;
    vulkan->owner = device;
    device->drain = rope2d_vulkan_drain;
    device->flags |= params->flags;
    device->dispatch_bytes = params->dispatch_bytes;
    device->lacks_queue = params->queue == NULL;
    take_handles(vulkan, params);
    if (device->flags & ROPE2D_DEVICE_RUNTIME_COMPILE)
        ROPE2D_TRY(rope2d_vulkan_compile_check(host));
    const char *properties2 =
        params->api_version >= VK_API_VERSION_1_1 ? "vkGetPhysicalDeviceProperties2" : NULL;
    ROPE2D_TRY(rope2d_vulkan_load_instance(&vulkan->instance, host, properties2));
    ROPE2D_TRY(rope2d_vulkan_load_device(&vulkan->instance, vulkan->handle, &vulkan->vk, host));
    if (params->has_push_descriptors)
        ROPE2D_TRY(load_push(vulkan, host));
    if (params->has_shader_float16 && (device->flags & ROPE2D_DEVICE_MINIMUM_LIMITS) == 0)
        device->converts = ROPE2D_CONVERTS_PERHAPS;
    vulkan->has_int64 = params->has_shader_int64 && (device->flags & ROPE2D_DEVICE_MINIMUM_LIMITS) == 0;
    vulkan->has_robustness =
        params->has_pipeline_robustness && (device->flags & ROPE2D_DEVICE_MINIMUM_LIMITS) == 0;
    if (!device->lacks_queue)
        ROPE2D_TRY(check_family(vulkan, host));
    rope2d_vulkan_describe(&vulkan->instance, host, vulkan->physical, 0,
                           (device->flags & ROPE2D_DEVICE_MINIMUM_LIMITS) != 0, &device->info);
    if (device->lacks_queue) // a texture is filled by a copy, which the caller must record
        device->info.default_table = ROPE2D_TABLE_BUFFER;
    if (params->small.buffer != VK_NULL_HANDLE) {
        ROPE2D_TRY(rope2d_vulkan_range_check(vulkan, "params.small", params->small.buffer,
                                             params->small.offset, params->small.size));
        ROPE2D_TRY(rope2d_vulkan_pool_adopt(vulkan, params->small.buffer, params->small.offset,
                                            params->small.size, params->small.mapped));
    }
    return rope2d_vulkan_parts_create(vulkan, device);
}

rope2d_status rope2d_vulkan_device_adopt(const rope2d_vulkan_device_params *params, rope2d_device **device) {
    if (device != NULL)
        *device = NULL;
    if (params == NULL)
        return ROPE2D_ERROR_NULL;
    if (params->struct_size != sizeof(*params))
        return ROPE2D_ERROR_STRUCT_SIZE; // where its host stands is not known
    ROPE2D_TRY(rope2d_host_check(params->host));
    const rope2d_host host = rope2d_host_resolve(params->host);
    if (device == NULL)
        return rope2d_fail(&host, ROPE2D_ERROR_NULL, "device is NULL");
    ROPE2D_TRY(check_params(&host, params));
    return rope2d_device_adopt(ROPE2D_BACKEND_VULKAN, params->host, adopt, params, device);
}
