// SPDX-License-Identifier: MIT
//
// What a backend is: one row of functions. The entries are typed by the prototypes below them, so that they
// cannot drift.
#ifndef ROPE2D_BACKEND_H
#define ROPE2D_BACKEND_H

#include "cache.h"
#include "internal.h"

// Lists devices as rope2d_enumerate does.
typedef rope2d_status rope2d_enumerate_fn(const rope2d_host *host, uint32_t *count,
                                          rope2d_device_info *infos);
// Fills device->info and device->impl. On failure the front calls destroy, which accepts a half-built object.
typedef rope2d_status rope2d_device_create_fn(rope2d_device *device, const rope2d_device_params *params);
typedef void rope2d_device_destroy_fn(rope2d_device *device);
// Puts the host's table and rows on the device.
typedef rope2d_status rope2d_positions_create_fn(rope2d_positions *positions);
typedef void rope2d_positions_destroy_fn(rope2d_positions *positions);
// Compiles; fills tensors_per_dispatch and kernel.
typedef rope2d_status rope2d_plan_create_fn(rope2d_plan *plan);
typedef void rope2d_plan_destroy_fn(rope2d_plan *plan);
// Rotates host memory. Thread-safe.
typedef rope2d_status rope2d_apply_fn(const rope2d_plan *plan, const rope2d_positions *positions,
                                      const rope2d_work *work);
typedef rope2d_status rope2d_dispatches_fn(const rope2d_plan *plan, const rope2d_positions *positions,
                                           const rope2d_work *work, uint64_t *dispatches);

// What compiled kernels depend on besides their text: device and driver; and the text that is embedded.
typedef rope2d_status rope2d_cache_key_fn(const rope2d_device *device, rope2d_sha256 *hash);
// The backend's part of a cache, for the front to release. Thread-safe.
typedef rope2d_status rope2d_cache_get_fn(rope2d_device *device, rope2d_blob *part);
// Takes such a part, of the same key and undamaged; the driver may refuse it. While no plan is made.
typedef rope2d_status rope2d_cache_set_fn(rope2d_device *device, const unsigned char *part, uint64_t size);

typedef struct rope2d_backend_ops {
    const char *name;
    rope2d_enumerate_fn *enumerate;
    rope2d_device_create_fn *device_create;
    rope2d_device_destroy_fn *device_destroy;
    rope2d_positions_create_fn *positions_create;
    rope2d_positions_destroy_fn *positions_destroy;
    rope2d_plan_create_fn *plan_create;
    rope2d_plan_destroy_fn *plan_destroy;
    rope2d_apply_fn *apply;
    rope2d_dispatches_fn *dispatches;
    rope2d_cache_key_fn *cache_key; // all three NULL: nothing is compiled
    rope2d_cache_get_fn *cache_get;
    rope2d_cache_set_fn *cache_set;
} rope2d_backend_ops;

// Fills device->info and device->impl from what a caller owns; `params` are the public header's. On failure
// the front calls the backend's destroy.
typedef rope2d_status rope2d_adopt_fn(rope2d_device *device, const void *params);

// device.c: the life of a device whose parts belong to the caller. `host` has been checked.
rope2d_status rope2d_device_adopt(rope2d_backend backend, const rope2d_host *host, rope2d_adopt_fn *adopt,
                                  const void *params, rope2d_device **device);

// One for each backend; of one that is not built in, src/vulkan/stubs.c or src/opencl/stubs.c says so.
extern const rope2d_backend_ops rope2d_cpu_ops;
extern const rope2d_backend_ops rope2d_vulkan_ops;
extern const rope2d_backend_ops rope2d_opencl_ops;

#endif
