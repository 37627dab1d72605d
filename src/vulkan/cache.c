// SPDX-License-Identifier: MIT
//
// The driver's pipeline cache, a record under a key of zeros, and the kernels' modules, records of their own.
// Of a caller's own pipeline cache nothing is read and nothing written.
#include "cache.h"

#include "../embedded.h"

#include <string.h>

enum { DRIVER_HEADER_BYTES = 32, ATTEMPTS = 4 };

static const rope2d_digest driver_key;

static rope2d_status create(struct vulkan_device *device, const void *data, uint64_t size,
                            VkPipelineCache *cache) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                      .initialDataSize = (size_t)size,
                                      .pInitialData = data};
    VK_CREATE(*cache, device->vk, vkCreatePipelineCache, device->handle, &info, device->allocation, cache);
    return ROPE2D_OK;

fail:
    return status;
}

rope2d_status rope2d_vulkan_cache_create(struct vulkan_device *device) {
    if (device->pipeline_cache != VK_NULL_HANDLE)
        return ROPE2D_OK; // the caller's
    ROPE2D_TRY(create(device, NULL, 0, &device->pipeline_cache));
    device->owns_pipeline_cache = true;
    return ROPE2D_OK;
}

void rope2d_vulkan_cache_destroy(struct vulkan_device *device) {
    if (device->owns_pipeline_cache)
        device->vk.vkDestroyPipelineCache(device->handle, device->pipeline_cache, device->allocation);
    device->owns_pipeline_cache = false;
}

static rope2d_status check_owner(const struct vulkan_device *device) {
    if (device->owns_pipeline_cache)
        return ROPE2D_OK;
    return rope2d_fail(&device->owner->host, ROPE2D_ERROR_UNSUPPORTED,
                       "cache: %s was adopted with a VkPipelineCache of the caller's",
                       device->owner->info.name);
}

rope2d_status rope2d_vulkan_cache_key(const rope2d_device *owner, rope2d_sha256 *hash) {
    const struct vulkan_device *device = rope2d_vulkan_of(owner);
    VkPhysicalDeviceProperties properties = {0};
    device->instance.vkGetPhysicalDeviceProperties(device->physical, &properties);
    const uint32_t numbers[] = {properties.vendorID,   properties.deviceID, properties.driverVersion,
                                properties.apiVersion, owner->flags,        rope2d_version()};
    rope2d_sha256_add(hash, numbers, sizeof(numbers));
    rope2d_sha256_add(hash, properties.pipelineCacheUUID, VK_UUID_SIZE);
    rope2d_sha256_add_text(hash, owner->info.name);
    rope2d_sha256_add_text(hash, owner->info.driver);
    if (device->instance.vkGetPhysicalDeviceProperties2 != NULL &&
        properties.apiVersion >= VK_API_VERSION_1_1) {
        VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
        VkPhysicalDeviceProperties2 more = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                            .pNext = &id};
        device->instance.vkGetPhysicalDeviceProperties2(device->physical, &more);
        rope2d_sha256_add(hash, id.deviceUUID, VK_UUID_SIZE);
        rope2d_sha256_add(hash, id.driverUUID, VK_UUID_SIZE);
    }
    for (const struct rope2d_embedded *entry = rope2d_embedded_spirv; entry->name != NULL; entry++)
        rope2d_sha256_add_sized(hash, entry->data, entry->data_size);
    return ROPE2D_OK;
}

// Puts the driver's bytes in front, where there are any.
static rope2d_status add_driver(struct vulkan_device *device, size_t *size) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkResult result = VK_INCOMPLETE;
    for (int i = 0; i < ATTEMPTS && result == VK_INCOMPLETE; i++) { // it grows while other threads compile
        *size = 0;
        VK(device->vk, vkGetPipelineCacheData, device->handle, device->pipeline_cache, size, NULL);
        if (*size == 0)
            return ROPE2D_OK;
        size_t written = *size;
        ROPE2D_TRY(rope2d_record_add(host, &device->modules, &driver_key, NULL, *size));
        result = device->vk.vkGetPipelineCacheData(device->handle, device->pipeline_cache, &written,
                                                   device->modules->bytes);
        if (result == VK_SUCCESS && written == *size)
            return ROPE2D_OK;
        rope2d_record_remove(host, &device->modules, device->modules);
        if (result == VK_SUCCESS)
            result = VK_INCOMPLETE; // fewer bytes than were promised
    }
    VK_RESULT(result, "vkGetPipelineCacheData");

fail:
    return status;
}

rope2d_status rope2d_vulkan_cache_get(rope2d_device *owner, rope2d_blob *part) {
    struct vulkan_device *device = rope2d_vulkan_of(owner);
    size_t size = 0;
    ROPE2D_TRY(check_owner(device));
    rope2d_lock_take(&device->kernel_lock);
    rope2d_status status = add_driver(device, &size);
    if (status == ROPE2D_OK) {
        status = rope2d_records_write(&owner->host, device->modules, part);
        if (size > 0)
            rope2d_record_remove(&owner->host, &device->modules, device->modules);
    }
    rope2d_lock_give(&device->kernel_lock);
    return status;
}

static uint32_t read_32(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// The header that drivers write; they are not all careful readers.
static rope2d_status check_header(const struct vulkan_device *device, const unsigned char *part,
                                  uint64_t size) {
    const rope2d_host *host = &device->owner->host;
    VkPhysicalDeviceProperties properties = {0};
    device->instance.vkGetPhysicalDeviceProperties(device->physical, &properties);
    if (size < DRIVER_HEADER_BYTES || read_32(part) != DRIVER_HEADER_BYTES ||
        read_32(part + 4) != VK_PIPELINE_CACHE_HEADER_VERSION_ONE ||
        read_32(part + 8) != properties.vendorID || read_32(part + 12) != properties.deviceID ||
        memcmp(part + 16, properties.pipelineCacheUUID, VK_UUID_SIZE) != 0)
        return rope2d_fail(host, ROPE2D_ERROR_CACHE,
                           "cache: the driver's header is of another device or version");
    return ROPE2D_OK;
}

static rope2d_status set_driver(struct vulkan_device *device, const unsigned char *part, uint64_t size) {
    rope2d_status status = ROPE2D_OK;
    const rope2d_host *host = &device->owner->host;
    VkPipelineCache loaded = VK_NULL_HANDLE;
    ROPE2D_TRY(check_header(device, part, size));
    ROPE2D_TRY(create(device, part, size, &loaded));
    VK(device->vk, vkMergePipelineCaches, device->handle, device->pipeline_cache, 1, &loaded);

fail:
    device->vk.vkDestroyPipelineCache(device->handle, loaded, device->allocation);
    return status;
}

rope2d_status rope2d_vulkan_cache_set(rope2d_device *owner, const unsigned char *part, uint64_t size) {
    struct vulkan_device *device = rope2d_vulkan_of(owner);
    const rope2d_host *host = &owner->host;
    rope2d_record *taken = NULL;
    ROPE2D_TRY(check_owner(device));
    ROPE2D_TRY(rope2d_records_read(host, &taken, part, size));
    rope2d_status status = ROPE2D_OK;
    rope2d_record *driver = rope2d_record_find(taken, &driver_key);
    if (driver != NULL) {
        status = set_driver(device, driver->bytes, driver->size);
        rope2d_record_remove(host, &taken, driver);
    }
    rope2d_lock_take(&device->kernel_lock);
    if (status == ROPE2D_OK &&
        device->modules == NULL) { // else plans made theirs, or another cache was taken
        device->modules = taken;
        taken = NULL;
    }
    rope2d_lock_give(&device->kernel_lock);
    while (taken != NULL)
        rope2d_record_remove(host, &taken, taken);
    return status;
}
