// SPDX-License-Identifier: MIT
//
// What tools/embed.py writes at build time: kernels, packed, each with the stem of its file.
#ifndef ROPE2D_EMBEDDED_H
#define ROPE2D_EMBEDDED_H

#include "internal.h"

typedef enum rope2d_embedded_kind {
    ROPE2D_EMBEDDED_PLAIN,  // text that is not packed, with a NUL behind it
    ROPE2D_EMBEDDED_PACKED, // text
    ROPE2D_EMBEDDED_SPIRV   // tokens of SPIR-V, packed
} rope2d_embedded_kind;

struct rope2d_embedded {
    const char *name; // "rope2d.cl"; for SPIR-V the name of the module in shaders/meson.build
    rope2d_embedded_kind kind;
    const unsigned char *data;
    size_t data_size;
    size_t stream_size; // of the bytes that are packed: text, or tokens
    size_t size;        // of the kernel
};

// What `embed.py --unpacked` writes for programs that do not look inside the library.
struct rope2d_unpacked {
    const char *name; // NULL behind the last
    const void *data; // words of SPIR-V, or text with a NUL that `size` does not count
    size_t size;
};

// Each list ends with an entry whose name is NULL. An entry is packed as what follows the list's first.
extern const struct rope2d_embedded rope2d_embedded_opencl[];
extern const struct rope2d_embedded rope2d_embedded_spirv[];
extern const struct rope2d_embedded rope2d_embedded_glsl[];    // with shaderc only
extern const struct rope2d_embedded rope2d_embedded_include[]; // for shaders of the caller's

// A kernel as its file has it.
typedef struct rope2d_kernel_bytes {
    void *data;  // words of SPIR-V in this machine's order, or text with a NUL that `size` does not count
    size_t size; // bytes
    size_t capacity;
} rope2d_kernel_bytes;

// `kernel` is left destroyable when it fails, and so is `first`, which begins as zeros and gets the list's
// first kernel on the way; NULL: it is not asked for.
rope2d_status rope2d_embedded_create(const rope2d_host *host, const struct rope2d_embedded *list,
                                     const char *name, rope2d_kernel_bytes *kernel,
                                     rope2d_kernel_bytes *first);
void rope2d_embedded_destroy(const rope2d_host *host, rope2d_kernel_bytes *kernel);

#endif
