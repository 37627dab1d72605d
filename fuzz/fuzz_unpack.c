// SPDX-License-Identifier: MIT
//
// The unpacker of embedded kernels: both layers, on bytes that nobody packed.
#include "reader.h"
#include "target.h"

#include "unpack.h"

#include <string.h>

static void unpack_bytes(struct reader *reader) {
    const size_t before = reader_below(reader, 256), size = reader_below(reader, 256) * 8u;
    unsigned char *bytes = reader_block(reader, before + size);
    const size_t packed = reader->left;
    const unsigned char *copy = reader_block(reader, packed / 2);
    if (bytes && copy)
        (void)rope2d_unpack(copy, packed / 2, bytes, before, size);
}

static void unpack_words(struct reader *reader) {
    const size_t count = reader_below(reader, 256);
    uint32_t *words = reader_block(reader, count * sizeof *words);
    const unsigned char *tokens = reader->at;
    if (!words || !rope2d_unpack_spirv(tokens, reader->left, words, count))
        return;
    size_t at = 5;
    FUZZ_PROMISE(count >= at);
    while (at < count && words[at] >> 16 > 0)
        at += words[at] >> 16;
    FUZZ_PROMISE(at == count); // instructions end where the module does
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reader reader;
    reader_begin(&reader, data, size);
    if (reader_byte(&reader) & 1)
        unpack_words(&reader);
    else
        unpack_bytes(&reader);
    reader_end(&reader);
    return 0;
}
