// SPDX-License-Identifier: MIT
//
// What the Vulkan tests share: the shim, and a machine without Vulkan devices.
#ifndef TEST_VULKAN_OPEN_H
#define TEST_VULKAN_OPEN_H

#include "jobs.h"
#include "vulkan_shim.h"

// Puts the shim, which the environment variable ROPE2D_TEST_SHIM names, before the loader for the whole
// program. NULL when that fails.
struct shim *vulkan_shim_open(void);

// How many Vulkan devices there are. When there are none, counts a skip or, where ROPE2D_REQUIRE_DEVICES
// names one of Vulkan's, a failure.
uint32_t vulkan_count(tally *counts);

rope2d_status vulkan_open(uint32_t index, uint32_t flags, const char *folder, captured_log *log,
                          rope2d_device **device);

#endif
