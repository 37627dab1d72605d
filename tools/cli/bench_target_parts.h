// SPDX-License-Identifier: MIT
//
// The targets that are not about rows. Both return how many they wrote.
#ifndef ROPE2D_CLI_BENCH_TARGET_PARTS_H
#define ROPE2D_CLI_BENCH_TARGET_PARTS_H

#include "bench_target.h"

uint32_t bench_targets_once(const struct bench_results *results, struct bench_target *targets);
uint32_t bench_target_growth(const struct bench_results *results, struct bench_target *target);

#endif
