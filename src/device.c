// SPDX-License-Identifier: MIT
//
// The table of backends, and the life of a device.
#include "backend.h"
#include "kernels.h"

#include <string.h>

static const rope2d_backend_ops *const backends[ROPE2D_BACKEND_COUNT] = {
    [ROPE2D_BACKEND_CPU] = &rope2d_cpu_ops,
    [ROPE2D_BACKEND_VULKAN] = &rope2d_vulkan_ops,
    [ROPE2D_BACKEND_OPENCL] = &rope2d_opencl_ops,
};

static const uint32_t known_flags =
    ROPE2D_DEVICE_MINIMUM_LIMITS | ROPE2D_DEVICE_RUNTIME_COMPILE | ROPE2D_DEVICE_PORTABLE;

static rope2d_status check_backend(const rope2d_host *host, rope2d_backend backend) {
    if ((unsigned)backend >= ROPE2D_BACKEND_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "backend is %d; the last known is %d", (int)backend,
                           ROPE2D_BACKEND_COUNT - 1);
    return ROPE2D_OK;
}

static rope2d_status check_infos(const rope2d_host *host, const rope2d_device_info *infos, uint32_t count) {
    for (uint32_t i = 0; infos && i < count; i++)
        if (infos[i].struct_size != sizeof(rope2d_device_info))
            return rope2d_fail(host, ROPE2D_ERROR_STRUCT_SIZE,
                               "infos[%u].struct_size is %zu; this version knows %zu", i,
                               infos[i].struct_size, sizeof(rope2d_device_info));
    return ROPE2D_OK;
}

rope2d_status rope2d_enumerate(rope2d_backend backend, const rope2d_host *host, uint32_t *count,
                               rope2d_device_info *infos) {
    uint32_t room = 0;
    if (count) {
        room = *count;
        *count = 0;
    }
    ROPE2D_TRY(rope2d_host_check(host));
    const rope2d_host resolved = rope2d_host_resolve(host);
    if (!count)
        return rope2d_fail(&resolved, ROPE2D_ERROR_NULL, "count is NULL");
    ROPE2D_TRY(check_backend(&resolved, backend));
    ROPE2D_TRY(check_infos(&resolved, infos, room));
    uint32_t found = infos ? room : 0;
    // A driver starts threads, which inherit the caller's settings.
    const rope2d_control control = rope2d_control_enter();
    const rope2d_status status = backends[backend]->enumerate(&resolved, &found, infos);
    rope2d_control_leave(control);
    ROPE2D_TRY(status);
    *count = found;
    return ROPE2D_OK;
}

static rope2d_status copy_text(const rope2d_host *host, char **copy, const char *text) {
    const size_t size = strlen(text) + 1;
    *copy = rope2d_allocate(host, size, 1);
    if (!*copy)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for shader_folder: %zu bytes", size);
    memcpy(*copy, text, size);
    return ROPE2D_OK;
}

static rope2d_status check_params(const rope2d_host *host, const rope2d_device_params *params) {
    ROPE2D_TRY(check_backend(host, params->backend));
    if (params->flags & ~known_flags)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "flags is 0x%x; this version knows 0x%x", params->flags,
                           known_flags);
    return ROPE2D_OK;
}

// Where its kernels come from, and where they will be. NULL: where the environment says.
static rope2d_status choose_kernels(rope2d_device *device, const char *folder) {
    if (!folder)
        folder = rope2d_environment("ROPE2D_SHADERS");
    if (folder && folder[0] != '\0') {
        ROPE2D_TRY(copy_text(&device->host, &device->shader_folder, folder));
        device->flags |= ROPE2D_DEVICE_RUNTIME_COMPILE;
    }
    return rope2d_kernel_list_create(device);
}

static rope2d_status fill(rope2d_device *device, const rope2d_device_params *params) {
    ROPE2D_TRY(choose_kernels(device, params->shader_folder));
    device->info.struct_size = sizeof(device->info);
    device->info.backend = params->backend;
    device->info.index = params->index;
    ROPE2D_TRY(device->ops->device_create(device, params));
    return rope2d_cache_open(device, params->cache_folder);
}

rope2d_status rope2d_device_create(const rope2d_device_params *params, rope2d_device **device) {
    if (device)
        *device = NULL;
    if (!params)
        return ROPE2D_ERROR_NULL;
    if (params->struct_size != sizeof(*params))
        return ROPE2D_ERROR_STRUCT_SIZE; // where its host stands is not known
    ROPE2D_TRY(rope2d_host_check(params->host));
    const rope2d_host host = rope2d_host_resolve(params->host);
    if (!device)
        return rope2d_fail(&host, ROPE2D_ERROR_NULL, "device is NULL");
    ROPE2D_TRY(check_params(&host, params));
    rope2d_device *made = rope2d_allocate(&host, 1, sizeof(*made));
    if (!made)
        return rope2d_fail(&host, ROPE2D_ERROR_HOST_MEMORY, "no memory for a device: %zu bytes",
                           sizeof(*made));
    made->host = host;
    made->backend = params->backend;
    made->flags = params->flags;
    made->ops = backends[params->backend];
    made->dispatch_bytes = params->dispatch_bytes;
    const rope2d_control control = rope2d_control_enter();
    const rope2d_status status = fill(made, params);
    rope2d_control_leave(control);
    if (status != ROPE2D_OK) {
        rope2d_device_destroy(made);
        return status;
    }
    *device = made;
    return ROPE2D_OK;
}

rope2d_status rope2d_device_adopt(rope2d_backend backend, const rope2d_host *host, rope2d_adopt_fn *adopt,
                                  const void *params, rope2d_device **device) {
    const rope2d_host resolved = rope2d_host_resolve(host);
    rope2d_device *made = rope2d_allocate(&resolved, 1, sizeof(*made));
    if (!made)
        return rope2d_fail(&resolved, ROPE2D_ERROR_HOST_MEMORY, "no memory for a device: %zu bytes",
                           sizeof(*made));
    made->host = resolved;
    made->backend = backend;
    made->ops = backends[backend];
    made->info.struct_size = sizeof(made->info);
    made->info.backend = backend;
    const rope2d_control control = rope2d_control_enter();
    rope2d_status status = choose_kernels(made, NULL);
    if (status == ROPE2D_OK)
        status = adopt(made, params);
    rope2d_control_leave(control);
    if (status != ROPE2D_OK) {
        rope2d_device_destroy(made);
        return status;
    }
    *device = made;
    return ROPE2D_OK;
}

void rope2d_device_destroy(rope2d_device *device) {
    if (!device)
        return;
    const rope2d_host host = device->host;
    if (device->drain)
        device->drain(device);
    rope2d_kernel_list_destroy(device);
    rope2d_cache_close(device);
    device->ops->device_destroy(device);
    if (device->shader_folder)
        rope2d_release(&host, device->shader_folder, strlen(device->shader_folder) + 1, 1);
    rope2d_release(&host, device, 1, sizeof(*device));
}

rope2d_status rope2d_device_get_info(const rope2d_device *device, rope2d_device_info *info) {
    if (!device)
        return ROPE2D_ERROR_NULL;
    if (!info)
        return rope2d_fail(&device->host, ROPE2D_ERROR_NULL, "info is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(&device->host, "info", info->struct_size, sizeof(*info)));
    *info = device->info;
    return ROPE2D_OK;
}
