// SPDX-License-Identifier: MIT
#ifndef ROPE2D_VULKAN_CACHE_H
#define ROPE2D_VULKAN_CACHE_H

#include "../backend.h"
#include "device.h"

// An empty one, unless the caller brought one.
rope2d_status rope2d_vulkan_cache_create(struct vulkan_device *device);
void rope2d_vulkan_cache_destroy(struct vulkan_device *device);

rope2d_cache_key_fn rope2d_vulkan_cache_key;
rope2d_cache_get_fn rope2d_vulkan_cache_get;
rope2d_cache_set_fn rope2d_vulkan_cache_set;

#endif
