// SPDX-License-Identifier: MIT
//
// From a request to results: every device, and every case on it.
#ifndef ROPE2D_CLI_BENCH_SWEEP_H
#define ROPE2D_CLI_BENCH_SWEEP_H

#include "bench.h"
#include "device_choice.h"

// Prints tables as it goes. What is measured stays in *results when a device fails. Returns an exit status.
int bench_sweep(const struct bench_request *request, const struct device_list *devices,
                struct bench_results *results);
void bench_results_free(struct bench_results *results);

#endif
