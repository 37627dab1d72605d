// SPDX-License-Identifier: MIT
//
// A device of the caller's. Nothing of it is retained, and its queue serves apply alone.
#include "adopt.h"

// Whether the context has the device; 64 of them are more than any context has been seen to hold.
static rope2d_status check_context(const rope2d_cl *cl, const rope2d_opencl_device_params *params) {
    rope2d_status status = ROPE2D_OK;
    cl_device_id ids[64];
    size_t bytes = 0;
    CL(GetContextInfo, params->context, CL_CONTEXT_DEVICES, 0, NULL, &bytes);
    if (bytes > sizeof(ids))
        return rope2d_fail(cl->host, ROPE2D_ERROR_LIMIT, "params.context has %zu devices; the limit is %zu",
                           bytes / sizeof(*ids), sizeof(ids) / sizeof(*ids));
    CL(GetContextInfo, params->context, CL_CONTEXT_DEVICES, bytes, ids, NULL);
    for (size_t i = 0; i < bytes / sizeof(*ids); i++) {
        if (ids[i] == params->device)
            return ROPE2D_OK;
    }
    return rope2d_fail(cl->host, ROPE2D_ERROR_MISMATCH, "params.device is none of the %zu of params.context",
                       bytes / sizeof(*ids));
fail:
    return status;
}

static rope2d_status check_queue(const rope2d_cl *cl, const rope2d_opencl_device_params *params) {
    rope2d_status status = ROPE2D_OK;
    cl_context context = NULL;
    cl_device_id device = NULL;
    cl_command_queue_properties properties = 0;
    if (!params->queue)
        return ROPE2D_OK;
    CL(GetCommandQueueInfo, params->queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL);
    CL(GetCommandQueueInfo, params->queue, CL_QUEUE_DEVICE, sizeof(device), &device, NULL);
    CL(GetCommandQueueInfo, params->queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties, NULL);
    if (context != params->context || device != params->device)
        return rope2d_fail(cl->host, ROPE2D_ERROR_MISMATCH, "params.queue is not of params.%s",
                           context != params->context ? "context" : "device");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        return rope2d_fail(cl->host, ROPE2D_ERROR_UNSUPPORTED,
                           "params.queue is out of order; rope2d_apply needs one in order");
fail:
    return status;
}

static rope2d_status adopt(rope2d_device *front, const void *given) {
    const rope2d_opencl_device_params *params = given;
    rope2d_status status = ROPE2D_OK;
    bool format = false;
    cl_platform_id platform = NULL;
    rope2d_cl_device *device = rope2d_allocate(&front->host, 1, sizeof(*device));
    if (!device)
        return rope2d_fail(&front->host, ROPE2D_ERROR_HOST_MEMORY, "device: no memory for %zu bytes",
                           sizeof(*device));
    front->impl = device;
    front->flags |= params->flags;
    front->dispatch_bytes = params->dispatch_bytes;
    front->lacks_queue = !params->queue;
    const rope2d_cl *cl = &device->cl;
    device->is_adopted = true;
    OWN(rope2d_cl_load(&device->cl, &front->host));
    OWN(rope2d_cl_cache_create(device));
    OWN(check_context(cl, params));
    OWN(check_queue(cl, params));
    device->id = params->device;
    device->context = params->context;
    device->queue = params->queue;
    CL(GetDeviceInfo, device->id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    OWN(rope2d_cl_check(device));
    OWN(rope2d_cl_describe(cl, platform, device->id, &front->info));
    front->info.index = 0;
    front->converts = ROPE2D_CONVERTS_PERHAPS;
    if (front->flags & ROPE2D_DEVICE_MINIMUM_LIMITS)
        rope2d_cl_clamp(&front->info);
    if (front->info.has_textures) {
        OWN(rope2d_cl_look_for_format(device, &format));
        front->info.has_textures = format;
    }
    OWN(rope2d_cache_open(front, params->cache_folder));
fail:
    return status;
}

rope2d_status rope2d_opencl_device_adopt(const rope2d_opencl_device_params *params, rope2d_device **device) {
    const uint32_t known = ROPE2D_DEVICE_MINIMUM_LIMITS | ROPE2D_DEVICE_RUNTIME_COMPILE;
    if (device)
        *device = NULL;
    if (!params)
        return ROPE2D_ERROR_NULL;
    if (params->struct_size != sizeof(*params))
        return ROPE2D_ERROR_STRUCT_SIZE; // where its host stands is not known
    ROPE2D_TRY(rope2d_host_check(params->host));
    const rope2d_host host = rope2d_host_resolve(params->host);
    if (!device || !params->context || !params->device)
        return rope2d_fail(&host, ROPE2D_ERROR_NULL, "%s is NULL",
                           !device           ? "device"
                           : params->context ? "params.device"
                                             : "params.context");
    if (params->flags & ~known)
        return rope2d_fail(&host, ROPE2D_ERROR_ENUM, "params.flags is 0x%x; this version knows 0x%x",
                           (unsigned)params->flags, (unsigned)known);
    return rope2d_device_adopt(ROPE2D_BACKEND_OPENCL, params->host, adopt, params, device);
}
