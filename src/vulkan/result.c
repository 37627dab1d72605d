// SPDX-License-Identifier: MIT
#include "load.h"

const char *rope2d_vulkan_result_name(VkResult result) {
    switch (result) {
#define NAME(value)                                                                                          \
    case value:                                                                                              \
        return #value;
        NAME(VK_SUCCESS)
        NAME(VK_NOT_READY)
        NAME(VK_TIMEOUT)
        NAME(VK_EVENT_SET)
        NAME(VK_EVENT_RESET)
        NAME(VK_INCOMPLETE)
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
        NAME(VK_ERROR_INITIALIZATION_FAILED)
        NAME(VK_ERROR_DEVICE_LOST)
        NAME(VK_ERROR_MEMORY_MAP_FAILED)
        NAME(VK_ERROR_LAYER_NOT_PRESENT)
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
        NAME(VK_ERROR_FEATURE_NOT_PRESENT)
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
        NAME(VK_ERROR_TOO_MANY_OBJECTS)
        NAME(VK_ERROR_FORMAT_NOT_SUPPORTED)
        NAME(VK_ERROR_FRAGMENTED_POOL)
        NAME(VK_ERROR_UNKNOWN)
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
        NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE)
        NAME(VK_ERROR_FRAGMENTATION)
        NAME(VK_ERROR_VALIDATION_FAILED_EXT)
        NAME(VK_ERROR_INVALID_SHADER_NV)
        NAME(VK_ERROR_NOT_PERMITTED_KHR)
#undef NAME
    default:
        return "an unknown VkResult";
    }
}

static rope2d_status status_of(VkResult result) {
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return ROPE2D_ERROR_HOST_MEMORY;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTATION:
        return ROPE2D_ERROR_DEVICE_MEMORY;
    case VK_ERROR_DEVICE_LOST:
        return ROPE2D_ERROR_DEVICE_LOST;
    default:
        return ROPE2D_ERROR_DRIVER;
    }
}

rope2d_status rope2d_vulkan_fail(const rope2d_host *host, VkResult result, const char *call) {
    return rope2d_fail(host, status_of(result), "Vulkan: %s returned %s (%d)", call,
                       rope2d_vulkan_result_name(result), (int)result);
}
