// SPDX-License-Identifier: MIT
//
// The project's shaders in a folder of a test's, edited.
#ifndef TEST_VULKAN_SHADERS_H
#define TEST_VULKAN_SHADERS_H

#include <stdbool.h>

// Copies them, with each line that begins with `from` replaced by `to`; NULL: none.
bool vulkan_shaders_copy(const char *folder, const char *from, const char *to);
// And the folder.
void vulkan_shaders_remove(const char *folder);

#endif
