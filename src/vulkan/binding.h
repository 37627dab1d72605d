// SPDX-License-Identifier: MIT
//
// What a recording needs: a descriptor set and the words of shaders/shape.h for each dispatch.
#ifndef ROPE2D_VULKAN_BINDING_H
#define ROPE2D_VULKAN_BINDING_H

#include "memory.h"

#include "rope2d/rope2d_vulkan.h"

struct vulkan_dispatch {
    VkDescriptorSet set;
    VkPipeline pipeline;
    uint32_t groups[2];
};

// Room for a number of dispatches. May be half-built: destroy accepts it, zeroed memory too.
struct vulkan_sets {
    VkDescriptorPool pool;
    struct vulkan_buffer shapes; // one after the other, SHAPE_STEP bytes apart
    struct vulkan_dispatch *dispatches;
    uint32_t capacity;
};

struct rope2d_vulkan_binding {
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    struct vulkan_device *device;
    VkPipelineLayout layout;
    struct vulkan_sets sets;
    uint32_t count; // dispatches in use
};

#endif
