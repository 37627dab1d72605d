// SPDX-License-Identifier: MIT
//
// What case.json says, each value checked for its kind and its limits.
#ifndef ROPE2D_CLI_CASE_JSON_H
#define ROPE2D_CLI_CASE_JSON_H

#include "case.h"

// What is needed to understand the arrays beside it.
struct case_description {
    enum array_layout layout;
    uint32_t heads[JOB_TENSORS];
    uint32_t pairs;
    bool has_own_positions; // k has
};

// Fills in the description, and the case's name, model, tolerance, merge, pairs and ranges. Returns an exit
// status, having said what is wrong.
int case_json_read(const char *path, struct case_description *description, struct golden_case *golden);

#endif
