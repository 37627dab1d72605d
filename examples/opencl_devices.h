// SPDX-License-Identifier: MIT
#ifndef OPENCL_DEVICES_H
#define OPENCL_DEVICES_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { OPENCL_MOST_DEVICES = 16 };

// All devices of all platforms; how many there are.
cl_uint opencl_devices(cl_device_id devices[OPENCL_MOST_DEVICES]);

#endif
