// SPDX-License-Identifier: MIT
//
// The unpacker of embedded kernels, which remembers: the same kernels are unpacked for every input, and with
// sanitizers that takes longer than all else. fuzz_unpack.c looks at the unpacker itself.
#define rope2d_unpack       unpack_bytes
#define rope2d_unpack_spirv unpack_words
#include "src/unpack.c"
#undef rope2d_unpack
#undef rope2d_unpack_spirv

#include "target.h"

#include <string.h>

enum { MOST_KEPT = 32 };

static struct kept {
    const void *packed; // embedded, or a copy of tokens
    size_t packed_size, before, size;
    unsigned char *bytes;
} list[MOST_KEPT];

bool rope2d_unpack(const unsigned char *packed, size_t packed_size, unsigned char *bytes, size_t before,
                   size_t size) {
    struct kept *at = list;
    while (at->packed && (at->packed != packed || at->before != before || at->size != size))
        at++;
    FUZZ_PROMISE(at < list + MOST_KEPT - 1);
    if (!at->packed) {
        FUZZ_PROMISE(unpack_bytes(packed, packed_size, bytes, before, size));
        *at = (struct kept){packed, packed_size, before, size, malloc(size)};
        FUZZ_PROMISE(at->bytes);
        memcpy(at->bytes, bytes + before, size);
    }
    memcpy(bytes + before, at->bytes, size);
    return true;
}

// By their contents: these are in memory of the call's own.
bool rope2d_unpack_spirv(const unsigned char *tokens, size_t size, uint32_t *words, size_t count) {
    static struct kept modules[MOST_KEPT];
    struct kept *at = modules;
    while (at->packed && (at->packed_size != size || memcmp(at->packed, tokens, size) != 0))
        at++;
    FUZZ_PROMISE(at < modules + MOST_KEPT - 1);
    if (!at->packed) {
        unsigned char *copy = malloc(size);
        FUZZ_PROMISE(copy && unpack_words(tokens, size, words, count));
        memcpy(copy, tokens, size);
        *at = (struct kept){copy, size, 0, count * sizeof *words, malloc(count * sizeof *words)};
        FUZZ_PROMISE(at->bytes);
        memcpy(at->bytes, words, at->size);
    }
    memcpy(words, at->bytes, at->size);
    return true;
}
