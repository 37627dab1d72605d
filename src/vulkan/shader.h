// SPDX-License-Identifier: MIT
//
// SPIR-V of shaders/rope2d.comp: embedded, or compiled at run time when the device was made so.
#ifndef ROPE2D_VULKAN_SHADER_H
#define ROPE2D_VULKAN_SHADER_H

#include "device.h"

// The name of a variant, such as "rope2d_buffer_4". Static text.
const char *rope2d_vulkan_shader_name(uint32_t is_texture, uint32_t slots);

// The caller destroys the module.
rope2d_status rope2d_vulkan_shader_create(struct vulkan_device *device, uint32_t is_texture, uint32_t slots,
                                          VkShaderModule *module);

#endif
