// SPDX-License-Identifier: MIT
//
// What a report says about a device, and about this build.
#ifndef ROPE2D_VERIFY_FACTS_H
#define ROPE2D_VERIFY_FACTS_H

#include <cjson/cJSON.h>

#include "rope2d/rope2d.h"

// NULL when memory runs out.
cJSON *facts_of(const rope2d_device *device);
// Of a program that is a device nothing is known but its command line.
cJSON *facts_of_program(const char *command);
// Each kernel that is embedded: its kind, name and SHA-256.
cJSON *facts_of_sources(void);
// Version, processor, operating system, compilers.
cJSON *facts_of_build(void);

// facts_vulkan.c and facts_opencl.c: what a backend's API says besides. Nothing where it is not built in.
void facts_add_vulkan(cJSON *facts, const rope2d_device *device);
void facts_add_opencl(cJSON *facts, const rope2d_device *device);

#endif
