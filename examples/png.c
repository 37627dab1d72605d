// SPDX-License-Identifier: MIT
#include "png.h"

#include <stdio.h>
#include <string.h>

enum { COLOURS = 256, MOST_STORED = 65535 };

typedef struct writer {
    FILE *file;
    uint32_t crc;     // of the chunk so far
    uint32_t sums[2]; // Adler-32 of the rows so far
} writer;

static void put(writer *out, const void *data, size_t size) {
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) {
        out->crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            out->crc = out->crc >> 1 ^ (out->crc & 1 ? 0xedb88320u : 0);
    }
    fwrite(bytes, 1, size, out->file);
}

static void put_number(writer *out, uint32_t number) {
    const uint8_t bytes[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8),
                              (uint8_t)number};
    put(out, bytes, 4);
}

static void begin_chunk(writer *out, const char *name, uint32_t size) {
    put_number(out, size);
    out->crc = 0xffffffffu;
    put(out, name, 4);
}

static void end_chunk(writer *out) {
    put_number(out, ~out->crc);
}

// A row is a block of its own: the type of its filter, none, and its pixels.
static void put_row(writer *out, const uint8_t *pixels, uint32_t width, int is_last) {
    const uint32_t size = width + 1;
    const uint8_t head[6] = {(uint8_t)is_last, (uint8_t)size,         (uint8_t)(size >> 8),
                             (uint8_t)~size,   (uint8_t)(~size >> 8), 0};
    put(out, head, sizeof(head));
    put(out, pixels, width);
    out->sums[1] = (out->sums[1] + out->sums[0]) % 65521; // the filter's 0
    for (uint32_t x = 0; x < width; x++) {
        out->sums[0] = (out->sums[0] + pixels[x]) % 65521;
        out->sums[1] = (out->sums[1] + out->sums[0]) % 65521;
    }
}

int png_write(const char *path, uint32_t width, uint32_t height, const uint8_t *pixels,
              const uint8_t (*palette)[3]) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const uint8_t depth[5] = {8, 3, 0, 0, 0}; // 8 bits, palette
    static const uint8_t zlib[2] = {0x78, 0x01};
    if (width == 0 || width >= MOST_STORED || height == 0)
        return 0;
    writer out = {fopen(path, "wb"), 0, {1, 0}};
    if (out.file == NULL)
        return 0;
    put(&out, signature, sizeof(signature));
    begin_chunk(&out, "IHDR", 13);
    put_number(&out, width);
    put_number(&out, height);
    put(&out, depth, sizeof(depth));
    end_chunk(&out);
    begin_chunk(&out, "PLTE", 3 * COLOURS);
    put(&out, palette, 3 * COLOURS);
    end_chunk(&out);
    begin_chunk(&out, "IDAT", 2 + height * (width + 6) + 4);
    put(&out, zlib, sizeof(zlib));
    for (uint32_t y = 0; y < height; y++)
        put_row(&out, pixels + (size_t)y * width, width, y + 1 == height);
    put_number(&out, out.sums[1] << 16 | out.sums[0]);
    end_chunk(&out);
    begin_chunk(&out, "IEND", 0);
    end_chunk(&out);
    const int good = !ferror(out.file);
    return fclose(out.file) == 0 && good;
}
