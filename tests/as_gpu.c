// SPDX-License-Identifier: MIT
#include "as_gpu.h"

#include "compile_count.h"
#include "opencl_shim.h"
#include "vulkan_shim.h"

#include <dlfcn.h>
#include <string.h>

enum { VULKAN_GPU = 2, OPENCL_TYPE = 0x1000 }; // VK_PHYSICAL_DEVICE_TYPE_..., CL_DEVICE_TYPE

bool as_gpu(rope2d_backend backend, const char *path) {
    if (!compile_count_open(backend, path))
        return false;
    struct shim *vulkan = compile_count_vulkan();
    if (vulkan) {
        vulkan->lie = SHIM_LIE_TYPE;
        vulkan->lie_with = VULKAN_GPU;
        return true;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, "opencl_shim_lie") : NULL;
    opencl_shim_lie_fn *lie = NULL;
    if (!found)
        return false;
    memcpy(&lie, &found, sizeof(lie));
    lie(OPENCL_TYPE, 1); // none, so no CPU
    return true;
}
