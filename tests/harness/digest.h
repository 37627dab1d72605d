// SPDX-License-Identifier: MIT
// A hash as people read it. The hash is the library's own: src/sha256.c, which test_cache.c proves.
#ifndef HARNESS_DIGEST_H
#define HARNESS_DIGEST_H

#include "../../src/sha256.h"

// 64 hexadecimal digits and a zero.
static inline void digest_end(rope2d_sha256 *hash, char hex[65]) {
    static const char digits[] = "0123456789abcdef";
    const rope2d_digest digest = rope2d_sha256_end(hash);
    for (unsigned i = 0; i < ROPE2D_DIGEST_BYTES; i++) {
        hex[2 * i] = digits[digest.bytes[i] >> 4];
        hex[2 * i + 1] = digits[digest.bytes[i] & 15];
    }
    hex[64] = '\0';
}

#endif
