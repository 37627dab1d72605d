// SPDX-License-Identifier: MIT
//
// Programs as the driver's binaries, each under the hash of its source and options. The device's part of a
// cache: one after the other a key of 32 bytes, a length of 8, and a binary.
#include "opencl.h"

#include "../embedded.h"

#include <string.h>

enum { RECORD_BYTES = ROPE2D_DIGEST_BYTES + 8, MOST_DEVICES = 64 };

struct rope2d_cl_entry {
    struct rope2d_cl_entry *next;
    rope2d_digest key;
    unsigned char *bytes;
    uint64_t size;
    bool is_bad; // the driver did not take it
};

static bool same(const rope2d_digest *a, const rope2d_digest *b) {
    return memcmp(a, b, sizeof(*a)) == 0;
}

// Under the lock, as all that reads or changes the lists.
static struct rope2d_cl_entry *find(const rope2d_cl_cache *cache, const rope2d_digest *key) {
    struct rope2d_cl_entry *at = cache->entries;
    while (at && (at->is_bad || !same(&at->key, key)))
        at = at->next;
    return at;
}

rope2d_status rope2d_cl_cache_create(rope2d_cl_device *device) {
    if (!rope2d_lock_create(&device->cache.lock))
        return rope2d_fail(device->cl.host, ROPE2D_ERROR_HOST_MEMORY, "the system has no lock left");
    return ROPE2D_OK;
}

static void release_entry(const rope2d_host *host, struct rope2d_cl_entry *entry) {
    rope2d_release(host, entry->bytes, entry->size, 1);
    rope2d_release(host, entry, 1, sizeof(*entry));
}

void rope2d_cl_cache_destroy(rope2d_cl_device *device, const rope2d_host *host) {
    while (device->cache.entries) {
        struct rope2d_cl_entry *next = device->cache.entries->next;
        release_entry(host, device->cache.entries);
        device->cache.entries = next;
    }
    rope2d_lock_destroy(&device->cache.lock);
}

static rope2d_status add(const rope2d_host *host, rope2d_cl_cache *cache, const rope2d_digest *key,
                         const unsigned char *bytes, uint64_t size) {
    struct rope2d_cl_entry *entry = rope2d_allocate(host, 1, sizeof(*entry));
    unsigned char *copy = rope2d_allocate(host, size, 1);
    if (!entry || !copy) {
        rope2d_release(host, entry, 1, sizeof(*entry));
        rope2d_release(host, copy, size, 1);
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "cache: no memory for %llu bytes",
                           (unsigned long long)size);
    }
    if (bytes)
        memcpy(copy, bytes, (size_t)size);
    *entry = (struct rope2d_cl_entry){cache->entries, *key, copy, size, false};
    cache->entries = entry;
    return ROPE2D_OK;
}

// ------------------------------------------------------------------------------------------------ programs

static bool build_binary(const rope2d_cl_device *device, const struct rope2d_cl_entry *entry,
                         const char *options, const char *kernel_name, rope2d_cl_cached *cached) {
    const rope2d_cl *cl = &device->cl;
    const unsigned char *bytes = entry->bytes;
    const size_t size = (size_t)entry->size;
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
    struct rope2d_cl_entry *entry = find(cache, &cached->key);
    rope2d_lock_give(&cache->lock);
    if (!entry) // which stays as long as the device
        return false;
    if (build_binary(device, entry, options, kernel_name, cached))
        return true;
    rope2d_lock_take(&cache->lock);
    entry->is_bad = true;
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
    OWN(add(cl->host, &device->cache, &cached->key, NULL, sizes[own]));
    binaries[own] = device->cache.entries->bytes;
    cl_int code =
        cl->GetProgramInfo(cached->program, CL_PROGRAM_BINARIES, count * sizeof(*binaries), binaries, NULL);
    if (code != CL_SUCCESS) {
        struct rope2d_cl_entry *empty = device->cache.entries;
        device->cache.entries = empty->next;
        release_entry(cl->host, empty);
        return rope2d_cl_failed(cl, "clGetProgramInfo(CL_PROGRAM_BINARIES)", code);
    }
fail:
    return status;
}

static rope2d_status write_entries(const rope2d_host *host, const rope2d_cl_cache *cache, rope2d_blob *part) {
    for (const struct rope2d_cl_entry *entry = cache->entries; entry; entry = entry->next)
        part->size += entry->is_bad ? 0 : RECORD_BYTES + entry->size;
    if (part->size == 0)
        return ROPE2D_OK;
    part->bytes = rope2d_allocate(host, part->size, 1);
    if (!part->bytes) {
        part->size = 0;
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "cache: no memory to copy it");
    }
    unsigned char *at = part->bytes;
    for (const struct rope2d_cl_entry *entry = cache->entries; entry; entry = entry->next) {
        if (entry->is_bad)
            continue;
        memcpy(at, entry->key.bytes, ROPE2D_DIGEST_BYTES);
        rope2d_write_64(at + ROPE2D_DIGEST_BYTES, entry->size);
        memcpy(at + RECORD_BYTES, entry->bytes, (size_t)entry->size);
        at += RECORD_BYTES + entry->size;
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_opencl_cache_get(rope2d_device *front, rope2d_blob *part) {
    rope2d_cl_device *device = front->impl;
    rope2d_cl_cache *cache = &device->cache;
    rope2d_status status = ROPE2D_OK;
    rope2d_lock_take(&cache->lock);
    for (const rope2d_cl_cached *at = cache->programs; at && status == ROPE2D_OK; at = at->next) {
        if (!find(cache, &at->key))
            status = fetch(device, at);
    }
    if (status == ROPE2D_OK)
        status = write_entries(&front->host, cache, part);
    rope2d_lock_give(&cache->lock);
    return status;
}

// The size of the record at `at`, or 0 where it is cut off or empty.
static uint64_t record_size(const unsigned char *at, uint64_t left) {
    if (left <= RECORD_BYTES)
        return 0;
    const uint64_t size = rope2d_read_64(at + ROPE2D_DIGEST_BYTES);
    return size == 0 || size > left - RECORD_BYTES ? 0 : RECORD_BYTES + size;
}

rope2d_status rope2d_opencl_cache_set(rope2d_device *front, const unsigned char *part, uint64_t size) {
    rope2d_cl_device *device = front->impl;
    rope2d_cl_cache *cache = &device->cache;
    rope2d_status status = ROPE2D_OK;
    for (uint64_t at = 0; at < size;) {
        const uint64_t record = record_size(part + at, size - at);
        if (record == 0)
            return rope2d_fail(&front->host, ROPE2D_ERROR_CACHE, "cache: a record reaches past its end");
        at += record;
    }
    rope2d_lock_take(&cache->lock);
    for (uint64_t at = 0; at < size && status == ROPE2D_OK;) {
        rope2d_digest key;
        memcpy(key.bytes, part + at, sizeof(key.bytes));
        const uint64_t record = record_size(part + at, size - at);
        if (!find(cache, &key))
            status = add(&front->host, cache, &key, part + at + RECORD_BYTES, record - RECORD_BYTES);
        at += record;
    }
    rope2d_lock_give(&cache->lock);
    return status;
}
