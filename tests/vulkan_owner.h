// SPDX-License-Identifier: MIT
//
// A program that owns Vulkan, with volk's global functions linked in: what the library is adopted into.
#ifndef TEST_VULKAN_OWNER_H
#define TEST_VULKAN_OWNER_H

#define VK_NO_PROTOTYPES
#include <volk.h>

#include <stdbool.h>

enum { OWNER_MAX_DEVICES = 8 };

typedef struct owner {
    VkInstance instance;
    uint32_t physical_count;
    VkPhysicalDevice physicals[OWNER_MAX_DEVICES];
    const char *const *extensions; // for owner_open; zero: none
    uint32_t extension_count;
    const void *features; // chained to what owner_open makes the device with; zero: none
    // Of the device that is open.
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkCommandPool pool;
    VkCommandBuffer commands;
} owner;

typedef struct owner_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    unsigned char *mapped; // coherent
    uint64_t size;
} owner_buffer;

// False when there is no loader or no instance. Zeroed memory may be destroyed.
bool owner_create(owner *own);
bool owner_create_through(owner *own, PFN_vkGetInstanceProcAddr loader);
bool owner_has_extension(const owner *own, uint32_t index, const char *name);
bool owner_open(owner *own, uint32_t index);
void owner_close(owner *own);
void owner_destroy(owner *own);

bool owner_buffer_create_for(const owner *own, uint64_t size, VkBufferUsageFlags usage, owner_buffer *buffer);
uint32_t owner_memory_type(const owner *own, uint32_t allowed); // coherent
bool owner_buffer_create(const owner *own, uint64_t size, owner_buffer *buffer);
void owner_buffer_destroy(const owner *own, owner_buffer *buffer);

bool owner_begin(const owner *own);
// A barrier between all that compute and the host did and will do.
void owner_barrier(const owner *own);
bool owner_run(const owner *own); // ends, submits and waits

#endif
