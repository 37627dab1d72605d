// SPDX-License-Identifier: MIT
//
// What stands in for the Vulkan backend in a build without it.
#include "backend.h"

static rope2d_status missing(const rope2d_host *host) {
    return rope2d_fail(host, ROPE2D_ERROR_BACKEND_MISSING,
                       "backend is Vulkan, which this build does not have (meson -Dvulkan=enabled)");
}

static rope2d_status enumerate(const rope2d_host *host, uint32_t *count, rope2d_device_info *infos) {
    (void)infos;
    *count = 0;
    return missing(host);
}

static rope2d_status device_create(rope2d_device *device, const rope2d_device_params *params) {
    (void)params;
    return missing(&device->host);
}

static void device_destroy(rope2d_device *device) {
    (void)device;
}

// No device, hence none of the rest.
const rope2d_backend_ops rope2d_vulkan_ops = {
    .name = "Vulkan",
    .enumerate = enumerate,
    .device_create = device_create,
    .device_destroy = device_destroy,
};
