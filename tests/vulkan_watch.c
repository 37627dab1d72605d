// SPDX-License-Identifier: MIT
#include "vulkan_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const watch_entry *watch_entries;

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL find_device(VkDevice device, const char *name) {
    for (const watch_entry *entry = watch_entries; entry->name != NULL; entry++)
        if (strcmp(entry->name, name) == 0)
            return entry->function;
    return vkGetDeviceProcAddr(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL watch_loader(VkInstance instance, const char *name) {
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)find_device;
    return vkGetInstanceProcAddr(instance, name);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static watch_counts host_counts;

static void *allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    pthread_mutex_lock(&lock);
    host_counts.allocations++;
    host_counts.blocks++;
    pthread_mutex_unlock(&lock);
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    pthread_mutex_lock(&lock);
    host_counts.blocks--;
    pthread_mutex_unlock(&lock);
    free(memory);
}

watch_counts watch_host_counts(void) {
    pthread_mutex_lock(&lock);
    const watch_counts now = host_counts;
    pthread_mutex_unlock(&lock);
    return now;
}

rope2d_host watch_host(void) {
    rope2d_host host = captured_host(&logged);
    host.allocate = allocate;
    host.release = release;
    return host;
}
