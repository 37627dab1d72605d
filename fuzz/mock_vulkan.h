// SPDX-License-Identifier: MIT
//
// What a caller of Vulkan has: the mock's objects.
#ifndef FUZZ_MOCK_VULKAN_H
#define FUZZ_MOCK_VULKAN_H

#include "mock.h"

#include <vulkan/vulkan_core.h>

enum { MOCK_QUEUE_FAMILIES = 2, MOCK_MOST_BYTES = 1 << 26 };

// Every handle that is not Vulkan's own kind of pointer stands for one of these.
struct mock_object {
    uint64_t size;              // of memory, a buffer, an image
    unsigned char *bytes;       // of memory
    struct mock_object *memory; // of a buffer or an image, once bound
    uint64_t offset;
    uint32_t width, height; // of an image
};

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL mock_vk_get_instance_proc_addr(VkInstance instance,
                                                                        const char *name);
VkInstance mock_vk_instance(void);
VkPhysicalDevice mock_vk_physical(void);
VkDevice mock_vk_device(void);
VkQueue mock_vk_queue(void);
VkCommandBuffer mock_vk_commands(void);

// NULL when memory runs out. Freed by mock_vk_free, for which NULL is legal.
struct mock_object *mock_vk_memory(uint64_t size);
struct mock_object *mock_vk_buffer(uint64_t size); // bound to memory of its own
void mock_vk_free(struct mock_object *object);

// mock_vulkan_commands.c: NULL for another name.
PFN_vkVoidFunction mock_vk_find_command(const char *name);

// Counted.
struct mock_object *mock_vk_make(void);
struct mock_object *mock_vk_of(uint64_t handle);
#define MOCK_VK_HANDLE(type, object) ((type)(uintptr_t)(object))
#define MOCK_VK_OBJECT(handle)       mock_vk_of((uint64_t)(uintptr_t)(handle))

#endif
