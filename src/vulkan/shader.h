// SPDX-License-Identifier: MIT
//
// SPIR-V of shaders/rope2d.comp: embedded, or compiled at run time when the device was made so.
#ifndef ROPE2D_VULKAN_SHADER_H
#define ROPE2D_VULKAN_SHADER_H

#include "device.h"

// What tells the kernels apart: a module, and the constants of shaders/rope2d.comp in the order of their
// numbers.
struct vulkan_variant {
    uint32_t is_vector;
    uint32_t values[4]; // size of a workgroup, type of inputs, type of outputs, R_..._FLAG
};
#define VULKAN_VARIANT_VALUES 4

// Holds what the variant needs alone. The caller destroys the module. Of embedded kernels the device keeps
// the words, for other plans and for its cache: unpacking and folding takes a plan's first kernels 2 ms.
rope2d_status rope2d_vulkan_shader_create(struct vulkan_device *device, const struct vulkan_variant *variant,
                                          VkShaderModule *module);
// What the device keeps of embedded ones; none is legal.
void rope2d_vulkan_shaders_destroy(struct vulkan_device *device);

#endif
