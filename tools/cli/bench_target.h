// SPDX-License-Identifier: MIT
//
// What the bench holds a machine against.
#ifndef ROPE2D_CLI_BENCH_TARGET_H
#define ROPE2D_CLI_BENCH_TARGET_H

#include "bench.h"

enum { BENCH_MOST_TARGETS = 40, BENCH_MOST_LEFT = 48, BENCH_UNKNOWN = -1 };

// A row that misses its target, though its own limit shows that it could be faster.
struct bench_unexplained {
    double value;
    double reached; // what the measured limit makes of its place; BENCH_UNKNOWN: none was measured
    char where[160];
};

struct bench_target {
    const char *what;
    char target[64]; // "at least 0.95 of the in-place scale"
    bool is_measured;
    bool is_met;
    double limit, worst, middle; // of the rows: the one farthest from the limit, and the median
    double reached;              // what the measured limit makes of the worst row's place, or BENCH_UNKNOWN
    // Measured: of them those that meet the target, those that miss it and run as fast as their own limit,
    // and the others; of these, those whose limit misses it as well.
    uint32_t rows, rows_met, rows_explained, rows_unexplained, rows_beyond;
    char where[160];                                // the worst row; or why nothing was measured
    struct bench_unexplained unexplained;           // of these the row that is farthest from its limit
    struct bench_unexplained left[BENCH_MOST_LEFT]; // and all, or the first of so many, as they were measured
};

// Whether a row of the group is left by a target that tells speed; of what happens once, and of growth,
// nothing is told.
bool bench_has_left(const struct bench_machine *machine, const struct bench_group *group);
uint32_t bench_targets(const struct bench_results *results, struct bench_target *targets);

#endif
