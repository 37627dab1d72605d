// SPDX-License-Identifier: MIT
//
// Programs as the driver's binaries, each a record under the hash of its source and options.
#include "opencl.h"

#include "../embedded.h"

#include <string.h>

enum { MOST_DEVICES = 64 };

// Lists are read and changed under the lock.

rope2d_status rope2d_cl_cache_create(rope2d_cl_device *device) {
    if (!rope2d_lock_create(&device->cache.lock))
        return rope2d_fail(device->cl.host, ROPE2D_ERROR_HOST_MEMORY, "the system has no lock left");
    return ROPE2D_OK;
}

void rope2d_cl_cache_destroy(rope2d_cl_device *device, const rope2d_host *host) {
    while (device->cache.binaries)
        rope2d_record_remove(host, &device->cache.binaries, device->cache.binaries);
    rope2d_lock_destroy(&device->cache.lock);
}

// ------------------------------------------------------------------------------------------------ programs

static bool build_binary(const rope2d_cl_device *device, const rope2d_record *binary, const char *options,
                         const char *kernel_name, rope2d_cl_cached *cached) {
    const rope2d_cl *cl = &device->cl;
    const unsigned char *bytes = binary->bytes;
    const size_t size = (size_t)binary->size;
    cl_int taken = CL_SUCCESS, code = CL_SUCCESS;
    cl_kernel kernel = NULL;
    cl_program program =
        cl->CreateProgramWithBinary(device->context, 1, &device->id, &size, &bytes, &taken, &code);
    if (code != CL_SUCCESS)
        program = NULL;
    if (program && taken == CL_SUCCESS)
        code = cl->BuildProgram(program, 1, &device->id, options, NULL, NULL);
    if (program && taken == CL_SUCCESS && code == CL_SUCCESS)
        kernel = cl->CreateKernel(program, kernel_name, &code);
    if (kernel && code == CL_SUCCESS) {
        cached->program = program;
        cached->kernel = kernel;
        return true;
    }
    if (program)
        cl->ReleaseProgram(program);
    rope2d_log(cl->host, ROPE2D_LOG_WARNING,
               "cache: the driver does not take a binary (%d, %d); its program is compiled anew", (int)taken,
               (int)code);
    return false;
}

bool rope2d_cl_cache_find(rope2d_cl_device *device, const char *text, const char *options,
                          const char *kernel_name, rope2d_cl_cached *cached) {
    rope2d_cl_cache *cache = &device->cache;
    rope2d_sha256 hash;
    rope2d_sha256_begin(&hash);
    rope2d_sha256_add_text(&hash, options);
    if (text) // what is embedded is in the key of the whole cache
        rope2d_sha256_add_text(&hash, text);
    cached->key = rope2d_sha256_end(&hash);
    rope2d_lock_take(&cache->lock);
    rope2d_record *binary = rope2d_record_find(cache->binaries, &cached->key);
    rope2d_lock_give(&cache->lock);
    if (!binary) // which stays as long as the device
        return false;
    if (build_binary(device, binary, options, kernel_name, cached))
        return true;
    rope2d_lock_take(&cache->lock);
    binary->is_bad = true;
    rope2d_lock_give(&cache->lock);
    return false;
}

void rope2d_cl_cache_enlist(rope2d_cl_device *device, rope2d_cl_cached *cached) {
    rope2d_cl_cache *cache = &device->cache;
    rope2d_lock_take(&cache->lock);
    cached->next = cache->programs;
    cache->programs = cached;
    rope2d_lock_give(&cache->lock);
}

void rope2d_cl_cache_delist(rope2d_cl_device *device, rope2d_cl_cached *cached) {
    rope2d_cl_cache *cache = &device->cache;
    rope2d_lock_take(&cache->lock);
    rope2d_cl_cached **at = &cache->programs;
    while (*at && *at != cached)
        at = &(*at)->next;
    if (*at)
        *at = cached->next;
    rope2d_lock_give(&cache->lock);
}

// -------------------------------------------------------------------------------------------------- bytes

static rope2d_status add_text(const rope2d_cl *cl, cl_device_id id, cl_uint field, rope2d_sha256 *hash) {
    rope2d_status status = ROPE2D_OK;
    char text[1024] = "";
    size_t size = 0;
    CL(GetDeviceInfo, id, field, 0, NULL, &size);
    if (size <= sizeof(text))
        CL(GetDeviceInfo, id, field, sizeof(text), text, NULL);
    rope2d_sha256_add_sized(hash, text, size <= sizeof(text) ? size : 0);
fail:
    return status;
}

rope2d_status rope2d_opencl_cache_key(const rope2d_device *front, rope2d_sha256 *hash) {
    static const cl_uint fields[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION,
                                     CL_DEVICE_OPENCL_C_VERSION};
    const rope2d_cl_device *device = front->impl;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        ROPE2D_TRY(add_text(&device->cl, device->id, fields[i], hash));
    rope2d_sha256_add_text(hash, front->info.driver); // with the platform's name and version
    rope2d_sha256_add(hash, &front->info.vendor_id, sizeof(front->info.vendor_id));
    for (const struct rope2d_embedded *entry = rope2d_embedded_opencl; entry->name; entry++)
        rope2d_sha256_add_sized(hash, entry->data, entry->data_size);
    return ROPE2D_OK;
}

// Of a context with several devices a program has a binary for each.
static rope2d_status fetch(rope2d_cl_device *device, const rope2d_cl_cached *cached) {
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    cl_device_id ids[MOST_DEVICES];
    size_t sizes[MOST_DEVICES];
    unsigned char *binaries[MOST_DEVICES] = {NULL};
    cl_uint count = 0, own = 0;
    CL(GetProgramInfo, cached->program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, NULL);
    if (count == 0 || count > MOST_DEVICES)
        return ROPE2D_OK;
    CL(GetProgramInfo, cached->program, CL_PROGRAM_DEVICES, count * sizeof(*ids), ids, NULL);
    while (own < count && ids[own] != device->id)
        own++;
    CL(GetProgramInfo, cached->program, CL_PROGRAM_BINARY_SIZES, count * sizeof(*sizes), sizes, NULL);
    if (own == count || sizes[own] == 0)
        return ROPE2D_OK;
    OWN(rope2d_record_add(cl->host, &device->cache.binaries, &cached->key, NULL, sizes[own]));
    binaries[own] = device->cache.binaries->bytes;
    cl_int code =
        cl->GetProgramInfo(cached->program, CL_PROGRAM_BINARIES, count * sizeof(*binaries), binaries, NULL);
    if (code != CL_SUCCESS) {
        rope2d_record_remove(cl->host, &device->cache.binaries, device->cache.binaries);
        return rope2d_cl_failed(cl, "clGetProgramInfo(CL_PROGRAM_BINARIES)", code);
    }
fail:
    return status;
}

rope2d_status rope2d_opencl_cache_get(rope2d_device *front, rope2d_blob *part) {
    rope2d_cl_device *device = front->impl;
    rope2d_cl_cache *cache = &device->cache;
    rope2d_status status = ROPE2D_OK;
    rope2d_lock_take(&cache->lock);
    for (const rope2d_cl_cached *at = cache->programs; at && status == ROPE2D_OK; at = at->next) {
        if (!rope2d_record_find(cache->binaries, &at->key))
            status = fetch(device, at);
    }
    if (status == ROPE2D_OK)
        status = rope2d_records_write(&front->host, cache->binaries, part);
    rope2d_lock_give(&cache->lock);
    return status;
}

rope2d_status rope2d_opencl_cache_set(rope2d_device *front, const unsigned char *part, uint64_t size) {
    rope2d_cl_device *device = front->impl;
    rope2d_cl_cache *cache = &device->cache;
    rope2d_lock_take(&cache->lock);
    const rope2d_status status = rope2d_records_read(&front->host, &cache->binaries, part, size);
    rope2d_lock_give(&cache->lock);
    return status;
}
