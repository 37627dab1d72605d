// SPDX-License-Identifier: MIT
#include "opencl_devices.h"

cl_uint opencl_devices(cl_device_id devices[OPENCL_MOST_DEVICES]) {
    cl_platform_id platforms[8];
    cl_uint platform_count = 0, total = 0;
    if (clGetPlatformIDs(8, platforms, &platform_count) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < platform_count && i < 8; i++) {
        const cl_uint room = OPENCL_MOST_DEVICES - total;
        cl_uint found = 0;
        if (room > 0 &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, room, devices + total, &found) == CL_SUCCESS)
            total += found < room ? found : room;
    }
    return total;
}
