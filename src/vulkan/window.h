// SPDX-License-Identifier: MIT
//
// Tables larger than the device can bind: some tokens at a time, each window with rows and a table of its
// own.
#ifndef ROPE2D_VULKAN_WINDOW_H
#define ROPE2D_VULKAN_WINDOW_H

#include "../internal.h"

// Whether a table of so many (cos, sin) entries fits one buffer or texture of the device.
bool rope2d_vulkan_table_fits(const rope2d_device *device, rope2d_table kind, uint64_t entries);
// The most tokens whose own rows of the table fit; 0: not even one.
uint64_t rope2d_vulkan_window_tokens(const rope2d_positions *positions);
// As rope2d_vulkan_apply and rope2d_vulkan_dispatches, for positions that are not on the device.
rope2d_status rope2d_vulkan_window_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                                         const rope2d_work *work);
rope2d_status rope2d_vulkan_window_dispatches(const rope2d_plan *plan, const rope2d_positions *positions,
                                              const rope2d_work *work, uint64_t *dispatches);

#endif
