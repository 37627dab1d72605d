// SPDX-License-Identifier: MIT
#include "facts.h"

#include "config.h"

#if ROPE2D_HAVE_OPENCL
#include "opencl/opencl.h"

// Since OpenCL 3.0; headers of older versions lack it.
#ifndef CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED
#define CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED 0x1072
#endif

static void add_text(cJSON *facts, const rope2d_cl_device *opencl, const char *key, cl_device_info what) {
    char text[512] = "";
    size_t size = 0;
    if (!opencl->cl.GetDeviceInfo(opencl->id, what, sizeof text - 1, text, &size) && *text)
        cJSON_AddStringToObject(facts, key, text);
}

void facts_add_opencl(cJSON *facts, const rope2d_device *device) {
    static const struct {
        const char *key;
        cl_device_fp_config bit;
    } bits[] = {
        {"denorm", CL_FP_DENORM},
        {"inf_nan", CL_FP_INF_NAN},
        {"round_to_nearest", CL_FP_ROUND_TO_NEAREST},
        {"round_to_zero", CL_FP_ROUND_TO_ZERO},
        {"fma", CL_FP_FMA},
        {"correctly_rounded_divide_sqrt", CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT},
        {"soft_float", CL_FP_SOFT_FLOAT},
    };
    const rope2d_cl_device *opencl = device->impl;
    cl_device_fp_config config = 0;
    add_text(facts, opencl, "api_version", CL_DEVICE_VERSION);
    add_text(facts, opencl, "language_version", CL_DEVICE_OPENCL_C_VERSION);
    add_text(facts, opencl, "driver_version", CL_DRIVER_VERSION);
    add_text(facts, opencl, "conformance_version", CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED);
    cJSON_AddStringToObject(facts, "float_modes_enabled", "FP_CONTRACT OFF");
    if (opencl->cl.GetDeviceInfo(opencl->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL))
        return;
    cJSON *object = cJSON_AddObjectToObject(facts, "float_controls");
    for (size_t i = 0; i < sizeof bits / sizeof *bits; ++i)
        cJSON_AddBoolToObject(object, bits[i].key, (config & bits[i].bit) != 0);
}
#else
void facts_add_opencl(cJSON *facts, const rope2d_device *device) {
    (void)facts;
    (void)device;
}
#endif
