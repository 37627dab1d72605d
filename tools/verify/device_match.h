// SPDX-License-Identifier: MIT
//
// Devices of a report by what people call them.
#ifndef ROPE2D_VERIFY_DEVICE_MATCH_H
#define ROPE2D_VERIFY_DEVICE_MATCH_H

#include <cjson/cJSON.h>
#include <stdbool.h>

// "vulkan:0", a backend, or part of its name, vendor or driver, whatever the case of letters.
bool device_matches(const cJSON *device, const char *part);

// Whether a driver's version lies between two, both included; NULL: open. A version is the first run of
// digits and points in a text, compared number by number.
bool device_version_between(const char *driver, const char *from, const char *to);

#endif
