// SPDX-License-Identifier: MIT
//
// What the engine of engine_vulkan.c owns.
#ifndef ENGINE_VULKAN_H
#define ENGINE_VULKAN_H

#include "attention.h"
#include "gpu.h"

#include <rope2d/rope2d_vulkan.h>

enum { FLIGHTS = 2, NOTHING = FRAMES };

// What a frame that the device works on must not share with the next.
typedef struct flight {
    uint32_t frame; // NOTHING: idle
    gpu_buffer values, q, k, scores;
    VkDescriptorSet project_set, scores_set;
    VkCommandBuffer commands;
    VkFence fence;
    rope2d_vulkan_binding *rotation;
} flight;

typedef struct engine {
    gpu gpu;
    gpu_pass project, scores;
    flight flights[FLIGHTS];
    rope2d_device *device;
    rope2d_plan *plan;
    rope2d_positions *positions;
} engine;

rope2d_status engine_open(engine *own, uint32_t index);
void engine_close(engine *own); // also when it is open in part

#endif
