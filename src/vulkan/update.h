// SPDX-License-Identifier: MIT
//
// An update of a binding under way. The caller's buffers are checked as host tensors are: each gets a range
// of made-up addresses, which never meet.
#ifndef ROPE2D_VULKAN_UPDATE_H
#define ROPE2D_VULKAN_UPDATE_H

#include "../stage.h"
#include "binding.h"

struct vulkan_address_range {
    VkBuffer buffer;
    uint64_t address; // a multiple of VULKAN_SHAPE_STEP, ascending
    uint64_t size;
};

struct vulkan_update {
    const rope2d_host *host;
    const struct vulkan_device *device;
    const rope2d_vulkan_binding_params *params;
    struct vulkan_address_range ranges[2 * ROPE2D_MAX_TENSORS];
    uint32_t range_count;
    rope2d_tensor tensors[ROPE2D_MAX_TENSORS];
    rope2d_checked_tensor checked[ROPE2D_MAX_TENSORS];
    rope2d_work work;
    rope2d_positions seen; // what kernels see: the binding's positions, with row numbers of the caller's
                           // where it has some; borrows all it has
    struct vulkan_positions table;
};

// Checks everything, and fills the update.
rope2d_status rope2d_vulkan_update_check(const rope2d_vulkan_binding *binding, struct vulkan_update *update);
// Where a side of a piece lies in the caller's buffers.
VkDescriptorBufferInfo rope2d_vulkan_update_describe(const struct vulkan_update *update,
                                                     const rope2d_stage_side *side);

#endif
