// SPDX-License-Identifier: MIT
#include "cache.h"

#include "backend.h"
#include "lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { VERSION_AT = 8, BACKEND_AT = 12, KEY_AT = 16, LENGTH_AT = 48, CHECK_AT = 56 };

struct rope2d_cache {
    rope2d_lock lock;
    char *path;
    uint64_t path_size;
    rope2d_digest key;
    uint64_t stored; // the check in the file; guarded by the lock
};

void rope2d_blob_release(const rope2d_host *host, rope2d_blob *blob) {
    rope2d_release(host, blob->bytes, blob->size, 1);
    memset(blob, 0, sizeof(*blob));
}

// ------------------------------------------------------------------------------------------------ the format

static void write_32(unsigned char *at, uint32_t value) {
    for (unsigned i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t read_32(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t rope2d_cache_sum(const unsigned char *part, uint64_t size) {
    uint64_t sum = 1;
    for (uint64_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, part + at, size - at < sizeof(word) ? (size_t)(size - at) : sizeof(word));
        sum = rope2d_hash_word(sum, word);
    }
    return sum;
}

rope2d_status rope2d_cache_pack(const rope2d_host *host, rope2d_backend backend, const rope2d_digest *key,
                                const rope2d_blob *part, rope2d_blob *packed) {
    memset(packed, 0, sizeof(*packed));
    if (part->size > ROPE2D_CACHE_MOST_BYTES)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT, "cache: %" PRIu64 " bytes; the limit is %" PRIu64,
                           part->size, ROPE2D_CACHE_MOST_BYTES);
    packed->bytes = rope2d_allocate(host, ROPE2D_CACHE_HEADER_BYTES + part->size, 1);
    if (!packed->bytes)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "cache: no memory for %" PRIu64 " bytes",
                           part->size);
    packed->size = ROPE2D_CACHE_HEADER_BYTES + part->size;
    unsigned char *header = packed->bytes;
    memcpy(header, ROPE2D_CACHE_MAGIC, VERSION_AT);
    write_32(header + VERSION_AT, ROPE2D_CACHE_VERSION);
    write_32(header + BACKEND_AT, (uint32_t)backend);
    memcpy(header + KEY_AT, key->bytes, sizeof(key->bytes));
    rope2d_write_64(header + LENGTH_AT, part->size);
    if (part->size > 0)
        memcpy(header + ROPE2D_CACHE_HEADER_BYTES, part->bytes, (size_t)part->size);
    rope2d_write_64(header + CHECK_AT, rope2d_cache_sum(part->bytes, part->size));
    return ROPE2D_OK;
}

const char *rope2d_cache_unpack(rope2d_backend backend, const rope2d_digest *key, const unsigned char *data,
                                uint64_t size, const unsigned char **part, uint64_t *part_size) {
    *part = NULL;
    *part_size = 0;
    if (size < ROPE2D_CACHE_HEADER_BYTES)
        return "it is shorter than a header";
    if (memcmp(data, ROPE2D_CACHE_MAGIC, VERSION_AT) != 0)
        return "it is no cache of rope2d";
    if (read_32(data + VERSION_AT) != ROPE2D_CACHE_VERSION)
        return "it has the format of another version";
    if (read_32(data + BACKEND_AT) != (uint32_t)backend)
        return "it is another backend's";
    if (memcmp(data + KEY_AT, key->bytes, sizeof(key->bytes)) != 0)
        return "it is of another device, driver or version of the kernels";
    const uint64_t length = rope2d_read_64(data + LENGTH_AT);
    if (length != size - ROPE2D_CACHE_HEADER_BYTES || length > ROPE2D_CACHE_MOST_BYTES)
        return "its length is wrong";
    if (rope2d_read_64(data + CHECK_AT) != rope2d_cache_sum(data + ROPE2D_CACHE_HEADER_BYTES, length))
        return "it is damaged";
    *part = data + ROPE2D_CACHE_HEADER_BYTES;
    *part_size = length;
    return NULL;
}

// ------------------------------------------------------------------------------------------------ as bytes

static rope2d_status key_of(const rope2d_device *device, rope2d_digest *key) {
    rope2d_sha256 hash;
    rope2d_sha256_begin(&hash);
    rope2d_sha256_add_text(&hash, device->ops->name);
    ROPE2D_TRY(device->ops->cache_key(device, &hash));
    *key = rope2d_sha256_end(&hash);
    return ROPE2D_OK;
}

static rope2d_status get_packed(rope2d_device *device, const rope2d_digest *key, rope2d_blob *packed) {
    rope2d_blob part = {NULL, 0};
    const rope2d_control control = rope2d_control_enter(); // a driver may finish its compiling now
    rope2d_status status = device->ops->cache_get(device, &part);
    rope2d_control_leave(control);
    if (status == ROPE2D_OK)
        status = rope2d_cache_pack(&device->host, device->backend, key, &part, packed);
    rope2d_blob_release(&device->host, &part);
    return status;
}

static rope2d_status set_part(rope2d_device *device, const unsigned char *part, uint64_t size) {
    const rope2d_control control = rope2d_control_enter();
    const rope2d_status status = device->ops->cache_set(device, part, size);
    rope2d_control_leave(control);
    return status;
}

rope2d_status rope2d_device_get_cache(rope2d_device *device, void *data, uint64_t *size) {
    rope2d_digest key;
    rope2d_blob packed = {NULL, 0};
    if (!device)
        return ROPE2D_ERROR_NULL;
    if (!size)
        return rope2d_fail(&device->host, ROPE2D_ERROR_NULL, "size is NULL");
    const uint64_t room = *size;
    *size = 0;
    if (!device->ops->cache_get)
        return ROPE2D_OK;
    ROPE2D_TRY(key_of(device, &key));
    ROPE2D_TRY(get_packed(device, &key, &packed));
    rope2d_status status = ROPE2D_OK;
    *size = packed.size;
    if (data && room < packed.size)
        status = rope2d_fail(&device->host, ROPE2D_ERROR_LIMIT,
                             "*size is %" PRIu64 ", the cache has %" PRIu64 " bytes", room, packed.size);
    else if (data && packed.bytes)
        memcpy(data, packed.bytes, (size_t)packed.size);
    rope2d_blob_release(&device->host, &packed);
    return status;
}

rope2d_status rope2d_device_set_cache(rope2d_device *device, const void *data, uint64_t size) {
    rope2d_digest key;
    const unsigned char *part = NULL;
    uint64_t part_size = 0;
    if (!device)
        return ROPE2D_ERROR_NULL;
    if (size == 0)
        return ROPE2D_OK;
    if (!data)
        return rope2d_fail(&device->host, ROPE2D_ERROR_NULL, "data is NULL");
    if (!device->ops->cache_set)
        return rope2d_fail(&device->host, ROPE2D_ERROR_CACHE, "data: %s keeps no cache", device->info.name);
    ROPE2D_TRY(key_of(device, &key));
    const char *wrong = rope2d_cache_unpack(device->backend, &key, data, size, &part, &part_size);
    if (wrong)
        return rope2d_fail(&device->host, ROPE2D_ERROR_CACHE, "data: not taken, %s", wrong);
    return set_part(device, part, part_size);
}

// ---------------------------------------------------------------------------------------------- in a folder

static rope2d_status make_path(const rope2d_host *host, struct rope2d_cache *cache, const char *folder) {
    char name[33];
    cache->path_size = strlen(folder) + sizeof("/rope2d-.cache") + sizeof(name);
    cache->path = rope2d_allocate(host, cache->path_size, 1);
    if (!cache->path)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "cache: no memory for %" PRIu64 " bytes",
                           cache->path_size);
    for (size_t i = 0; i < 16; i++)
        (void)snprintf(name + 2 * i, 3, "%02x", cache->key.bytes[i]);
    (void)snprintf(cache->path, (size_t)cache->path_size, "%s/rope2d-%s.cache", folder, name);
    return ROPE2D_OK;
}

static void load(rope2d_device *device, struct rope2d_cache *cache) {
    rope2d_blob file = {NULL, 0};
    const unsigned char *part = NULL;
    uint64_t part_size = 0;
    if (!rope2d_cache_read(&device->host, cache->path, &file))
        return;
    const char *wrong =
        rope2d_cache_unpack(device->backend, &cache->key, file.bytes, file.size, &part, &part_size);
    if (!wrong && set_part(device, part, part_size) != ROPE2D_OK)
        wrong = "the driver does not take it";
    if (wrong)
        rope2d_log(&device->host, ROPE2D_LOG_WARNING, "cache_folder: %s is made anew: %s", cache->path,
                   wrong);
    else
        cache->stored = rope2d_read_64(file.bytes + CHECK_AT);
    rope2d_blob_release(&device->host, &file);
}

rope2d_status rope2d_cache_open(rope2d_device *device, const char *folder) {
    const rope2d_host *host = &device->host;
    if (!folder || folder[0] == '\0' || !device->ops->cache_set)
        return ROPE2D_OK;
    struct rope2d_cache *cache = rope2d_allocate(host, 1, sizeof(*cache));
    if (!cache)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "cache: no memory for %" PRIu64 " bytes",
                           (uint64_t)sizeof(*cache));
    device->cache = cache;
    if (!rope2d_lock_create(&cache->lock))
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "the system has no lock left");
    ROPE2D_TRY(key_of(device, &cache->key));
    ROPE2D_TRY(make_path(host, cache, folder));
    rope2d_cache_look(host, folder);
    load(device, cache);
    return ROPE2D_OK;
}

void rope2d_cache_store(rope2d_device *device) {
    struct rope2d_cache *cache = device->cache;
    rope2d_blob packed = {NULL, 0};
    if (!cache)
        return;
    rope2d_lock_take(&cache->lock);
    if (get_packed(device, &cache->key, &packed) == ROPE2D_OK) {
        const uint64_t check = rope2d_read_64(packed.bytes + CHECK_AT);
        if (check != cache->stored) {
            cache->stored = check; // what cannot be written now is not tried again until there is more
            rope2d_cache_write(&device->host, cache->path, &packed);
        }
    } else {
        rope2d_log(&device->host, ROPE2D_LOG_WARNING, "cache_folder: %s is not brought up to date",
                   cache->path);
    }
    rope2d_blob_release(&device->host, &packed);
    rope2d_lock_give(&cache->lock);
}

void rope2d_cache_close(rope2d_device *device) {
    struct rope2d_cache *cache = device->cache;
    if (!cache)
        return;
    rope2d_lock_destroy(&cache->lock);
    rope2d_release(&device->host, cache->path, cache->path_size, 1);
    rope2d_release(&device->host, cache, 1, sizeof(*cache));
    device->cache = NULL;
}
