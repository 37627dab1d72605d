// SPDX-License-Identifier: MIT
// The rotary embeddings of models without a golden case, as their sources write them, in long double and
// without the library: which channels pair up, which axis turns a pair by how much, where a token stands.
#ifndef TEST_PRESET_FORMULAS_H
#define TEST_PRESET_FORMULAS_H

#include <stddef.h>
#include <stdint.h>

struct formula_pair {
    uint32_t lo, hi;
    int axis; // -1: none
    long double frequency;
};

struct formula_sizes { // of what the model is given: a prefix, text, then frames x rows x columns
    uint32_t still, text, frames, rows, columns;
};

struct formula {
    const char *name;
    uint32_t head_dim, pairs, heads, axes;
    struct formula_sizes sizes;
    struct formula_pair (*pair)(uint32_t head, uint32_t pair);
    // Coordinates of a token; 0 when it does not turn.
    int (*place)(const struct formula_sizes *sizes, uint32_t token, long double *coordinates);
};

extern const struct formula preset_formulas[];
extern const size_t preset_formula_count;

#endif
