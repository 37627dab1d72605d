// SPDX-License-Identifier: MIT
#include "compile_count.h"

#include "opencl_shim.h"
#include "vulkan_shim.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static struct shim *vulkan;
static opencl_shim_compiled_fn *opencl;

bool compile_count_open(rope2d_backend backend, const char *path) {
    const bool is_vulkan = backend == ROPE2D_BACKEND_VULKAN;
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    void *found = library ? dlsym(library, is_vulkan ? "shim_get" : "opencl_shim_compiled") : NULL;
    shim_get_fn *get = NULL;
    if (!found)
        return false;
    setenv(is_vulkan ? "ROPE2D_VULKAN_LOADER" : "ROPE2D_OPENCL_LOADER", path, 1);
    if (is_vulkan) {
        memcpy(&get, &found, sizeof(get));
        vulkan = get();
    } else {
        memcpy(&opencl, &found, sizeof(opencl));
    }
    return true;
}

struct shim *compile_count_vulkan(void) {
    return vulkan;
}

long compile_count(void) {
    return vulkan ? (long)vulkan->pipelines : opencl();
}
