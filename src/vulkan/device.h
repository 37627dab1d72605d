// SPDX-License-Identifier: MIT
//
// A Vulkan device: instance, queue, the layouts that every kernel shares, and a pool of lanes.
#ifndef ROPE2D_VULKAN_DEVICE_H
#define ROPE2D_VULKAN_DEVICE_H

#include "../embedded.h"
#include "../lock.h"
#include "../records.h"
#include "load.h"

#define VENDOR_GOOGLE 0x1ae0

struct vulkan_block;
struct vulkan_lane;

// Whether lanes are vectors of a CPU that runs one after the other to its end: lavapipe's, and not
// SwiftShader's.
static inline bool rope2d_vulkan_keeps_order(const rope2d_device_info *info) {
    return info->is_software && info->vendor_id != VENDOR_GOOGLE;
}

// What a kernel's bindings look like; index 1 of the device's two is for tables that are textures.
struct vulkan_layout {
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
    uint32_t slots; // tensors of a dispatch: 1 or 2
};

struct vulkan_device {
    const rope2d_device *owner;
    struct vulkan_instance instance;
    struct VolkDeviceTable vk;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice handle;
    uint32_t queue_family;
    VkQueue queue;   // NULL: nothing is submitted. Externally synchronised: see rope2d_vulkan_queue_take
    bool is_adopted; // instance and device are the caller's
    const VkAllocationCallbacks *allocation; // NULL or `callbacks`
    VkAllocationCallbacks callbacks;
    bool owns_pipeline_cache;
    bool has_int64;                                // shaderInt64 is enabled
    bool has_robustness;                           // and pipelineRobustness
    bool pushes;                                   // descriptors are pushed: sets are never allocated
    void (*lock_queue)(void *user, VkQueue queue); // NULL: the queue is ours alone
    void (*unlock_queue)(void *user, VkQueue queue);
    void *queue_user;
    VkSampler sampler;
    VkPipelineCache pipeline_cache; // ours, or the caller's: plans of other structures compile the same
                                    // kernels
    struct vulkan_layout layouts[2];
    rope2d_lock kernel_lock;
    rope2d_kernel_bytes kernels[2]; // embedded: single, vector; unpacked once, under kernel_lock
    rope2d_record *modules;         // folded, each under its variant; under kernel_lock
    uint32_t group_size;            // invocations of a workgroup with single units
    uint32_t vector_group;          // and with vector units, at most
    uint64_t arena_bytes;           // most staging memory of a dispatch
    rope2d_lock queue_lock;
    rope2d_lock lane_lock;
    struct vulkan_lane *idle_lanes; // guarded by lane_lock
    rope2d_lock pool_lock;
    struct vulkan_block *blocks; // guarded by pool_lock
    rope2d_lock retire_lock;
    struct rope2d_retired *retired; // guarded by retire_lock
    struct vulkan_block *given;     // of the caller's, for uniform buffers; guarded by pool_lock; NULL: none
};

static inline struct vulkan_device *rope2d_vulkan_of(const rope2d_device *device) {
    return device->impl;
}

// enumerate.c: an instance without layers, and what is on it.
rope2d_status rope2d_vulkan_instance_create(struct vulkan_instance *instance, const rope2d_host *host);
// The instance's devices that can compute, in the driver's order. The caller releases *list with *capacity.
rope2d_status rope2d_vulkan_physical_list(const struct vulkan_instance *instance, const rope2d_host *host,
                                          VkPhysicalDevice **list, uint32_t *capacity, uint32_t *count);
// The first queue family that computes; UINT32_MAX when there is none, and when it fails.
rope2d_status rope2d_vulkan_queue_family(const struct vulkan_instance *instance, const rope2d_host *host,
                                         VkPhysicalDevice physical, uint32_t *family);
bool rope2d_vulkan_has_extension(const struct vulkan_instance *instance, const rope2d_host *host,
                                 VkPhysicalDevice physical, const char *name);

// describe.c: fills all of info but its size.
void rope2d_vulkan_describe(const struct vulkan_instance *instance, const rope2d_host *host,
                            VkPhysicalDevice physical, uint32_t index, bool minimum_limits,
                            rope2d_device_info *info);
// Refuses a device that reports limits which it cannot have.
rope2d_status rope2d_vulkan_check_limits(const struct vulkan_instance *instance, const rope2d_host *host,
                                         VkPhysicalDevice physical, const rope2d_device_info *info);
// As the driver says, but for what reaches past the arrays.
void rope2d_vulkan_describe_memory(const struct vulkan_instance *instance, VkPhysicalDevice physical,
                                   VkPhysicalDeviceMemoryProperties *memory);

// create.c: what every device has whoever made it: layouts and the sampler. Compiles and submits nothing.
rope2d_status rope2d_vulkan_parts_create(struct vulkan_device *device, rope2d_device *owner);
// Between them the queue is this thread's.
void rope2d_vulkan_queue_take(struct vulkan_device *device);
void rope2d_vulkan_queue_give(struct vulkan_device *device);

// retire.c: destroys all that was retired.
void rope2d_vulkan_drain(rope2d_device *device);

// pipeline.c
// Invocations of a workgroup of the plan's vector units.
uint32_t rope2d_vulkan_vector_group(const rope2d_plan *plan);
rope2d_status rope2d_vulkan_layout_create(struct vulkan_device *device, uint32_t is_texture);
void rope2d_vulkan_layout_destroy(struct vulkan_device *device, uint32_t is_texture);

// The backend's row.
rope2d_status rope2d_vulkan_enumerate(const rope2d_host *host, uint32_t *count, rope2d_device_info *infos);
rope2d_status rope2d_vulkan_device_create(rope2d_device *device, const rope2d_device_params *params);
void rope2d_vulkan_device_destroy(rope2d_device *device);
rope2d_status rope2d_vulkan_positions_create(rope2d_positions *positions);
void rope2d_vulkan_positions_destroy(rope2d_positions *positions);
rope2d_status rope2d_vulkan_plan_create(rope2d_plan *plan);
void rope2d_vulkan_plan_destroy(rope2d_plan *plan);

#endif
