// SPDX-License-Identifier: MIT
//
// Several passes over all devices as one set of results: what a machine with busy neighbours shows in one
// minute it may not show in another.
#ifndef ROPE2D_CLI_BENCH_PASSES_H
#define ROPE2D_CLI_BENCH_PASSES_H

#include "bench.h"

// The groups of the passes: *joined receives copies, and how many were refused and left out. A case counts
// with the passes that have it: each ratio is their median, and each time that of the pass in the middle (of
// an even number the faster of two). A row that was not equal in one pass is not equal. Returns an exit
// status.
int bench_passes_join(const struct bench_results *passes, uint32_t count, struct bench_results *joined);
// A device's group of that case; NULL: there is none.
const struct bench_group *bench_find_case(const struct bench_results *results, const char *device,
                                          const struct bench_case *what);
// Leaves them empty. Overheads are not freed: they are whoever's took them.
void bench_passes_free(struct bench_results *passes, uint32_t count);

#endif
