// SPDX-License-Identifier: MIT
#include "load.h"

#include "../library.h"

#include <stddef.h>
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
    const char *name = rope2d_environment("ROPE2D_VULKAN_LOADER");
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

// Lists of functions: where a table keeps each, and their names.
#define INSTANCE_OFFSET(name) offsetof(struct vulkan_instance, name),
#define DEVICE_OFFSET(name)   offsetof(struct VolkDeviceTable, name),
#define NAME(name)            #name "\0"
#define LOADER_FUNCTIONS(X)                                                                                  \
    X(vkEnumerateInstanceVersion)                                                                            \
    X(vkCreateInstance)                                                                                      \
    X(vkEnumerateInstanceExtensionProperties)

// Every function goes through memcpy, since each member has a type of its own.
static void put(void *table, size_t offset, PFN_vkVoidFunction found) {
    memcpy((unsigned char *)table + offset, &found, sizeof(found));
}

static rope2d_status missing(const rope2d_host *host, const char *name) {
    return rope2d_fail(host, ROPE2D_ERROR_DRIVER, "Vulkan: the driver has no function %s", name);
}

rope2d_status rope2d_vulkan_load(struct vulkan_instance *instance, const rope2d_host *host) {
    static const uint16_t offsets[] = {LOADER_FUNCTIONS(INSTANCE_OFFSET)};
    static const char names[] = LOADER_FUNCTIONS(NAME);
    ROPE2D_TRY(open_loader(instance, host));
    rope2d_library_find(instance->library, "vkGetInstanceProcAddr", &instance->vkGetInstanceProcAddr,
                        sizeof(instance->vkGetInstanceProcAddr));
    if (instance->vkGetInstanceProcAddr == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_BACKEND_MISSING,
                           "Vulkan: the loader has no vkGetInstanceProcAddr");
    const char *name = names;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++, name += strlen(name) + 1) {
        PFN_vkVoidFunction found = instance->vkGetInstanceProcAddr(NULL, name);
        if (found == NULL && i > 0) // the first may be missing
            return missing(host, name);
        put(instance, offsets[i], found);
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_load_instance(struct vulkan_instance *instance, const rope2d_host *host,
                                          const char *properties2) {
    static const uint16_t offsets[] = {VULKAN_INSTANCE_FUNCTIONS(INSTANCE_OFFSET)};
    static const char names[] = VULKAN_INSTANCE_FUNCTIONS(NAME);
    const char *name = names;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++, name += strlen(name) + 1) {
        PFN_vkVoidFunction found = instance->vkGetInstanceProcAddr(instance->handle, name);
        if (found == NULL)
            return missing(host, name);
        put(instance, offsets[i], found);
    }
    if (properties2 != NULL)
        put(instance, offsetof(struct vulkan_instance, vkGetPhysicalDeviceProperties2),
            instance->vkGetInstanceProcAddr(instance->handle, properties2));
    return ROPE2D_OK;
}

rope2d_status rope2d_vulkan_load_device(const struct vulkan_instance *instance, VkDevice device,
                                        struct VolkDeviceTable *table, const rope2d_host *host) {
    static const uint16_t offsets[] = {VULKAN_DEVICE_FUNCTIONS(DEVICE_OFFSET)};
    static const char names[] = VULKAN_DEVICE_FUNCTIONS(NAME);
    const char *name = names;
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++, name += strlen(name) + 1) {
        PFN_vkVoidFunction found = instance->vkGetDeviceProcAddr(device, name);
        if (found == NULL)
            return missing(host, name);
        put(table, offsets[i], found);
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
