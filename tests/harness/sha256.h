// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4), for hashes of outputs.
#ifndef HARNESS_SHA256_H
#define HARNESS_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};

void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *data, size_t size);
// 64 hexadecimal digits and a zero.
void sha256_end(struct sha256 *sha, char hex[65]);

#endif
