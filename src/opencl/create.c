// SPDX-License-Identifier: MIT
#include "opencl.h"

#include <string.h>

// Every device of every platform, in the order of the loader.
typedef struct device_list {
    cl_device_id *ids;
    cl_platform_id *platforms; // of each device
    cl_uint count;
    cl_uint capacity;
} device_list;

static void list_destroy(const rope2d_cl *cl, device_list *list) {
    rope2d_release(cl->host, list->ids, list->capacity, sizeof(*list->ids));
    rope2d_release(cl->host, list->platforms, list->capacity, sizeof(*list->platforms));
    memset(list, 0, sizeof(*list));
}

// What one platform's failure means: it has no devices, and the others are as good as before.
static cl_uint count_devices(const rope2d_cl *cl, cl_platform_id platform) {
    cl_uint count = 0;
    cl_int code = cl->GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (code == CL_SUCCESS)
        return count;
    if (code != CL_DEVICE_NOT_FOUND)
        rope2d_log(cl->host, ROPE2D_LOG_WARNING, "OpenCL: clGetDeviceIDs failed (%d): a platform is left out",
                   (int)code);
    return 0;
}

static rope2d_status list_fill(const rope2d_cl *cl, const cl_platform_id *platforms, cl_uint platform_count,
                               device_list *list) {
    for (cl_uint i = 0; i < platform_count; i++)
        list->capacity += count_devices(cl, platforms[i]);
    if (list->capacity == 0)
        return ROPE2D_OK;
    list->ids = rope2d_allocate(cl->host, list->capacity, sizeof(*list->ids));
    list->platforms = rope2d_allocate(cl->host, list->capacity, sizeof(*list->platforms));
    if (!list->ids || !list->platforms)
        return rope2d_fail(cl->host, ROPE2D_ERROR_HOST_MEMORY, "devices: no memory for a list of %u",
                           (unsigned)list->capacity);
    for (cl_uint i = 0; i < platform_count && list->count < list->capacity; i++) {
        cl_uint room = list->capacity - list->count, found = 0;
        if (cl->GetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, room, list->ids + list->count, &found) !=
            CL_SUCCESS)
            continue; // said above, or the platform has none
        for (cl_uint d = 0; d < found && d < room; d++)
            list->platforms[list->count++] = platforms[i];
    }
    return ROPE2D_OK;
}

#define PLATFORM_NOT_FOUND_KHR (-1001) // the loader's answer where no driver is installed

static rope2d_status list_create(const rope2d_cl *cl, device_list *list) {
    rope2d_status status = ROPE2D_OK;
    cl_platform_id *platforms = NULL;
    cl_uint count = 0;
    memset(list, 0, sizeof(*list));
    cl_int code = cl->GetPlatformIDs(0, NULL, &count);
    if (code == PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && count == 0))
        return ROPE2D_OK;
    if (code != CL_SUCCESS)
        return rope2d_cl_failed(cl, "clGetPlatformIDs", code);
    platforms = rope2d_allocate(cl->host, count, sizeof(*platforms));
    if (!platforms)
        return rope2d_fail(cl->host, ROPE2D_ERROR_HOST_MEMORY, "platforms: no memory for a list of %u",
                           (unsigned)count);
    CL(GetPlatformIDs, count, platforms, NULL);
    OWN(list_fill(cl, platforms, count, list));
fail:
    rope2d_release(cl->host, platforms, count, sizeof(*platforms));
    if (status != ROPE2D_OK)
        list_destroy(cl, list);
    return status;
}

rope2d_status rope2d_opencl_enumerate(const rope2d_host *host, uint32_t *count, rope2d_device_info *infos) {
    rope2d_status status = ROPE2D_OK;
    rope2d_host resolved = rope2d_host_resolve(host);
    rope2d_cl table, *cl = &table;
    device_list list;
    ROPE2D_TRY(rope2d_cl_load(cl, &resolved));
    OWN(list_create(cl, &list));
    for (uint32_t i = 0; infos && i < list.count && i < *count; i++) {
        size_t struct_size = infos[i].struct_size;
        memset(&infos[i], 0, sizeof(infos[i]));
        infos[i].struct_size = struct_size;
        status = rope2d_cl_describe(cl, list.platforms[i], list.ids[i], &infos[i]);
        if (status != ROPE2D_OK)
            break;
        infos[i].index = i;
    }
    if (status == ROPE2D_OK)
        *count = list.count;
    list_destroy(cl, &list);
fail:
    rope2d_cl_unload(cl);
    return status;
}

rope2d_status rope2d_cl_look_for_format(rope2d_cl_device *device, bool *found) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    cl_image_format *formats = NULL;
    cl_uint count = 0;
    *found = false;
    CL(GetSupportedImageFormats, device->context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &count);
    if (count == 0)
        return ROPE2D_OK;
    formats = rope2d_allocate(cl->host, count, sizeof(*formats));
    if (!formats)
        return rope2d_fail(cl->host, ROPE2D_ERROR_HOST_MEMORY, "image formats: no memory for a list of %u",
                           (unsigned)count);
    CL(GetSupportedImageFormats, device->context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, count, formats,
       NULL);
    for (cl_uint i = 0; i < count; i++) {
        if (formats[i].image_channel_order == CL_RGBA && formats[i].image_channel_data_type == CL_FLOAT)
            *found = true;
    }
fail:
    rope2d_release(cl->host, formats, count, sizeof(*formats));
    return status;
}

static rope2d_status pick_device(rope2d_cl_device *device, uint32_t index, cl_platform_id *platform) {
    const rope2d_cl *cl = &device->cl;
    device_list list;
    ROPE2D_TRY(list_create(cl, &list));
    rope2d_status status = ROPE2D_OK;
    if (index < list.count) {
        device->id = list.ids[index];
        *platform = list.platforms[index];
    } else {
        status = rope2d_fail(cl->host, ROPE2D_ERROR_DEVICE_INDEX, "index is %u; OpenCL has %u devices here",
                             (unsigned)index, (unsigned)list.count);
    }
    list_destroy(cl, &list);
    return status;
}

rope2d_status rope2d_opencl_device_create(rope2d_device *front, const rope2d_device_params *params) {
    rope2d_status status = ROPE2D_OK;
    bool format = false;
    rope2d_cl_device *device = rope2d_allocate(&front->host, 1, sizeof(*device));
    if (!device)
        return rope2d_fail(&front->host, ROPE2D_ERROR_HOST_MEMORY, "device: no memory for %zu bytes",
                           sizeof(*device));
    front->impl = device;
    const rope2d_cl *cl = &device->cl;
    cl_platform_id platform = NULL;
    OWN(rope2d_cl_load(&device->cl, &front->host));
    OWN(rope2d_cl_cache_create(device));
    OWN(pick_device(device, params->index, &platform));
    OWN(rope2d_cl_check(device));
    OWN(rope2d_cl_describe(cl, platform, device->id, &front->info));
    front->info.index = params->index;
    front->converts = ROPE2D_CONVERTS_PERHAPS;
    if (front->flags & ROPE2D_DEVICE_MINIMUM_LIMITS)
        rope2d_cl_clamp(&front->info);
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    CL_MAKE(device->context, CreateContext, properties, 1, &device->id, NULL, NULL);
    CL_MAKE(device->queue, CreateCommandQueue, device->context, device->id, 0);
    if (front->info.has_textures) {
        OWN(rope2d_cl_look_for_format(device, &format));
        front->info.has_textures = format;
    }
fail:
    return status;
}

void rope2d_opencl_device_destroy(rope2d_device *front) {
    rope2d_cl_device *device = front->impl;
    if (!device)
        return;
    if (device->queue && !device->is_adopted)
        device->cl.ReleaseCommandQueue(device->queue);
    if (device->context && !device->is_adopted)
        device->cl.ReleaseContext(device->context);
    rope2d_cl_cache_destroy(device, &front->host);
    rope2d_cl_unload(&device->cl);
    rope2d_release(&front->host, device, 1, sizeof(*device));
    front->impl = NULL;
}

const rope2d_backend_ops rope2d_opencl_ops = {
    .name = "OpenCL",
    .enumerate = rope2d_opencl_enumerate,
    .device_create = rope2d_opencl_device_create,
    .device_destroy = rope2d_opencl_device_destroy,
    .positions_create = rope2d_opencl_positions_create,
    .positions_destroy = rope2d_opencl_positions_destroy,
    .plan_create = rope2d_opencl_plan_create,
    .plan_destroy = rope2d_opencl_plan_destroy,
    .apply = rope2d_opencl_apply,
    .dispatches = rope2d_opencl_dispatches,
    .cache_key = rope2d_opencl_cache_key,
    .cache_get = rope2d_opencl_cache_get,
    .cache_set = rope2d_opencl_cache_set,
};
