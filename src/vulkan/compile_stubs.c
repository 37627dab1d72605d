// SPDX-License-Identifier: MIT
//
// What stands in for shaderc in a build without it.
#include "compile.h"

rope2d_status rope2d_vulkan_compile_check(const rope2d_host *host) {
    return rope2d_fail(host, ROPE2D_ERROR_UNSUPPORTED,
                       "shader_folder or ROPE2D_DEVICE_RUNTIME_COMPILE: this build has no shaderc to compile "
                       "with (meson -Dshaderc=enabled)");
}

rope2d_status rope2d_vulkan_compile(const rope2d_host *host, const char *folder, bool is_vector,
                                    uint32_t **words, uint64_t *bytes) {
    (void)folder;
    (void)is_vector;
    *words = NULL;
    *bytes = 0;
    return rope2d_vulkan_compile_check(host);
}
