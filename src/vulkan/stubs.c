// SPDX-License-Identifier: MIT
#define NAME   "Vulkan"
#define OPTION "vulkan"
#define OPS    rope2d_vulkan_ops
#include "stubs.h"
