// SPDX-License-Identifier: MIT
//
// What a driver compiled, and kernels made ready for it, kept as bytes or in a folder. The bytes,
// little-endian:
//
//      0  magic           8
//      8  version         4    of this format
//     12  backend         4
//     16  key            32    SHA-256 of what the backend's part depends on: device, driver, kernels
//     48  length          8    of the backend's part
//     56  check           8    rope2d_cache_sum of the backend's part
//     64  the backend's part: records.h
//
// Nothing is believed: what does not fit is made anew.
#ifndef ROPE2D_CACHE_H
#define ROPE2D_CACHE_H

#include "internal.h"
#include "sha256.h"

#define ROPE2D_CACHE_MAGIC        "rope2d\x1a\n"
#define ROPE2D_CACHE_VERSION      2u
#define ROPE2D_CACHE_HEADER_BYTES 64
#define ROPE2D_CACHE_MOST_BYTES   ((uint64_t)64 << 20)

// Memory of the host's allocator; zeros hold nothing.
typedef struct rope2d_blob {
    unsigned char *bytes;
    uint64_t size;
} rope2d_blob;
void rope2d_blob_release(const rope2d_host *host, rope2d_blob *blob);

static inline void rope2d_write_64(unsigned char *at, uint64_t value) {
    for (unsigned i = 0; i < 8; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t rope2d_read_64(const unsigned char *at) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

// Of words in this machine's order, by rope2d_hash_word: fast, since plans wait for it.
uint64_t rope2d_cache_sum(const unsigned char *part, uint64_t size);

// Puts the header before the backend's part.
rope2d_status rope2d_cache_pack(const rope2d_host *host, rope2d_backend backend, const rope2d_digest *key,
                                const rope2d_blob *part, rope2d_blob *packed);
// Finds the backend's part; NULL, or what is wrong: a static text.
const char *rope2d_cache_unpack(rope2d_backend backend, const rope2d_digest *key, const unsigned char *data,
                                uint64_t size, const unsigned char **part, uint64_t *part_size);

// Takes what is in the folder, which the device then keeps up to date. Whatever is wrong there is a warning.
// Only the host's memory can make it fail.
rope2d_status rope2d_cache_open(rope2d_device *device, const char *folder);
// After something was compiled: into the folder, if there is one.
void rope2d_cache_store(rope2d_device *device);
void rope2d_cache_close(rope2d_device *device);

// cache_file.c. A warning now where the folder is not there, not only when something is to be kept.
void rope2d_cache_look(const rope2d_host *host, const char *folder);
// False, and a warning that names the path, where it does not go; nothing is then half written.
bool rope2d_cache_write(const rope2d_host *host, const char *path, const rope2d_blob *data);
// False where there is nothing to take: no such file, or one that somebody else may have written, which is
// a warning.
bool rope2d_cache_read(const rope2d_host *host, const char *path, rope2d_blob *data);

#endif
