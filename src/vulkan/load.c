// SPDX-License-Identifier: MIT
#include "load.h"

#include "../library.h"

#include <stddef.h>
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

// A function of Vulkan's, and where a table keeps it.
struct entry {
    uint16_t offset;
    char name[42];
};
#define NAMED(table, name)                                                                                   \
    { offsetof(table, name), #name }

// Every function goes through memcpy, since each member has a type of its own.
static void put(void *table, size_t offset, PFN_vkVoidFunction found) {
    memcpy((unsigned char *)table + offset, &found, sizeof(found));
}

static rope2d_status missing(const rope2d_host *host, const char *name) {
    return rope2d_fail(host, ROPE2D_ERROR_DRIVER, "Vulkan: the driver has no function %s", name);
}

rope2d_status rope2d_vulkan_load(struct vulkan_instance *instance, const rope2d_host *host) {
    static const struct entry entries[] = {
        NAMED(struct vulkan_instance, vkEnumerateInstanceVersion), // may be missing
        NAMED(struct vulkan_instance, vkCreateInstance),
        NAMED(struct vulkan_instance, vkEnumerateInstanceExtensionProperties),
    };
    ROPE2D_TRY(open_loader(instance, host));
    rope2d_library_find(instance->library, "vkGetInstanceProcAddr", &instance->vkGetInstanceProcAddr,
                        sizeof(instance->vkGetInstanceProcAddr));
    if (instance->vkGetInstanceProcAddr == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_BACKEND_MISSING,
                           "Vulkan: the loader has no vkGetInstanceProcAddr");
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        PFN_vkVoidFunction found = instance->vkGetInstanceProcAddr(NULL, entries[i].name);
        if (found == NULL && i > 0)
            return missing(host, entries[i].name);
        put(instance, entries[i].offset, found);
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_load_instance(struct vulkan_instance *instance, const rope2d_host *host,
                                          const char *properties2) {
#define ENTRY(name) NAMED(struct vulkan_instance, name),
    static const struct entry entries[] = {VULKAN_INSTANCE_FUNCTIONS(ENTRY)};
#undef ENTRY
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        PFN_vkVoidFunction found = instance->vkGetInstanceProcAddr(instance->handle, entries[i].name);
        if (found == NULL)
            return missing(host, entries[i].name);
        put(instance, entries[i].offset, found);
    }
    if (properties2 != NULL)
        put(instance, offsetof(struct vulkan_instance, vkGetPhysicalDeviceProperties2),
            instance->vkGetInstanceProcAddr(instance->handle, properties2));
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_load_device(const struct vulkan_instance *instance, VkDevice device,
                                        struct VolkDeviceTable *table, const rope2d_host *host) {
#define ENTRY(name) NAMED(struct VolkDeviceTable, name),
    static const struct entry entries[] = {VULKAN_DEVICE_FUNCTIONS(ENTRY)};
#undef ENTRY
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        PFN_vkVoidFunction found = instance->vkGetDeviceProcAddr(device, entries[i].name);
        if (found == NULL)
            return missing(host, entries[i].name);
        put(table, entries[i].offset, found);
    }
    return ROPE2D_OK;
}

void rope2d_vulkan_instance_destroy(struct vulkan_instance *instance) {
    // An instance whose functions never loaded is destroyed through the loader's own lookup.
    if (instance->handle != NULL && instance->vkDestroyInstance == NULL)
        put(instance, offsetof(struct vulkan_instance, vkDestroyInstance),
            instance->vkGetInstanceProcAddr(instance->handle, "vkDestroyInstance"));
    if (instance->handle != NULL && instance->vkDestroyInstance != NULL)
        instance->vkDestroyInstance(instance->handle, NULL);
    rope2d_library_close(instance->library);
    memset(instance, 0, sizeof(*instance));
}
