// SPDX-License-Identifier: MIT
// What tools/pack.py packs comes back, and damaged bytes are refused or give other bytes, within bounds.
#include "check.h"
#include "pack_cases.h"
#include "unpack.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xa5 };

// Memory of exactly that size, so that AddressSanitizer sees what reaches past it.
static void *copy_of(const void *data, size_t size) {
    void *copy = malloc(size > 0 ? size : 1);
    if (copy != NULL && size > 0)
        memcpy(copy, data, size);
    return copy;
}

static bool guard_stands(const unsigned char *guard) {
    for (size_t i = 0; i < GUARD; i++) {
        if (guard[i] != GUARD_BYTE)
            return false;
    }
    return true;
}

// Unpacks after the case's known bytes, into room for `size` and a guard. Whether the guard still stands.
static bool unpack(const struct byte_case *c, const unsigned char *packed, size_t packed_size, size_t size,
                   bool *is_same) {
    unsigned char *exact = copy_of(packed, packed_size);
    unsigned char *bytes = malloc(c->before + size + GUARD);
    bool stands = false;
    if (exact != NULL && bytes != NULL) {
        memcpy(bytes, c->whole, c->before);
        memset(bytes + c->before, GUARD_BYTE, size + GUARD);
        const bool is_good = rope2d_unpack(exact, packed_size, bytes, c->before, size);
        *is_same = is_good && size == c->size && memcmp(bytes, c->whole, c->before + size) == 0;
        stands = memcmp(bytes, c->whole, c->before) == 0 && guard_stands(bytes + c->before + size);
    }
    free(exact);
    free(bytes);
    return stands;
}

static void test_bytes(const struct byte_case *c, size_t number) {
    bool is_same = false;
    CHECK(unpack(c, c->packed, c->packed_size, c->size, &is_same) && is_same, "bytes %zu come back", number);
    unsigned char *damaged = copy_of(c->packed, c->packed_size);
    bool stands = true;
    size_t changed = 0, tried = 0;
    const size_t step = c->packed_size / 97 + 1;
    for (size_t i = 0; damaged != NULL && i < c->packed_size; i += step) {
        for (unsigned bit = 0; bit < 8; bit += 3, tried++) {
            damaged[i] ^= (unsigned char)(1u << bit);
            stands = unpack(c, damaged, c->packed_size, c->size, &is_same) && stands;
            changed += !is_same;
            damaged[i] ^= (unsigned char)(1u << bit);
        }
        stands = unpack(c, damaged, i, c->size, &is_same) && stands;
        stands = unpack(c, damaged, c->packed_size, c->size + i, &is_same) && stands;
    }
    free(damaged);
    CHECK(stands, "bytes %zu: nothing is written outside", number);
    // A bit of the end may be one that nothing depends on.
    CHECK(tried < 40 || changed > tried / 2, "bytes %zu: damage shows (%zu of %zu)", number, changed, tried);
}

static bool unpack_words(const struct word_case *c, const unsigned char *tokens, size_t size, size_t count,
                         bool *is_good) {
    unsigned char *exact = copy_of(tokens, size);
    unsigned char *words = malloc(count * sizeof(uint32_t) + GUARD);
    bool stands = false;
    if (exact != NULL && words != NULL) {
        memset(words, GUARD_BYTE, count * sizeof(uint32_t) + GUARD);
        *is_good = rope2d_unpack_spirv(exact, size, (uint32_t *)(void *)words, count);
        stands = guard_stands(words + count * sizeof(uint32_t));
        if (*is_good && tokens == c->tokens)
            *is_good = memcmp(words, c->words, count * sizeof(uint32_t)) == 0;
    }
    free(exact);
    free(words);
    return stands;
}

static void test_words(const struct word_case *c, size_t number) {
    bool is_good = false, refused = true;
    CHECK(unpack_words(c, c->tokens, c->token_size, c->count, &is_good) && is_good, "words %zu come back",
          number);
    bool stands = true;
    for (size_t size = 0; size < c->token_size; size++) {
        stands = unpack_words(c, c->tokens, size, c->count, &is_good) && stands;
        refused = refused && !is_good;
    }
    for (size_t count = 0; count < c->count; count++) {
        stands = unpack_words(c, c->tokens, c->token_size, count, &is_good) && stands;
        refused = refused && !is_good;
    }
    CHECK(refused, "words %zu: too few tokens, or room for too few words, are refused", number);
    unsigned char *damaged = copy_of(c->tokens, c->token_size);
    for (size_t i = 0; damaged != NULL && i < 8 * c->token_size; i++) {
        damaged[i / 8] ^= (unsigned char)(1u << i % 8);
        stands = unpack_words(c, damaged, c->token_size, c->count, &is_good) && stands;
        damaged[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    free(damaged);
    CHECK(stands, "words %zu: nothing is written outside", number);
}

int main(void) {
    for (size_t i = 0; i < byte_case_count; i++)
        test_bytes(&byte_cases[i], i);
    for (size_t i = 0; i < word_case_count; i++)
        test_words(&word_cases[i], i);
    return check_finish();
}
