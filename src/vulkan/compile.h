// SPDX-License-Identifier: MIT
//
// GLSL compiled at run time by shaderc, for people who edit kernels. A build without shaderc has
// compile_stubs.c instead.
#ifndef ROPE2D_VULKAN_COMPILE_H
#define ROPE2D_VULKAN_COMPILE_H

#include "../internal.h"

// Whether this build can compile; otherwise fails and says so.
rope2d_status rope2d_vulkan_compile_check(const rope2d_host *host);

// Compiles rope2d.comp of a folder, with what it includes there, or the embedded text when folder is NULL.
// The caller releases *words with *bytes. The compiler's log goes to the host's.
rope2d_status rope2d_vulkan_compile(const rope2d_host *host, const char *folder, bool is_vector,
                                    uint32_t **words, uint64_t *bytes);

#endif
