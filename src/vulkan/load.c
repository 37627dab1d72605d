// SPDX-License-Identifier: MIT
#include "load.h"

#include "../library.h"

#include <stdlib.h>
#include <string.h>

static const char *const loaders[] = {
#if defined(_WIN32)
    "vulkan-1.dll",
#elif defined(__APPLE__)
    "libvulkan.dylib",
    "libvulkan.1.dylib",
    "libMoltenVK.dylib",
#else
    "libvulkan.so.1",
    "libvulkan.so",
#endif
};

static rope2d_status open_loader(struct vulkan_instance *instance, const rope2d_host *host) {
    const char *name = getenv("ROPE2D_VULKAN_LOADER");
    if (name != NULL && name[0] != 0) {
        instance->library = rope2d_library_open(name);
        if (instance->library == NULL)
            return rope2d_fail(host, ROPE2D_ERROR_BACKEND_MISSING,
                               "ROPE2D_VULKAN_LOADER: '%s' cannot be opened", name);
        return ROPE2D_OK;
    }
    for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]) && instance->library == NULL; i++)
        instance->library = rope2d_library_open(loaders[i]);
    if (instance->library == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_BACKEND_MISSING,
                           "Vulkan: its loader, %s, is not on this machine", loaders[0]);
    return ROPE2D_OK;
}

// A function pointer through memcpy, since each call below stores another type.
#define FIND(get, object, table, name)                                                                       \
    do {                                                                                                     \
        PFN_vkVoidFunction found_##name = (get)((object), #name);                                            \
        memcpy(&(table)->name, &found_##name, sizeof(found_##name));                                         \
    } while (0)

#define FIND_OR_FAIL(get, object, table, name)                                                               \
    do {                                                                                                     \
        FIND(get, object, table, name);                                                                      \
        if ((table)->name == NULL)                                                                           \
            return rope2d_fail(host, ROPE2D_ERROR_DRIVER, "Vulkan: the driver has no function " #name);      \
    } while (0)

rope2d_status rope2d_vulkan_load(struct vulkan_instance *instance, const rope2d_host *host) {
    ROPE2D_TRY(open_loader(instance, host));
    rope2d_library_find(instance->library, "vkGetInstanceProcAddr", &instance->vkGetInstanceProcAddr,
                        sizeof(instance->vkGetInstanceProcAddr));
    if (instance->vkGetInstanceProcAddr == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_BACKEND_MISSING,
                           "Vulkan: the loader has no vkGetInstanceProcAddr");
    FIND_OR_FAIL(instance->vkGetInstanceProcAddr, NULL, instance, vkCreateInstance);
    FIND_OR_FAIL(instance->vkGetInstanceProcAddr, NULL, instance, vkEnumerateInstanceExtensionProperties);
    FIND(instance->vkGetInstanceProcAddr, NULL, instance, vkEnumerateInstanceVersion);
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_load_instance(struct vulkan_instance *instance, const rope2d_host *host,
                                          const char *properties2) {
#define LOAD(name) FIND_OR_FAIL(instance->vkGetInstanceProcAddr, instance->handle, instance, name);
    VULKAN_INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
    if (properties2 != NULL) {
        PFN_vkVoidFunction found = instance->vkGetInstanceProcAddr(instance->handle, properties2);
        memcpy(&instance->vkGetPhysicalDeviceProperties2, &found, sizeof(found));
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_load_device(const struct vulkan_instance *instance, VkDevice device,
                                        struct VolkDeviceTable *table, const rope2d_host *host) {
#define LOAD(name) FIND_OR_FAIL(instance->vkGetDeviceProcAddr, device, table, name);
    VULKAN_DEVICE_FUNCTIONS(LOAD)
#undef LOAD
    return ROPE2D_OK;
}

void rope2d_vulkan_instance_destroy(struct vulkan_instance *instance) {
    // An instance whose functions never loaded is destroyed through the loader's own lookup.
    if (instance->handle != NULL && instance->vkDestroyInstance == NULL)
        FIND(instance->vkGetInstanceProcAddr, instance->handle, instance, vkDestroyInstance);
    if (instance->handle != NULL && instance->vkDestroyInstance != NULL)
        instance->vkDestroyInstance(instance->handle, NULL);
    rope2d_library_close(instance->library);
    memset(instance, 0, sizeof(*instance));
}
