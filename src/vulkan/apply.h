// SPDX-License-Identifier: MIT
#ifndef ROPE2D_VULKAN_APPLY_H
#define ROPE2D_VULKAN_APPLY_H

#include "../internal.h"

rope2d_status rope2d_vulkan_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                                  const rope2d_work *work);
rope2d_status rope2d_vulkan_dispatches(const rope2d_plan *plan, const rope2d_positions *positions,
                                       const rope2d_work *work, uint64_t *dispatches);

#endif
