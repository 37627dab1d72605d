// SPDX-License-Identifier: MIT
//
// What plans of one structure share on a device: their pattern and the backend's kernels. A lock guards the
// list; making and destroying plans take it, using them never does.
#ifndef ROPE2D_KERNELS_H
#define ROPE2D_KERNELS_H

#include "internal.h"

// Of a device; NULL until then.
rope2d_status rope2d_kernel_list_create(rope2d_device *device);
void rope2d_kernel_list_destroy(rope2d_device *device); // with all kernels that are left; NULL is legal

// Gives a plan, whose pattern, types and kind of table are set, the kernels that another plan of the device
// has, or new ones. The pattern and what the backend filled then belong to plan->kernels. ROPE2D_NOT_READY
// where there are none and they may not be compiled. *compiled: whether new ones were made.
rope2d_status rope2d_kernels_take(rope2d_plan *plan, bool may_compile, bool *compiled);
// Undoes it: the last plan's going destroys them, unless they are kept.
void rope2d_kernels_give(rope2d_plan *plan);
// As long as the device lives.
void rope2d_kernels_keep(const rope2d_plan *plan);

// The self-test's verdict on them, once there is one.
rope2d_exactness rope2d_kernels_verdict(const rope2d_plan *plan);
void rope2d_kernels_set_verdict(const rope2d_plan *plan, rope2d_exactness exactness);

rope2d_converts rope2d_kernels_converts(const rope2d_device *device);
void rope2d_kernels_set_converts(rope2d_device *device, rope2d_converts converts);

#endif
