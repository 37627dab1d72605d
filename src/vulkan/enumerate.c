// SPDX-License-Identifier: MIT
#include "device.h"

#include <string.h>

#define PROPERTIES2 "VK_KHR_get_physical_device_properties2"
#define PORTABILITY "VK_KHR_portability_enumeration"

// The extensions of a physical device or, when it is NULL, of the instance.
static VkResult list_extensions(const struct vulkan_instance *instance, VkPhysicalDevice physical,
                                uint32_t *count, VkExtensionProperties *list) {
    if (physical == NULL)
        return instance->vkEnumerateInstanceExtensionProperties(NULL, count, list);
    return instance->vkEnumerateDeviceExtensionProperties(physical, NULL, count, list);
}

bool rope2d_vulkan_has_extension(const struct vulkan_instance *instance, const rope2d_host *host,
                                 VkPhysicalDevice physical, const char *name) {
    uint32_t count = 0;
    if (list_extensions(instance, physical, &count, NULL) != VK_SUCCESS || count == 0)
        return false;
    uint32_t capacity = count;
    VkExtensionProperties *list = rope2d_allocate(host, capacity, sizeof(*list));
    if (list == NULL)
        return false;
    bool found = false;
    VkResult result = list_extensions(instance, physical, &count, list);
    for (uint32_t i = 0; result >= VK_SUCCESS && i < count && i < capacity && !found; i++)
        found = strcmp(list[i].extensionName, name) == 0;
    rope2d_release(host, list, capacity, sizeof(*list));
    return found;
}

// Extensions beyond Vulkan 1.0 are asked for where they are there: drivers' names, and devices such as
// MoltenVK's that hide otherwise.
rope2d_status rope2d_vulkan_instance_create(struct vulkan_instance *instance, const rope2d_host *host) {
    rope2d_status status = ROPE2D_OK;
    uint32_t version = VK_API_VERSION_1_0;
    const char *extensions[2];
    const char *properties2 = NULL;
    VkInstanceCreateFlags flags = 0;
    uint32_t count = 0;

    ROPE2D_TRY(rope2d_vulkan_load(instance, host));
    if (instance->vkEnumerateInstanceVersion != NULL)
        VK(*instance, vkEnumerateInstanceVersion, &version);
    if (version >= VK_API_VERSION_1_1) {
        properties2 = "vkGetPhysicalDeviceProperties2";
    } else if (rope2d_vulkan_has_extension(instance, host, NULL, PROPERTIES2)) {
        properties2 = "vkGetPhysicalDeviceProperties2KHR";
        extensions[count++] = PROPERTIES2;
    }
    if (rope2d_vulkan_has_extension(instance, host, NULL, PORTABILITY)) {
        flags = VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
        extensions[count++] = PORTABILITY;
    }

    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pEngineName = "rope2d",
        .engineVersion = ROPE2D_VERSION_MAJOR << 16 | ROPE2D_VERSION_MINOR << 8 | ROPE2D_VERSION_PATCH,
        .apiVersion = version >= VK_API_VERSION_1_1 ? VK_API_VERSION_1_2 : VK_API_VERSION_1_0,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .flags = flags,
        .pApplicationInfo = &application,
        .enabledExtensionCount = count,
        .ppEnabledExtensionNames = extensions,
    };
    const VkResult result = instance->vkCreateInstance(&info, NULL, &instance->handle);
    if (result != VK_SUCCESS)
        instance->handle = NULL;
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) // a loader that found no driver
        return ROPE2D_OK;
    VK_RESULT(result, "vkCreateInstance");
    return rope2d_vulkan_load_instance(instance, host, properties2);

fail:
    return status;
}

rope2d_status rope2d_vulkan_queue_family(const struct vulkan_instance *instance, const rope2d_host *host,
                                         VkPhysicalDevice physical, uint32_t *family) {
    uint32_t count = 0;
    *family = UINT32_MAX;
    instance->vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, NULL);
    uint32_t capacity = count;
    VkQueueFamilyProperties *families = rope2d_allocate(host, capacity, sizeof(*families));
    if (families == NULL)
        return count == 0 ? ROPE2D_OK
                          : rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY,
                                        "Vulkan: no memory for a list of %u queue families", count);
    instance->vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count && *family == UINT32_MAX; i++) {
        if (families[i].queueCount > 0 && (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
            *family = i;
    }
    rope2d_release(host, families, capacity, sizeof(*families));
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_physical_list(const struct vulkan_instance *instance, const rope2d_host *host,
                                          VkPhysicalDevice **list, uint32_t *capacity, uint32_t *count) {
    rope2d_status status = ROPE2D_OK;
    *list = NULL;
    *capacity = 0;
    *count = 0;
    if (instance->handle == NULL)
        return ROPE2D_OK;
    uint32_t found = 0;
    VkResult result = instance->vkEnumeratePhysicalDevices(instance->handle, &found, NULL);
    if (result == VK_ERROR_INITIALIZATION_FAILED) {
        rope2d_log(host, ROPE2D_LOG_WARNING, "Vulkan: no driver could list its devices");
        return ROPE2D_OK;
    }
    VK_RESULT(result, "vkEnumeratePhysicalDevices");
    if (found == 0)
        return ROPE2D_OK;
    *list = rope2d_allocate(host, found, sizeof(**list));
    if (*list == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "Vulkan: no memory for a list of %u devices",
                           found);
    *capacity = found;
    result = instance->vkEnumeratePhysicalDevices(instance->handle, &found, *list);
    if (result != VK_INCOMPLETE) // a device that came meanwhile is not listed
        VK_RESULT(result, "vkEnumeratePhysicalDevices");
    for (uint32_t i = 0; i < found && i < *capacity; i++) {
        uint32_t family = 0;
        ROPE2D_TRY(rope2d_vulkan_queue_family(instance, host, (*list)[i], &family));
        if (family != UINT32_MAX)
            (*list)[(*count)++] = (*list)[i];
    }
    return ROPE2D_OK;

fail:
    return status;
}

rope2d_status rope2d_vulkan_enumerate(const rope2d_host *host, uint32_t *count, rope2d_device_info *infos) {
    struct vulkan_instance instance = {0};
    VkPhysicalDevice *list = NULL;
    uint32_t capacity = 0;
    uint32_t found = 0;
    rope2d_status status = rope2d_vulkan_instance_create(&instance, host);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_physical_list(&instance, host, &list, &capacity, &found);
    if (status == ROPE2D_OK) {
        for (uint32_t i = 0; infos != NULL && i < found && i < *count; i++)
            rope2d_vulkan_describe(&instance, host, list[i], i, false, &infos[i]);
        *count = found;
    }
    rope2d_release(host, list, capacity, sizeof(*list));
    rope2d_vulkan_instance_destroy(&instance);
    return status;
}
