// SPDX-License-Identifier: MIT
#include "opencl.h"

#include <string.h>

// A driver copies data while it makes the buffer: no command, and nothing to wait for.
rope2d_status rope2d_cl_buffer_create(const rope2d_cl_device *device, cl_mem_flags flags, uint64_t bytes,
                                      const void *data, cl_mem *buffer) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    if (bytes > SIZE_MAX)
        return rope2d_fail(cl->host, ROPE2D_ERROR_LIMIT,
                           "buffer: %llu bytes; the limit of this system is %zu", (unsigned long long)bytes,
                           (size_t)SIZE_MAX);
    const size_t size = bytes < 4 ? 4 : (size_t)bytes;
    void *const from = bytes < 4 ? NULL : (void *)data;
    flags |= from ? CL_MEM_COPY_HOST_PTR : 0;
    CL_MAKE(*buffer, CreateBuffer, device->context, flags, size, from);
fail:
    return status;
}

// Where host and device share their memory, a mapping of memory that the driver allocated is that memory:
// what the host writes there is what the kernel reads. Elsewhere the driver moves it once each way.
rope2d_status rope2d_cl_staging_reserve(const rope2d_cl_device *device, rope2d_cl_staging *staging,
                                        uint64_t bytes) {
    if (staging->bytes >= bytes)
        return ROPE2D_OK;
    rope2d_cl_staging_destroy(device, staging);
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (device->unified ? CL_MEM_ALLOC_HOST_PTR : 0);
    ROPE2D_TRY(rope2d_cl_buffer_create(device, flags, bytes, NULL, &staging->memory));
    staging->bytes = bytes;
    return ROPE2D_OK;
}

rope2d_status rope2d_cl_staging_map(const rope2d_cl_device *device, rope2d_cl_staging *staging,
                                    cl_map_flags flags, uint64_t bytes) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    CL_MAKE(staging->mapped, EnqueueMapBuffer, device->queue, staging->memory, CL_TRUE, flags, 0,
            (size_t)bytes, 0, NULL, NULL);
fail:
    return status;
}

rope2d_status rope2d_cl_staging_unmap(const rope2d_cl_device *device, rope2d_cl_staging *staging) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    void *mapped = staging->mapped;
    staging->mapped = NULL;
    CL(EnqueueUnmapMemObject, device->queue, staging->memory, mapped, 0, NULL, NULL);
fail:
    return status;
}

void rope2d_cl_staging_leave(const rope2d_cl_device *device, rope2d_cl_staging *staging) {
    if (staging->mapped)
        device->cl.EnqueueUnmapMemObject(device->queue, staging->memory, staging->mapped, 0, NULL, NULL);
    staging->mapped = NULL;
}

void rope2d_cl_staging_destroy(const rope2d_cl_device *device, rope2d_cl_staging *staging) {
    rope2d_cl_staging_leave(device, staging);
    rope2d_cl_memory_release(device, &staging->memory);
    memset(staging, 0, sizeof(*staging));
}

void rope2d_cl_memory_release(const rope2d_cl_device *device, cl_mem *memory) {
    if (*memory)
        device->cl.ReleaseMemObject(*memory);
    *memory = NULL;
}
