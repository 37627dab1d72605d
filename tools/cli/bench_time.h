// SPDX-License-Identifier: MIT
//
// From samples to medians and quartiles.
#ifndef ROPE2D_CLI_BENCH_TIME_H
#define ROPE2D_CLI_BENCH_TIME_H

#include "bench.h"

// Sorts the seconds.
struct bench_spread bench_spread_of(double *seconds, uint32_t count);

// `room` holds as many doubles as there are samples. A device's clock that failed once does not count.
struct bench_timing bench_timing_of(const struct bench_sample *samples, uint32_t count, double *room);

// The median of how fast samples are against a baseline's of the same rounds, by the device's clock where
// both have one.
double bench_ratio_of(const struct bench_sample *baseline, const struct bench_sample *samples, uint32_t count,
                      double *room);

#endif
