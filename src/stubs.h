// SPDX-License-Identifier: MIT
//
// What stands in for a backend in a build without it. The file that includes this says the backend's NAME,
// the OPTION of meson that brings it, and the OPS to define.
#include "backend.h"

static rope2d_status missing(const rope2d_host *host) {
    return rope2d_fail(host, ROPE2D_ERROR_BACKEND_MISSING,
                       "backend is " NAME ", which this build does not have (meson -D" OPTION "=enabled)");
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
const rope2d_backend_ops OPS = {
    .name = NAME,
    .enumerate = enumerate,
    .device_create = device_create,
    .device_destroy = device_destroy,
};
