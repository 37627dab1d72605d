// SPDX-License-Identifier: MIT
// Loads a folder of tests/golden; tests/golden/README.md tells its form.
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include "npy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GOLDEN_NAME_SIZE  64
#define GOLDEN_ERROR_SIZE 512

enum golden_layout {
    GOLDEN_BHND,
    GOLDEN_BNHD,
    GOLDEN_NHD,
    GOLDEN_BNC,
};

// q or k: what went in, what the model returned, and how both lie in memory. Strides are in elements, that of
// the channel is 1.
struct golden_tensor {
    struct npy_array input, output;
    size_t batch, tokens, heads;
    size_t batch_stride, token_stride, head_stride;
    const float *coordinates; // [tokens][axes], points into the case
    size_t (*unrotated)[2];   // [unrotated_count], begin and end
    size_t unrotated_count;
};

struct golden_case {
    char name[GOLDEN_NAME_SIZE];
    char pair_rule[GOLDEN_NAME_SIZE];
    enum golden_layout layout;
    size_t head_dim, rotary_dim, axes, pairs, freq_heads;
    size_t tables; // 2 where lo and hi have angles of their own
    int32_t *pair_lo, *pair_hi;
    const float *freqs; // [tables][axes][freq_heads][pairs]
    bool separate_k_positions;
    bool recorded_in_bf16;
    double tolerance; // absolute
    struct golden_tensor q, k;
    struct npy_array positions, positions_k, freqs_file;
};

// False on failure, with a text of at most GOLDEN_ERROR_SIZE bytes in error; the case is then empty.
bool golden_load(const char *folder, struct golden_case *golden, char *error);

// Accepts a case of zeros.
void golden_free(struct golden_case *golden);

// The sorted names of the folders below root that hold a case.json, and their count; NULL when there are
// none. One free releases all.
char (*golden_list(const char *root, size_t *count))[GOLDEN_NAME_SIZE];

#endif
