// SPDX-License-Identifier: MIT
//
// An input as a row of choices. Past its end everything is 0, so that any input means something, and a short
// one something simple. Blocks are as large as asked, so that AddressSanitizer sees every byte too far.
#ifndef FUZZ_READER_H
#define FUZZ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { READER_BLOCKS = 512, READER_MOST_BYTES = 1 << 16 };

struct reader {
    const uint8_t *at;
    size_t left;
    void *blocks[READER_BLOCKS];
    size_t block_count;
};

void reader_begin(struct reader *reader, const uint8_t *data, size_t size);
void reader_end(struct reader *reader); // frees the blocks
bool reader_is_empty(const struct reader *reader);

uint8_t reader_byte(struct reader *reader);
uint32_t reader_32(struct reader *reader);
uint64_t reader_64(struct reader *reader);
uint32_t reader_below(struct reader *reader, uint32_t bound); // bound at most 256 takes one byte
bool reader_one_in(struct reader *reader, uint32_t chances);  // false past the end

// Small mostly; else a power of two and its neighbours, the ends of types, anything.
uint64_t reader_number(struct reader *reader);
float reader_float(struct reader *reader);
double reader_double(struct reader *reader);
// `known` mostly, else something near it or anything.
size_t reader_struct_size(struct reader *reader, size_t known);

// Memory that lives until reader_end: filled from the input, then with zeros. NULL for more than
// READER_MOST_BYTES, or where there is no room; 0 bytes are a block, too.
void *reader_block(struct reader *reader, uint64_t size);
// The same, or NULL when the input says so.
void *reader_block_or_null(struct reader *reader, uint64_t size);
float *reader_floats(struct reader *reader, uint64_t count);
float *reader_floats_or_null(struct reader *reader, uint64_t count);
char *reader_text(struct reader *reader, size_t most);

#endif
