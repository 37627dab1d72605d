// SPDX-License-Identifier: MIT
#include "vulkan_open.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shim *vulkan_shim_open(void) {
    const char *path = getenv("ROPE2D_TEST_SHIM");
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL)
        return NULL;
    void *found = dlsym(library, "shim_get");
    shim_get_fn *get = NULL;
    memcpy(&get, &found, sizeof(get));
    setenv("ROPE2D_VULKAN_LOADER", path, 1);
    return get != NULL ? get() : NULL;
}

uint32_t vulkan_count(tally *counts) {
    captured_log log = {"", false};
    rope2d_host host = captured_host(&log);
    uint32_t count = 0;
    rope2d_status status = rope2d_enumerate(ROPE2D_BACKEND_VULKAN, &host, &count, NULL);
    if (status == ROPE2D_OK && count > 0)
        return count;
    const char *required = getenv("ROPE2D_REQUIRE_DEVICES");
    bool is_required = required != NULL && (strstr(required, "llvmpipe") || strstr(required, "swiftshader") ||
                                            strstr(required, "vulkan"));
    if (is_required)
        tally_check(counts, false, "no Vulkan device: %s %s", rope2d_status_name(status), log.text);
    else
        counts->skipped++;
    return 0;
}

rope2d_status vulkan_open(uint32_t index, uint32_t flags, const char *folder, captured_log *log,
                          rope2d_device **device) {
    rope2d_host host = captured_host(log);
    rope2d_device_params params = {
        .struct_size = sizeof(params),
        .backend = ROPE2D_BACKEND_VULKAN,
        .index = index,
        .flags = flags,
        .host = &host,
        .shader_folder = folder,
    };
    return rope2d_device_create(&params, device);
}
