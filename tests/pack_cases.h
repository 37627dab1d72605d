// SPDX-License-Identifier: MIT
// What tests/pack_cases.py writes: data, and what tools/pack.py made of it.
#ifndef TEST_PACK_CASES_H
#define TEST_PACK_CASES_H

#include <stddef.h>
#include <stdint.h>

struct byte_case {
    const unsigned char *whole; // what is known before, then what was packed
    size_t before;
    size_t size;
    const unsigned char *packed;
    size_t packed_size;
};

struct word_case {
    const uint32_t *words;
    size_t count;
    const unsigned char *tokens;
    size_t token_size;
};

extern const struct byte_case byte_cases[];
extern const size_t byte_case_count;
extern const struct word_case word_cases[];
extern const size_t word_case_count;

#endif
