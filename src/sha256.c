// SPDX-License-Identifier: MIT
#include "sha256.h"

#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, unsigned by) {
    return word >> by | word << (32 - by);
}

static void mix(uint32_t *state, const unsigned char *block) {
    uint32_t words[64];
    uint32_t v[8];
    for (int i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        const uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof(v));
    for (int i = 0; i < 64; i++) {
        const uint32_t one = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                             ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + words[i];
        const uint32_t two = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
                             ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void rope2d_sha256_begin(rope2d_sha256 *hash) {
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hash, 0, sizeof(*hash));
    memcpy(hash->state, first, sizeof(first));
}

void rope2d_sha256_add(rope2d_sha256 *hash, const void *data, uint64_t size) {
    const unsigned char *at = data;
    while (size > 0) {
        const size_t used = (size_t)(hash->bytes % 64);
        const size_t part = size < 64 - used ? (size_t)size : 64 - used;
        memcpy(hash->block + used, at, part);
        hash->bytes += part;
        at += part;
        size -= part;
        if (used + part == 64)
            mix(hash->state, hash->block);
    }
}

void rope2d_sha256_add_sized(rope2d_sha256 *hash, const void *data, uint64_t size) {
    unsigned char count[8];
    for (unsigned i = 0; i < 8; i++)
        count[i] = (unsigned char)(size >> (8 * i));
    rope2d_sha256_add(hash, count, sizeof(count));
    rope2d_sha256_add(hash, data, size);
}

void rope2d_sha256_add_text(rope2d_sha256 *hash, const char *text) {
    rope2d_sha256_add_sized(hash, text, strlen(text));
}

rope2d_digest rope2d_sha256_end(rope2d_sha256 *hash) {
    static const unsigned char padding[64] = {0x80};
    const uint64_t bits = hash->bytes * 8;
    const size_t used = (size_t)(hash->bytes % 64);
    unsigned char length[8];
    rope2d_digest digest;
    rope2d_sha256_add(hash, padding, used < 56 ? 56 - used : 120 - used);
    for (unsigned i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    rope2d_sha256_add(hash, length, sizeof(length));
    for (unsigned i = 0; i < ROPE2D_DIGEST_BYTES; i++)
        digest.bytes[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}
