// SPDX-License-Identifier: MIT
//
// What a recording needs: a descriptor set and the words of shaders/shape.h for each dispatch.
#ifndef ROPE2D_VULKAN_BINDING_H
#define ROPE2D_VULKAN_BINDING_H

#include "../stage.h"
#include "descriptors.h"

#include "rope2d/rope2d_vulkan.h"

#define VULKAN_SHAPE_BYTES (R_SHAPE_WORDS * sizeof(uint32_t))
#define VULKAN_SHAPE_STEP  512 // no device asks for a coarser alignment, of uniform or of storage buffers

_Static_assert(VULKAN_SHAPE_BYTES <= VULKAN_SHAPE_STEP, "a shape fits its step");
_Static_assert(VULKAN_SHAPE_STEP == ROPE2D_VULKAN_DISPATCH_BYTES, "what callers are told");

struct vulkan_dispatch {
    VkDescriptorSet set; // VK_NULL_HANDLE where descriptors are pushed
    VkPipeline pipeline;
    struct vulkan_window window;   // of the row numbers
    uint32_t words[R_RANGE_WORDS]; // of all its tokens
    rope2d_piece piece;            // points to:
    rope2d_checked_tensor tensors[R_MAX_DISPATCH_TENSORS];
};

// Room for a number of dispatches. May be half-built: destroy accepts it, zeroed memory too.
struct vulkan_sets {
    VkDescriptorPool pool;
    struct vulkan_buffer shapes; // one after the other, VULKAN_SHAPE_STEP bytes apart
    struct vulkan_dispatch *dispatches;
    struct vulkan_descriptors *pushed; // of each dispatch; NULL where sets are bound
    uint32_t capacity;
};

struct rope2d_vulkan_binding {
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    struct vulkan_device *device;
    VkPipelineLayout layout;
    struct vulkan_sets sets;
    uint32_t count;        // dispatches in use
    rope2d_work work;      // its tensors are the dispatches'
    rope2d_positions seen; // by kernels: the positions, with row numbers of the caller's where there are some
    uint32_t fold;         // of the table
    struct rope2d_retired retired;
};

#endif
