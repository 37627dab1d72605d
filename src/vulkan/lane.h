// SPDX-License-Identifier: MIT
//
// A lane is what one thread needs to have work under way: a command buffer, a fence, descriptor sets and
// staging memory. Lanes are taken from the device's pool and given back, so that several threads apply at
// once and nothing is made twice.
#ifndef ROPE2D_VULKAN_LANE_H
#define ROPE2D_VULKAN_LANE_H

#include "descriptors.h"

struct vulkan_lane {
    struct vulkan_lane *next; // in the pool
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkDescriptorPool descriptors;
    VkDescriptorSet sets[2];           // one for each of the device's layouts
    struct vulkan_descriptors written; // of the dispatch under way
    struct vulkan_buffer shape;        // the words of shaders/shape.h
    struct vulkan_buffer arena;        // tensors as kernels see them
    struct vulkan_buffer mirror; // the same on the host, where the arena cannot be read or written directly
};

// Thread-safe. The lane is the caller's until it is given back.
rope2d_status rope2d_vulkan_lane_take(struct vulkan_device *device, struct vulkan_lane **lane);
// `is_sound`: nothing failed; otherwise the lane is destroyed.
void rope2d_vulkan_lane_give(struct vulkan_device *device, struct vulkan_lane *lane, bool is_sound);
void rope2d_vulkan_lanes_destroy(struct vulkan_device *device); // those in the pool

// Makes the arena, and the mirror where one is needed, at least as large as `bytes`.
rope2d_status rope2d_vulkan_lane_reserve(struct vulkan_device *device, struct vulkan_lane *lane,
                                         uint64_t bytes);

rope2d_status rope2d_vulkan_lane_begin(struct vulkan_device *device, struct vulkan_lane *lane);
// Ends the commands, submits them and waits. When it fails, nothing is under way any more.
rope2d_status rope2d_vulkan_lane_run(struct vulkan_device *device, struct vulkan_lane *lane);

#endif
