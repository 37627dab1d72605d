// SPDX-License-Identifier: MIT
//
// A driver that says what cannot be: one word of what it says of a device is another.
#include "vulkan_shim_parts.h"

#include <string.h>

static void lie(enum shim_lie about, void *data, size_t size) {
    if (shim.lie == about && (size_t)shim.lie_word < size / sizeof(uint32_t))
        memcpy((unsigned char *)data + (size_t)shim.lie_word * sizeof(uint32_t), &shim.lie_with,
               sizeof(shim.lie_with));
}

void shim_lie_about_memory(VkPhysicalDeviceMemoryProperties *memory) {
    lie(SHIM_LIE_MEMORY, memory, sizeof(*memory));
}

static VKAPI_ATTR void VKAPI_CALL shim_vkGetPhysicalDeviceProperties(VkPhysicalDevice physical,
                                                                     VkPhysicalDeviceProperties *properties) {
    REAL(vkGetPhysicalDeviceProperties)(physical, properties);
    lie(SHIM_LIE_LIMITS, &properties->limits, sizeof(properties->limits));
    lie(SHIM_LIE_TYPE, &properties->deviceType, sizeof(properties->deviceType));
    if (shim.lie == SHIM_LIE_NAME) // to its last byte: without an end
        memset(properties->deviceName, (int)shim.lie_with, sizeof(properties->deviceName));
}

static VKAPI_ATTR void VKAPI_CALL
shim_vkGetPhysicalDeviceProperties2(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *properties) {
    REAL(vkGetPhysicalDeviceProperties2)(physical, properties);
    VkPhysicalDeviceDriverProperties *driver = properties->pNext;
    if (shim.lie == SHIM_LIE_NAME && driver != NULL &&
        driver->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
        memset(driver->driverName, (int)shim.lie_with, sizeof(driver->driverName));
        memset(driver->driverInfo, (int)shim.lie_with, sizeof(driver->driverInfo));
    }
}

static VKAPI_ATTR void VKAPI_CALL shim_vkGetPhysicalDeviceQueueFamilyProperties(
    VkPhysicalDevice physical, uint32_t *count, VkQueueFamilyProperties *families) {
    REAL(vkGetPhysicalDeviceQueueFamilyProperties)(physical, count, families);
    if (families == NULL)
        lie(SHIM_LIE_FAMILIES, count, sizeof(*count));
    else if (*count > 0 && shim.lie == SHIM_LIE_FAMILIES && shim.lie_word > 0)
        memcpy((unsigned char *)families + ((size_t)shim.lie_word - 1) * sizeof(uint32_t), &shim.lie_with,
               sizeof(shim.lie_with));
}

static VKAPI_ATTR void VKAPI_CALL shim_vkGetPhysicalDeviceFormatProperties(VkPhysicalDevice physical,
                                                                           VkFormat format,
                                                                           VkFormatProperties *properties) {
    REAL(vkGetPhysicalDeviceFormatProperties)(physical, format, properties);
    lie(SHIM_LIE_FORMAT, properties, sizeof(*properties));
}

const struct shim_entry shim_lie_entries[] = {
    ENTRY(vkGetPhysicalDeviceProperties),
    ENTRY(vkGetPhysicalDeviceProperties2),
    ENTRY(vkGetPhysicalDeviceQueueFamilyProperties),
    ENTRY(vkGetPhysicalDeviceFormatProperties),
    {NULL, NULL},
};
