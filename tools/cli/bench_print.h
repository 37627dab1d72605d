// SPDX-License-Identifier: MIT
//
// Results as tables, as JSON and as a picture.
#ifndef ROPE2D_CLI_BENCH_PRINT_H
#define ROPE2D_CLI_BENCH_PRINT_H

#include <cjson/cJSON.h>

#include "bench.h"

void bench_print_heading(const struct bench_results *results);
void bench_print_group(const struct bench_group *group, bool is_first); // of a device and its threads
void bench_print_overheads(const struct bench_results *results);
// The targets, each with pass or by how much it misses; how many miss.
uint32_t bench_print_targets(const struct bench_results *results);

cJSON *bench_json(const struct bench_results *results); // belongs to the caller
int bench_write_json(const struct bench_results *results, const char *path);
int bench_write_plot(const struct bench_results *results, const char *path);

#endif
