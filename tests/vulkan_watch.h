// SPDX-License-Identifier: MIT
//
// What the owner of Vulkan sees the library do: functions of the driver that stand before the owner's own,
// and host memory that is counted.
#ifndef TEST_VULKAN_WATCH_H
#define TEST_VULKAN_WATCH_H

#include "vulkan_scene.h"

// A loader for rope2d_vulkan_device_params: what watch_entries names is found there, all else is the owner's.
typedef struct watch_entry {
    const char *name;
    PFN_vkVoidFunction function;
} watch_entry;
#define WATCHED(name)                                                                                        \
    { #name, (PFN_vkVoidFunction)watch_##name }
extern const watch_entry *watch_entries; // ends with a NULL name
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL watch_loader(VkInstance instance, const char *name);

// Host memory of any thread's.
typedef struct watch_counts {
    uint64_t allocations; // so far
    int64_t blocks;       // that live
} watch_counts;
watch_counts watch_host_counts(void);
rope2d_host watch_host(void); // which logs, too

#endif
