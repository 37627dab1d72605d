// SPDX-License-Identifier: MIT
//
// Bytes of a cache, to rope2d_device_set_cache and in a folder, on drivers that compute nothing. The mutator
// mends length, key and check after most of its changes, so that what lies behind them is reached. The first
// byte of the input says whose cache it is, and how it comes.
#include "memory.h"
#include "mock.h"
#include "place.h"
#include "target.h"

#include "backend.h"
#include "sha256.h"

#include <string.h>

enum { VERSION_AT = 8, BACKEND_AT = 12, KEY_AT = 16, LENGTH_AT = 48, CHECK_AT = 56 };
enum { IS_VULKAN = 1, IS_FILE = 2, IS_GOT_AGAIN = 4 };

static rope2d_digest key_of(const rope2d_device *device) {
    rope2d_sha256 hash;
    rope2d_sha256_begin(&hash);
    rope2d_sha256_add_text(&hash, device->ops->name);
    FUZZ_PROMISE(device->ops->cache_key(device, &hash) == ROPE2D_OK);
    return rope2d_sha256_end(&hash);
}

static rope2d_device *open_device(const rope2d_host *host, rope2d_backend backend, const char *folder) {
    rope2d_device *device = NULL;
    const rope2d_device_params params = {
        .struct_size = sizeof params, .backend = backend, .host = host, .cache_folder = folder};
    FUZZ_PROMISE(rope2d_device_create(&params, &device) == ROPE2D_OK);
    return device;
}

static rope2d_backend backend_of(uint8_t kind) {
    return kind & IS_VULKAN ? ROPE2D_BACKEND_VULKAN : ROPE2D_BACKEND_OPENCL;
}

// What a file of this backend must have as its key, and be called.
static const rope2d_digest *own_key(uint8_t kind) {
    static rope2d_digest keys[2];
    static bool is_known[2];
    const unsigned which = kind & IS_VULKAN;
    if (!is_known[which]) {
        mock_begin();
        rope2d_device *device = open_device(NULL, backend_of(kind), NULL);
        keys[which] = key_of(device);
        rope2d_device_destroy(device);
        is_known[which] = true;
    }
    return &keys[which];
}

// ------------------------------------------------------------------------------------------------ mutating

#ifdef FUZZ_HAS_LIBFUZZER
// `is_driver`: what follows is one record, of a Vulkan driver's cache.
static void mend(uint8_t kind, uint8_t *bytes, size_t size, bool is_driver) {
    const size_t head = ROPE2D_CACHE_HEADER_BYTES + ROPE2D_DIGEST_BYTES;
    static const unsigned char magic[] = ROPE2D_CACHE_MAGIC;
    memcpy(bytes, magic, VERSION_AT);
    rope2d_write_64(bytes + VERSION_AT, ROPE2D_CACHE_VERSION | (uint64_t)backend_of(kind) << 32);
    memcpy(bytes + KEY_AT, own_key(kind)->bytes, sizeof own_key(kind)->bytes);
    rope2d_write_64(bytes + LENGTH_AT, size - ROPE2D_CACHE_HEADER_BYTES);
    if (is_driver && size > head + 8) {
        memset(bytes + ROPE2D_CACHE_HEADER_BYTES, 0, ROPE2D_DIGEST_BYTES);
        rope2d_write_64(bytes + head, size - head - 8);
    }
    rope2d_write_64(bytes + CHECK_AT,
                    rope2d_cache_sum(bytes + ROPE2D_CACHE_HEADER_BYTES, size - ROPE2D_CACHE_HEADER_BYTES));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    const size_t least = 1 + ROPE2D_CACHE_HEADER_BYTES;
    if (seed % 8 == 0 || most < least + 64)
        return LLVMFuzzerMutate(data, size, most);
    if (size < least) {
        memset(data + size, 0, least + 40 - size);
        size = least + 40;
    }
    size = least + LLVMFuzzerMutate(data + least, size - least, most - least);
    data[0] = seed % 64 < 8 ? (uint8_t)(seed >> 8) : data[0];
    mend(data[0], data + 1, size - 1, seed / 64 % 4 == 0);
    return size;
}
#endif

// --------------------------------------------------------------------------------------------------- using

static void make_plan(rope2d_device *device, bool is_got_again) {
    static const float freqs[2][2] = {{1, 0}, {0, 1}};
    const rope2d_spec spec = {.struct_size = sizeof spec, .head_dim = 4, .axes = 2, .freqs = &freqs[0][0]};
    const rope2d_plan_params params = {
        .struct_size = sizeof params, .spec = &spec, .flags = ROPE2D_PLAN_NO_SELF_TEST};
    rope2d_plan *plan = NULL;
    uint64_t size = 0;
    FUZZ_PROMISE(rope2d_plan_create(device, &params, &plan) == ROPE2D_OK);
    if (is_got_again) {
        FUZZ_PROMISE(rope2d_device_get_cache(device, NULL, &size) == ROPE2D_OK);
        void *bytes = malloc((size_t)size + 1);
        FUZZ_PROMISE(bytes && rope2d_device_get_cache(device, bytes, &size) == ROPE2D_OK);
        // What a device gives it takes, and what it cuts off it does not.
        FUZZ_PROMISE(rope2d_device_set_cache(device, bytes, size) == ROPE2D_OK);
        FUZZ_PROMISE(size == 0 || rope2d_device_set_cache(device, bytes, size - 1) == ROPE2D_ERROR_CACHE);
        free(bytes);
    }
    rope2d_plan_destroy(plan);
}

static void write_file(uint8_t kind, const uint8_t *bytes, size_t size) {
    char name[64] = "rope2d-";
    for (size_t i = 0; i < 16; i++)
        snprintf(name + 7 + 2 * i, 3, "%02x", own_key(kind)->bytes[i]);
    strcat(name, ".cache");
    place_write(name, bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int is_made;
    struct memory memory = {0};
    if (size == 0)
        return 0;
    if (!is_made++)
        place_make();
    const uint8_t kind = data[0];
    const bool is_file = (kind & IS_FILE) != 0;
    (void)own_key(kind);
    mock_begin();
    const rope2d_host host = memory_host(&memory);
    if (is_file) {
        place_clean(NULL);
        write_file(kind, data + 1, size - 1);
    }
    rope2d_device *device = open_device(&host, backend_of(kind), is_file ? "." : NULL);
    if (!is_file) {
        const rope2d_status status = rope2d_device_set_cache(device, data + 1, size - 1);
        FUZZ_PROMISE(status == ROPE2D_OK || status == ROPE2D_ERROR_CACHE);
    }
    make_plan(device, (kind & IS_GOT_AGAIN) != 0);
    rope2d_device_destroy(device);
    FUZZ_PROMISE(memory.live == 0 && mock.live == 0);
    return 0;
}
