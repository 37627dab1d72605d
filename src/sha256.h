// SPDX-License-Identifier: MIT
//
// SHA-256 (FIPS 180-4), for the keys and checks of caches.
#ifndef ROPE2D_SHA256_H
#define ROPE2D_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define ROPE2D_DIGEST_BYTES 32

typedef struct rope2d_digest {
    unsigned char bytes[ROPE2D_DIGEST_BYTES];
} rope2d_digest;

typedef struct rope2d_sha256 {
    uint32_t state[8];
    uint64_t bytes; // so far
    unsigned char block[64];
} rope2d_sha256;

void rope2d_sha256_begin(rope2d_sha256 *hash);
void rope2d_sha256_add(rope2d_sha256 *hash, const void *data, uint64_t size);
// With the number of bytes before it, so that two lists of texts are never the same bytes.
void rope2d_sha256_add_sized(rope2d_sha256 *hash, const void *data, uint64_t size);
void rope2d_sha256_add_text(rope2d_sha256 *hash, const char *text);
rope2d_digest rope2d_sha256_end(rope2d_sha256 *hash);

#endif
