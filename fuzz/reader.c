// SPDX-License-Identifier: MIT
#include "reader.h"

#include <stdlib.h>
#include <string.h>

void reader_begin(struct reader *reader, const uint8_t *data, size_t size) {
    memset(reader, 0, sizeof *reader);
    reader->at = data;
    reader->left = size;
}

void reader_end(struct reader *reader) {
    for (size_t i = 0; i < reader->block_count; i++)
        free(reader->blocks[i]);
    reader->block_count = 0;
}

bool reader_is_empty(const struct reader *reader) {
    return reader->left == 0;
}

uint8_t reader_byte(struct reader *reader) {
    if (reader->left == 0)
        return 0;
    reader->left--;
    return *reader->at++;
}

uint32_t reader_32(struct reader *reader) {
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)reader_byte(reader) << (8 * i);
    return value;
}

uint64_t reader_64(struct reader *reader) {
    const uint64_t low = reader_32(reader);
    return low | (uint64_t)reader_32(reader) << 32;
}

uint32_t reader_below(struct reader *reader, uint32_t bound) {
    return (bound <= 256 ? reader_byte(reader) : reader_32(reader)) % bound;
}

bool reader_one_in(struct reader *reader, uint32_t chances) {
    return reader_below(reader, chances) == chances - 1;
}

uint64_t reader_number(struct reader *reader) {
    static const uint64_t ends[] = {0,          UINT64_MAX,     INT64_MAX,  (uint64_t)INT64_MAX + 1,
                                    INT32_MAX,  UINT32_MAX,     1ull << 32, UINT64_MAX / 2,
                                    UINT16_MAX, UINT64_MAX - 3, 1ull << 31, UINT32_MAX - 1};
    const uint8_t kind = reader_byte(reader);
    if (kind < 192)
        return kind % 64;
    if (kind < 216)
        return reader_byte(reader) * 16u;
    if (kind < 232) {
        const uint8_t power = reader_byte(reader);
        return ((uint64_t)1 << power % 64) + power / 64 - 1;
    }
    return kind < 248 ? ends[kind % (sizeof ends / sizeof ends[0])] : reader_64(reader);
}

float reader_float(struct reader *reader) {
    static const uint32_t patterns[] = {0,          0x80000000, 0x3f800000, 0x7f800000,
                                        0xff800000, 0x7fc00000, 0x00000001, 0x007fffff,
                                        0x7f7fffff, 0x40490fdb, 0x47000000, 0xbf000000};
    const uint8_t kind = reader_byte(reader);
    float value = (float)(kind % 64) / 8;
    uint32_t pattern =
        kind >= 248 ? reader_32(reader) : patterns[kind % (sizeof patterns / sizeof patterns[0])];
    if (kind >= 224)
        memcpy(&value, &pattern, sizeof value);
    return kind & 64 ? -value : value;
}

double reader_double(struct reader *reader) {
    const uint8_t kind = reader_byte(reader);
    double value;
    if (kind < 240)
        return (double)reader_float(reader);
    const uint64_t pattern = reader_64(reader);
    memcpy(&value, &pattern, sizeof value);
    return value;
}

size_t reader_struct_size(struct reader *reader, size_t known) {
    const uint8_t kind = reader_byte(reader);
    if (kind < 250)
        return known;
    return kind == 250   ? 0
           : kind == 251 ? known - 8
           : kind == 252 ? known + 8
                         : (size_t)reader_number(reader);
}

void *reader_block(struct reader *reader, uint64_t size) {
    if (size > READER_MOST_BYTES || reader->block_count == READER_BLOCKS)
        return NULL;
    uint8_t *block = malloc(size ? (size_t)size : 1);
    if (!block)
        return NULL;
    const size_t given = reader->left / 2 < size ? reader->left / 2 : (size_t)size;
    memcpy(block, reader->at, given);
    memset(block + given, 0, (size_t)size - given);
    reader->at += given;
    reader->left -= given;
    reader->blocks[reader->block_count++] = block;
    return block;
}

void *reader_block_or_null(struct reader *reader, uint64_t size) {
    return reader_one_in(reader, 32) ? NULL : reader_block(reader, size);
}

float *reader_floats(struct reader *reader, uint64_t count) {
    if (count > READER_MOST_BYTES / sizeof(float) || reader->block_count == READER_BLOCKS)
        return NULL;
    float *block = malloc(count ? (size_t)count * sizeof(float) : 1);
    if (!block)
        return NULL;
    reader->blocks[reader->block_count++] = block;
    const bool is_even = reader_byte(reader) < 128; // the same few numbers over and over
    float few[4];
    for (size_t i = 0; is_even && i < 4; i++)
        few[i] = reader_float(reader);
    for (size_t i = 0; i < count; i++)
        block[i] = is_even ? few[(i + i / 7) % 4] : reader_float(reader);
    return block;
}

float *reader_floats_or_null(struct reader *reader, uint64_t count) {
    return reader_one_in(reader, 32) ? NULL : reader_floats(reader, count);
}

char *reader_text(struct reader *reader, size_t most) {
    const size_t length = reader_below(reader, 256) % (most + 1);
    char *text = reader_block(reader, length + 1);
    if (text)
        text[length] = '\0';
    return text;
}
