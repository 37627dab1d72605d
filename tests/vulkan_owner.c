// SPDX-License-Identifier: MIT
#ifndef TEST_LINKS_VOLK // else tests/volk/linked_volk.c
#define VOLK_IMPLEMENTATION
#endif
#include "vulkan_owner.h"

#include <string.h>

static bool create_instance(owner *own) {
    memset(own, 0, sizeof(*own));
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    if (vkCreateInstance(&info, NULL, &own->instance) != VK_SUCCESS) {
        own->instance = NULL;
        return false;
    }
    volkLoadInstance(own->instance);
    own->physical_count = OWNER_MAX_DEVICES;
    return vkEnumeratePhysicalDevices(own->instance, &own->physical_count, own->physicals) >= VK_SUCCESS;
}

bool owner_create(owner *own) {
    memset(own, 0, sizeof(*own));
    return volkInitialize() == VK_SUCCESS && create_instance(own);
}

bool owner_create_through(owner *own, PFN_vkGetInstanceProcAddr loader) {
    volkInitializeCustom(loader);
    return create_instance(own);
}

static uint32_t find_family(VkPhysicalDevice physical) {
    VkQueueFamilyProperties families[8];
    uint32_t count = 8;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; i++)
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)
            return i;
    return 0;
}

bool owner_has_extension(const owner *own, uint32_t index, const char *name) {
    static VkExtensionProperties list[512];
    uint32_t count = sizeof(list) / sizeof(list[0]);
    if (vkEnumerateDeviceExtensionProperties(own->physicals[index], NULL, &count, list) < VK_SUCCESS)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    return false;
}

bool owner_open(owner *own, uint32_t index) {
    float priority = 1.0f;
    own->physical = own->physicals[index];
    own->family = find_family(own->physical);
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = own->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = own->features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = own->extension_count,
        .ppEnabledExtensionNames = own->extensions,
    };
    if (vkCreateDevice(own->physical, &info, NULL, &own->device) != VK_SUCCESS) {
        own->device = NULL;
        return false;
    }
    volkLoadDevice(own->device);
    vkGetDeviceQueue(own->device, own->family, 0, &own->queue);
    VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = own->family,
    };
    if (vkCreateCommandPool(own->device, &pool, NULL, &own->pool) != VK_SUCCESS)
        return false;
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = own->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    return vkAllocateCommandBuffers(own->device, &commands, &own->commands) == VK_SUCCESS;
}

void owner_close(owner *own) {
    if (own->device == NULL)
        return;
    vkDestroyCommandPool(own->device, own->pool, NULL);
    vkDestroyDevice(own->device, NULL);
    own->device = NULL;
}

void owner_destroy(owner *own) {
    owner_close(own);
    if (own->instance != NULL)
        vkDestroyInstance(own->instance, NULL);
    memset(own, 0, sizeof(*own));
}

uint32_t owner_memory_type(const owner *own, uint32_t allowed) {
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(own->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++)
        if ((allowed & 1u << i) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    return 0;
}

bool owner_buffer_create(const owner *own, uint64_t size, owner_buffer *buffer) {
    return owner_buffer_create_for(own, size, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, buffer);
}

bool owner_buffer_create_for(const owner *own, uint64_t size, VkBufferUsageFlags usage,
                             owner_buffer *buffer) {
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = usage,
    };
    VkMemoryRequirements needs;
    void *mapped = NULL;
    memset(buffer, 0, sizeof(*buffer));
    if (vkCreateBuffer(own->device, &info, NULL, &buffer->handle) != VK_SUCCESS)
        return false;
    vkGetBufferMemoryRequirements(own->device, buffer->handle, &needs);
    VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = owner_memory_type(own, needs.memoryTypeBits),
    };
    if (vkAllocateMemory(own->device, &memory, NULL, &buffer->memory) != VK_SUCCESS ||
        vkBindBufferMemory(own->device, buffer->handle, buffer->memory, 0) != VK_SUCCESS ||
        vkMapMemory(own->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &mapped) != VK_SUCCESS)
        return false;
    buffer->mapped = mapped;
    buffer->size = size;
    return true;
}

void owner_buffer_destroy(const owner *own, owner_buffer *buffer) {
    vkDestroyBuffer(own->device, buffer->handle, NULL);
    vkFreeMemory(own->device, buffer->memory, NULL);
    memset(buffer, 0, sizeof(*buffer));
}

bool owner_begin(const owner *own) {
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    return vkBeginCommandBuffer(own->commands, &info) == VK_SUCCESS;
}

void owner_barrier(const owner *own) {
    VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdPipelineBarrier(own->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                         VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                         NULL, 0, NULL);
}

bool owner_run(const owner *own) {
    VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &own->commands,
    };
    return vkEndCommandBuffer(own->commands) == VK_SUCCESS &&
           vkQueueSubmit(own->queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS &&
           vkQueueWaitIdle(own->queue) == VK_SUCCESS;
}
