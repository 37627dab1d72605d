// SPDX-License-Identifier: MIT
// The rooms that the cases stand in, and what their descriptions share.
#ifndef HARNESS_CASE_ROOMS_H
#define HARNESS_CASE_ROOMS_H

#include "cases.h"

// Strides that leave gaps at every level, odd in elements so that halves of words are shared with neighbours.
#define ODD_GAPS                                                                                             \
    { .head_gap = 3, .token_gap = 5, .batch_gap = 7, .offset = 1, .skew = 1 }
// Even in elements, with room between.
#define EVEN_GAPS                                                                                            \
    { .head_gap = 8, .token_gap = 16, .batch_gap = 32, .offset = 8, .skew = 8 }

#define MANY (HARNESS_ALL_TYPES | HARNESS_QUICK)

struct harness_case_room {
    const struct harness_case *cases;
    uint32_t count;
};

extern const struct harness_case_room harness_layouts_cases, harness_positions_cases, harness_specs_cases;

#endif
