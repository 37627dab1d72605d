// SPDX-License-Identifier: MIT
// The devices of this machine, and those that the environment requires.
//
// ROPE2D_REQUIRE_DEVICES is a list joined by commas; an entry is part of a device's name, vendor, driver or
// backend, whatever the case of letters, and may begin with a backend: `cpu,vulkan:llvmpipe,opencl:pocl`.
#ifndef HARNESS_DEVICES_H
#define HARNESS_DEVICES_H

#include "report.h"

#include <stdbool.h>

#define HARNESS_MAX_DEVICES 16

struct harness_devices {
    uint32_t count;
    rope2d_device_info infos[HARNESS_MAX_DEVICES];
    bool required[HARNESS_MAX_DEVICES];
};

const char *harness_backend_name(rope2d_backend backend);
// False when there is none of that name.
bool harness_backend_from_name(const char *name, size_t length, rope2d_backend *backend);

// What is asked for on the command line: `all`, a backend, or a backend and an index such as `vulkan:1`.
// Lists those devices. A backend that is absent is a counted skip, an entry of ROPE2D_REQUIRE_DEVICES that no
// device satisfies a failure; entries that name another backend, or that another backend's device satisfies,
// are that backend's concern.
void harness_devices_find(struct harness_devices *devices, const char *wanted, struct harness_report *report);

bool harness_quick(void); // ROPE2D_QUICK=1

#endif
