// SPDX-License-Identifier: MIT
//
// A plan on a Vulkan device: a pipeline and the units for each way of handling a head.
#ifndef ROPE2D_VULKAN_PIPELINE_H
#define ROPE2D_VULKAN_PIPELINE_H

#include "memory.h"

// What a kernel handles in one invocation: a pair, or 16 bytes and more.
struct vulkan_kernel {
    VkPipeline pipeline;
    struct vulkan_buffer units;
};

struct vulkan_plan {
    struct vulkan_kernel single;
    struct vulkan_kernel vector; // nothing where the pattern has no vector units
};

#endif
