// SPDX-License-Identifier: MIT
//
// What the files of the shim share: its counts, and the real loader's functions.
#ifndef TEST_VULKAN_SHIM_PARTS_H
#define TEST_VULKAN_SHIM_PARTS_H

#include "vulkan_shim.h"

#include <pthread.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

extern struct shim shim;
extern pthread_mutex_t shim_lock; // of shim

PFN_vkVoidFunction shim_real(const char *name);

// Counts a call that can fail, and says what it is to return.
VkResult shim_fate(const char *name);
// Counts what was made or destroyed, and what no caller should do.
void shim_live(VkResult result, int64_t change);
void shim_fault(bool is_fault);

#define REAL(name) ((PFN_##name)shim_real(#name))

#define FAILS(name)                                                                                          \
    do {                                                                                                     \
        VkResult fate_of_call = shim_fate(#name);                                                            \
        if (fate_of_call != VK_SUCCESS)                                                                      \
            return fate_of_call;                                                                             \
    } while (0)

// A function that stands before the real one.
struct shim_entry {
    const char *name;
    PFN_vkVoidFunction function;
};
#define ENTRY(name)                                                                                          \
    { #name, (PFN_vkVoidFunction)shim_##name }

// vulkan_shim_memory.c: memory, its types and mapping; ends with a NULL name.
extern const struct shim_entry shim_memory_entries[];

// vulkan_shim_lies.c: the same.
extern const struct shim_entry shim_lie_entries[];
void shim_lie_about_memory(VkPhysicalDeviceMemoryProperties *memory);

#endif
