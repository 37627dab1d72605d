// SPDX-License-Identifier: MIT
//
// What tools/embed.py writes at build time: kernels as bytes, each with the stem of its file.

#ifndef ROPE2D_EMBEDDED_H
#define ROPE2D_EMBEDDED_H

#include <stddef.h>

struct rope2d_embedded {
    const char *name; // "rope2d.cl"; for SPIR-V the name of the module in shaders/meson.build
    const void *data; // text ends with a NUL that `size` does not count; SPIR-V is aligned to its words
    size_t size;      // bytes
};

// Each list ends with an entry whose name is NULL.
extern const struct rope2d_embedded rope2d_embedded_opencl[];
extern const struct rope2d_embedded rope2d_embedded_spirv[];
extern const struct rope2d_embedded rope2d_embedded_glsl[];    // with shaderc only
extern const struct rope2d_embedded rope2d_embedded_include[]; // for shaders of the caller's

#endif
