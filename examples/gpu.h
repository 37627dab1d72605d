// SPDX-License-Identifier: MIT
//
// The part of a renderer that owns Vulkan: instance, device, queue, memory, pipelines. It knows nothing of
// rope2d. A call of the driver that fails ends the program, as it may in an example.
#ifndef GPU_H
#define GPU_H

#define VK_NO_PROTOTYPES
#include <volk.h>

enum { GPU_MAX_DEVICES = 8, GPU_MAX_BUFFERS = 4 }; // four storage buffers: what every device has

typedef struct gpu {
    VkInstance instance;
    uint32_t count;
    VkPhysicalDevice physicals[GPU_MAX_DEVICES];
    // of the device that is open
    VkPhysicalDevice physical;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    VkDevice device;
    uint32_t family;
    VkQueue queue;
    VkCommandPool commands;
    VkDescriptorPool sets;
} gpu;

typedef struct gpu_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    void *mapped; // coherent
    uint64_t size;
} gpu_buffer;

// A compute shader over a few storage buffers, numbered from 0, and push constants.
typedef struct gpu_pass {
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    uint32_t buffers;
    uint32_t push_bytes;
} gpu_pass;

void gpu_must(VkResult result, const char *what);

// Fills count, which is 0 where there is no Vulkan.
void gpu_create(gpu *own);
void gpu_open(gpu *own, uint32_t index);
void gpu_close(gpu *own);
void gpu_destroy(gpu *own);

gpu_buffer gpu_buffer_make(const gpu *own, uint64_t size);
void gpu_buffer_free(const gpu *own, gpu_buffer *buffer);

gpu_pass gpu_pass_make(const gpu *own, const uint32_t *code, size_t bytes, uint32_t buffers,
                       uint32_t push_bytes);
void gpu_pass_free(const gpu *own, gpu_pass *pass);
VkDescriptorSet gpu_set_make(const gpu *own, const gpu_pass *pass, const VkDescriptorBufferInfo *buffers);

VkCommandBuffer gpu_commands_make(const gpu *own);
void gpu_begin(VkCommandBuffer commands);
void gpu_run(VkCommandBuffer commands, const gpu_pass *pass, VkDescriptorSet set, const void *push,
             uint32_t groups);
// What compute shaders wrote becomes visible to those that follow, and to the host.
void gpu_barrier(VkCommandBuffer commands);
void gpu_submit(const gpu *own, VkCommandBuffer commands, VkFence fence);

#endif
