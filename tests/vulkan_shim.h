// SPDX-License-Identifier: MIT
//
// A Vulkan loader that stands before the real one: it fails the n-th call, counts what lives, and can show
// other memory than the device has. A test names it in ROPE2D_VULKAN_LOADER and opens it too, so that both
// have the same one.
#ifndef TEST_VULKAN_SHIM_H
#define TEST_VULKAN_SHIM_H

#include <stdbool.h>
#include <stdint.h>

// What memory the device seems to have. Of types that are not coherent, mapped memory is a copy that only
// flushing and invalidating bring up to date.
enum shim_memory {
    SHIM_MEMORY_REAL,
    SHIM_MEMORY_DISCRETE,            // near the device, unseen; and the host's, cached
    SHIM_MEMORY_DISCRETE_INCOHERENT, // the same, the host's not coherent
    SHIM_MEMORY_WINDOW,              // near the device and seen, but not cached; and the host's
    SHIM_MEMORY_SMALL_WINDOW,        // the same, but only 1/64 of the device's memory is seen
    SHIM_MEMORY_UNIFIED_INCOHERENT,  // one for both, not coherent
    SHIM_MEMORY_COUNT
};

// What a word of is changed.
enum shim_lie {
    SHIM_LIE_NONE,
    SHIM_LIE_LIMITS,   // VkPhysicalDeviceLimits
    SHIM_LIE_MEMORY,   // VkPhysicalDeviceMemoryProperties
    SHIM_LIE_FAMILIES, // word 0: how many there are; then the first VkQueueFamilyProperties
    SHIM_LIE_FORMAT,   // VkFormatProperties
    SHIM_LIE_NAME,     // every byte of the device's and the driver's name
    SHIM_LIE_TYPE      // VkPhysicalDeviceType
};

struct shim {
    enum shim_memory memory;
    uint64_t fail_at;    // the call that fails, from 1; 0: none
    int32_t fail_with;   // its VkResult
    const char *fail_in; // of calls of this name alone; NULL: of all
    bool stays_lost;     // what submits or waits after it fails in the same way
    uint64_t calls;      // that can fail, so far
    const char *failed;  // the call that did; NULL: none yet
    int64_t live;        // objects and memory created and not destroyed
    uint64_t faults;     // such as mapping memory that the host does not see
    uint64_t mapped;     // buffers mapped so far
    uint64_t copies;     // commands that copy, so far
    uint64_t pipelines;  // made so far
    uint64_t kept;   // bytes that the driver's pipeline cache seems to have besides its header; 0: as it is
    uint64_t given;  // bytes of such, and right ones, that were handed back so far
    uint64_t merged; // pipeline caches merged so far
    enum shim_lie lie;
    uint32_t lie_word;
    uint32_t lie_with;
    // The constants of the last two pipelines, each by its number modulo 2. Hollow: they are none, and
    // nothing may run.
    uint32_t constants[2][4];
    bool is_hollow;
};

// The module's one function besides vkGetInstanceProcAddr.
typedef struct shim *shim_get_fn(void);

#endif
