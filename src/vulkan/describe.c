// SPDX-License-Identifier: MIT
#include "device.h"

#include <stdio.h>
#include <string.h>

// What no kernel can do without. Alignments of offsets are no larger in any Vulkan, and this library's own
// offsets count on it.
#define LEAST_STORAGE_BUFFERS 4
#define LEAST_BUFFER_RANGE    ((uint64_t)1 << 16)
#define MOST_ALIGNMENT        256

static const char *vendor_name(uint32_t id) {
    static const struct {
        uint32_t id;
        char name[12]; // no address, which each process would have to write
    } vendors[] = {
        {0x1002, "AMD"},      {0x1010, "Imagination"}, {0x106b, "Apple"},    {0x10de, "NVIDIA"},
        {0x13b5, "Arm"},      {0x144d, "Samsung"},     {0x14e4, "Broadcom"}, {0x1ae0, "Google"},
        {0x5143, "Qualcomm"}, {0x8086, "Intel"},       {0x10001, "Vivante"}, {0x10002, "VeriSilicon"},
        {0x10003, "Kazan"},   {0x10004, "Codeplay"},   {0x10005, "Mesa"},
    };
    for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
        if (vendors[i].id == id)
            return vendors[i].name;
    }
    return NULL;
}

// Adreno and PowerVR read textures faster than buffers; elsewhere it hardly matters or is the other way
// round.
static rope2d_table default_table(const rope2d_device_info *info) {
    bool wants_texture = info->vendor_id == 0x5143 || info->vendor_id == 0x1010;
    return info->has_textures && wants_texture ? ROPE2D_TABLE_TEXTURE : ROPE2D_TABLE_BUFFER;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint64_t least_64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static bool suits(VkDeviceSize alignment) {
    return alignment <= MOST_ALIGNMENT && (alignment & (alignment - 1)) == 0;
}

rope2d_status rope2d_vulkan_check_limits(const struct vulkan_instance *instance, const rope2d_host *host,
                                         VkPhysicalDevice physical, const rope2d_device_info *info) {
    VkPhysicalDeviceProperties properties = {0};
    const char *wrong = NULL;
    instance->vkGetPhysicalDeviceProperties(physical, &properties);
    if (info->max_group_size == 0)
        wrong = "workgroups of 0 invocations";
    else if (info->max_groups == 0)
        wrong = "0 workgroups";
    else if (info->max_storage_buffers < LEAST_STORAGE_BUFFERS)
        wrong = "fewer than 4 storage buffers";
    else if (info->max_buffer_range < LEAST_BUFFER_RANGE)
        wrong = "storage buffers of less than 64 KiB";
    else if (!suits(properties.limits.minStorageBufferOffsetAlignment) ||
             !suits(properties.limits.minUniformBufferOffsetAlignment))
        wrong = "an offset's alignment that is above 256 or no power of two";
    if (wrong == NULL)
        return ROPE2D_OK;
    return rope2d_fail(host, ROPE2D_ERROR_UNSUPPORTED, "Vulkan: %s has %s", info->name, wrong);
}

void rope2d_vulkan_describe_memory(const struct vulkan_instance *instance, VkPhysicalDevice physical,
                                   VkPhysicalDeviceMemoryProperties *memory) {
    memset(memory, 0, sizeof(*memory));
    instance->vkGetPhysicalDeviceMemoryProperties(physical, memory);
    memory->memoryTypeCount = least(memory->memoryTypeCount, VK_MAX_MEMORY_TYPES);
    memory->memoryHeapCount = least(memory->memoryHeapCount, VK_MAX_MEMORY_HEAPS);
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++)
        memory->memoryTypes[i].heapIndex = least(memory->memoryTypes[i].heapIndex, VK_MAX_MEMORY_HEAPS - 1);
}

static void describe_limits(const VkPhysicalDeviceLimits *limits, rope2d_device_info *info) {
    info->max_buffer_range = limits->maxStorageBufferRange;
    info->max_texture_width = limits->maxImageDimension2D;
    info->max_texture_height = limits->maxImageDimension2D;
    info->max_storage_buffers =
        least(limits->maxPerStageDescriptorStorageBuffers, limits->maxDescriptorSetStorageBuffers);
    // Two uniform buffers and a texture may stand beside them.
    if (limits->maxPerStageResources > 3)
        info->max_storage_buffers = least(info->max_storage_buffers, limits->maxPerStageResources - 3);
    info->max_group_size = least(limits->maxComputeWorkGroupInvocations, limits->maxComputeWorkGroupSize[0]);
    info->max_groups = least(limits->maxComputeWorkGroupCount[0], limits->maxComputeWorkGroupCount[1]);
    info->buffer_offset_alignment = (uint32_t)limits->minStorageBufferOffsetAlignment;
    if (info->buffer_offset_alignment < 4)
        info->buffer_offset_alignment = 4;
}

// What Vulkan 1.0 guarantees of every device.
static void clamp_limits(rope2d_device_info *info) {
    info->max_buffer_range = least_64(info->max_buffer_range, 128 * 1024 * 1024);
    info->max_texture_width = least_64(info->max_texture_width, 4096);
    info->max_texture_height = least_64(info->max_texture_height, 4096);
    info->max_storage_buffers = least(info->max_storage_buffers, 4);
    info->max_group_size = least(info->max_group_size, 128);
    info->max_groups = least(info->max_groups, 65535);
    if (info->buffer_offset_alignment < 256)
        info->buffer_offset_alignment = 256;
}

static void describe_driver(const struct vulkan_instance *instance, const rope2d_host *host,
                            VkPhysicalDevice physical, const VkPhysicalDeviceProperties *properties,
                            rope2d_device_info *info) {
    uint32_t version = properties->driverVersion;
    bool asked = instance->vkGetPhysicalDeviceProperties2 != NULL &&
                 properties->apiVersion >= VK_API_VERSION_1_1 &&
                 (properties->apiVersion >= VK_API_VERSION_1_2 ||
                  rope2d_vulkan_has_extension(instance, host, physical, "VK_KHR_driver_properties"));
    if (asked) {
        VkPhysicalDeviceDriverProperties driver = {.sType =
                                                       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
        VkPhysicalDeviceProperties2 properties2 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                                   .pNext = &driver};
        instance->vkGetPhysicalDeviceProperties2(physical, &properties2);
        if (driver.driverName[0] != 0) {
            snprintf(info->driver, sizeof(info->driver), "%.120s %.120s", driver.driverName,
                     driver.driverInfo);
            return;
        }
    }
    if (info->vendor_id == 0x10de) // NVIDIA packs its versions in its own way
        snprintf(info->driver, sizeof(info->driver), "%u.%u.%u", version >> 22, (version >> 14) & 0xff,
                 (version >> 6) & 0xff);
    else
        snprintf(info->driver, sizeof(info->driver), "%u.%u.%u", VK_API_VERSION_MAJOR(version),
                 VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version));
}

static void describe_names(const VkPhysicalDeviceProperties *properties, rope2d_device_info *info) {
    snprintf(info->name, sizeof(info->name), "%.255s", properties->deviceName);
    const char *vendor = vendor_name(properties->vendorID);
    if (vendor != NULL)
        snprintf(info->vendor, sizeof(info->vendor), "%s", vendor);
    else
        snprintf(info->vendor, sizeof(info->vendor), "vendor 0x%04x", properties->vendorID);
    snprintf(info->api, sizeof(info->api), "Vulkan %u.%u.%u", VK_API_VERSION_MAJOR(properties->apiVersion),
             VK_API_VERSION_MINOR(properties->apiVersion), VK_API_VERSION_PATCH(properties->apiVersion));
}

static bool has_texture_format(const struct vulkan_instance *instance, VkPhysicalDevice physical) {
    VkFormatProperties format = {0};
    instance->vkGetPhysicalDeviceFormatProperties(physical, VK_FORMAT_R32G32B32A32_SFLOAT, &format);
    return (format.optimalTilingFeatures & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) != 0;
}

void rope2d_vulkan_describe(const struct vulkan_instance *instance, const rope2d_host *host,
                            VkPhysicalDevice physical, uint32_t index, bool minimum_limits,
                            rope2d_device_info *info) {
    VkPhysicalDeviceProperties properties = {0};
    VkPhysicalDeviceMemoryProperties memory;
    size_t struct_size = info->struct_size;
    instance->vkGetPhysicalDeviceProperties(physical, &properties);
    rope2d_vulkan_describe_memory(instance, physical, &memory);

    memset(info, 0, sizeof(*info));
    info->struct_size = struct_size;
    info->backend = ROPE2D_BACKEND_VULKAN;
    info->index = index;
    info->vendor_id = properties.vendorID;
    info->device_id = properties.deviceID;
    info->is_software = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    describe_names(&properties, info);
    describe_driver(instance, host, physical, &properties, info);
    info->has_textures = has_texture_format(instance, physical);
    info->default_table = default_table(info);
    describe_limits(&properties.limits, info);
    if (minimum_limits)
        clamp_limits(info);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        bool is_local = (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
        if (is_local && memory.memoryHeaps[i].size > info->memory_bytes)
            info->memory_bytes = memory.memoryHeaps[i].size;
    }
}
