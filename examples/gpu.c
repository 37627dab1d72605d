// SPDX-License-Identifier: MIT
#define VOLK_IMPLEMENTATION
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gpu_must(VkResult result, const char *what) {
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "%s: VkResult %d\n", what, (int)result);
    exit(EXIT_FAILURE);
}

void gpu_create(gpu *own) {
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_0};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    memset(own, 0, sizeof(*own));
    if (volkInitialize() != VK_SUCCESS || vkCreateInstance(&info, NULL, &own->instance) != VK_SUCCESS) {
        own->instance = NULL;
        return;
    }
    volkLoadInstance(own->instance);
    own->count = GPU_MAX_DEVICES;
    if (vkEnumeratePhysicalDevices(own->instance, &own->count, own->physicals) < VK_SUCCESS)
        own->count = 0;
}

static uint32_t find_family(VkPhysicalDevice physical) {
    VkQueueFamilyProperties families[8];
    uint32_t count = 8, i = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    while (i + 1 < count && !(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
        i++;
    return i;
}

void gpu_open(gpu *own, uint32_t index) {
    own->physical = own->physicals[index];
    own->family = find_family(own->physical);
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(own->physical, &properties);
    memcpy(own->name, properties.deviceName, sizeof(own->name));

    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = own->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    gpu_must(vkCreateDevice(own->physical, &info, NULL, &own->device), "vkCreateDevice");
    volkLoadDevice(own->device);
    vkGetDeviceQueue(own->device, own->family, 0, &own->queue);

    const VkCommandPoolCreateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                              .queueFamilyIndex = own->family};
    gpu_must(vkCreateCommandPool(own->device, &commands, NULL, &own->commands), "vkCreateCommandPool");
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 16 * GPU_MAX_BUFFERS};
    const VkDescriptorPoolCreateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 16,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    gpu_must(vkCreateDescriptorPool(own->device, &sets, NULL, &own->sets), "vkCreateDescriptorPool");
}

void gpu_close(gpu *own) {
    vkDestroyDescriptorPool(own->device, own->sets, NULL);
    vkDestroyCommandPool(own->device, own->commands, NULL);
    vkDestroyDevice(own->device, NULL);
    own->device = NULL;
}

void gpu_destroy(gpu *own) {
    if (own->instance != NULL)
        vkDestroyInstance(own->instance, NULL);
    own->instance = NULL;
}

static uint32_t find_memory(const gpu *own, uint32_t allowed) {
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    uint32_t i = 0;
    vkGetPhysicalDeviceMemoryProperties(own->physical, &memory);
    while (i + 1 < memory.memoryTypeCount &&
           !((allowed & 1u << i) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted))
        i++;
    return i;
}

gpu_buffer gpu_buffer_make(const gpu *own, uint64_t size) {
    gpu_buffer made = {.size = size};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    gpu_must(vkCreateBuffer(own->device, &info, NULL, &made.handle), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(own->device, made.handle, &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = find_memory(own, needs.memoryTypeBits)};
    gpu_must(vkAllocateMemory(own->device, &memory, NULL, &made.memory), "vkAllocateMemory");
    gpu_must(vkBindBufferMemory(own->device, made.handle, made.memory, 0), "vkBindBufferMemory");
    gpu_must(vkMapMemory(own->device, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped), "vkMapMemory");
    return made;
}

void gpu_buffer_free(const gpu *own, gpu_buffer *buffer) {
    vkDestroyBuffer(own->device, buffer->handle, NULL);
    vkFreeMemory(own->device, buffer->memory, NULL);
    memset(buffer, 0, sizeof(*buffer));
}
