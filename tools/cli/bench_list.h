// SPDX-License-Identifier: MIT
//
// The cases of a device, in the order in which they are measured.
#ifndef ROPE2D_CLI_BENCH_LIST_H
#define ROPE2D_CLI_BENCH_LIST_H

#include "bench.h"

// Enough for every tower, size and type twice.
enum { BENCH_MOST_CASES = 8 * BENCH_LIST * 3 * 2 + 72 };

struct bench_case_list {
    struct bench_case cases[BENCH_MOST_CASES];
    size_t count;
};

struct bench_list_params {
    const struct bench_request *request;
    const struct bench_machine *machine;
    rope2d_backend backend;
    uint32_t threads; // of the CPU; 0 elsewhere
};

void bench_list_cases(const struct bench_list_params *params, struct bench_case_list *list);

#endif
