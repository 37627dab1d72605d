// SPDX-License-Identifier: MIT
#include "mock.h"

#include "target.h"

#include "library.h"
#include "rope2d/rope2d.h"

#include <string.h>

struct mock mock;

void mock_begin(void) {
    memset(&mock, 0, sizeof mock);
    mock.has_textures = mock.is_coherent = mock.is_unified = mock.has_local = true;
    mock.storage_buffers = 8;
    mock.alignment = 64;
    mock.group_size = 256;
    mock.most_groups = 65535;
    mock.buffer_range = 1 << 24;
}

void mock_check_devices(void) {
    static bool is_checked;
    if (is_checked)
        return;
    is_checked = true;
    static const float freqs[2] = {1, 0};
    const rope2d_spec spec = {.struct_size = sizeof spec, .head_dim = 4, .axes = 1, .freqs = freqs};
    const rope2d_plan_params what = {.struct_size = sizeof what, .spec = &spec};
    for (int backend = ROPE2D_BACKEND_VULKAN; backend < ROPE2D_BACKEND_COUNT; backend++) {
        const rope2d_device_params params = {.struct_size = sizeof params,
                                             .backend = (rope2d_backend)backend};
        rope2d_device *device = NULL;
        rope2d_plan *plan = NULL;
        mock_begin();
        FUZZ_PROMISE(rope2d_device_create(&params, &device) == ROPE2D_OK);
        FUZZ_PROMISE(rope2d_plan_create(device, &what, &plan) == ROPE2D_OK);
        rope2d_plan_destroy(plan);
        rope2d_device_destroy(device);
    }
}

bool mock_fails(void) {
    return ++mock.calls == mock.fail_at;
}

void mock_read(const void *bytes, size_t size) {
    static unsigned char room[4096];
    for (size_t at = 0; at < size; at += sizeof room)
        memcpy(room, (const unsigned char *)bytes + at, size - at < sizeof room ? size - at : sizeof room);
}

void *rope2d_library_open(const char *name) {
    return strstr(name, "ulkan") || strstr(name, "OpenCL") ? &mock : NULL;
}

void rope2d_library_close(void *library) {
    (void)library;
}

void rope2d_library_find(void *library, const char *name, void *function, size_t size) {
    (void)library;
    memset(function, 0, size);
    if (!mock_opencl_find(name, function, size))
        (void)mock_vulkan_find(name, function, size);
}
