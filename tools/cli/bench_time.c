// SPDX-License-Identifier: MIT
#include "bench_time.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Between the two nearest ranks.
static double quantile(const double *sorted, uint32_t count, double part) {
    double rank = part * (double)(count - 1);
    uint32_t below = (uint32_t)rank;
    double above = below + 1 < count ? sorted[below + 1] : sorted[below];
    return sorted[below] + (rank - below) * (above - sorted[below]);
}

struct bench_spread bench_spread_of(double *seconds, uint32_t count) {
    if (count == 0)
        return (struct bench_spread){0};
    qsort(seconds, count, sizeof *seconds, by_value);
    return (struct bench_spread){
        .median = quantile(seconds, count, 0.5),
        .low = quantile(seconds, count, 0.25),
        .high = quantile(seconds, count, 0.75),
        .least = seconds[0],
    };
}

struct bench_timing bench_timing_of(const struct bench_sample *samples, uint32_t count, double *room) {
    struct bench_timing timing = {.has_device = count > 0, .runs = count};
    for (uint32_t i = 0; i < count; ++i)
        timing.has_device = timing.has_device && samples[i].device > 0;
    for (uint32_t i = 0; i < count; ++i)
        room[i] = samples[i].host;
    timing.host = bench_spread_of(room, count);
    for (uint32_t i = 0; i < count; ++i)
        room[i] = samples[i].device;
    if (timing.has_device)
        timing.device = bench_spread_of(room, count);
    return timing;
}

const struct bench_spread *bench_counted(const struct bench_timing *timing) {
    return timing->has_device ? &timing->device : &timing->host;
}

double bench_rate(const struct bench_group *group, const struct bench_timing *timing) {
    double seconds = bench_counted(timing)->median;
    return seconds > 0 ? 2e-9 * (double)group->bytes / seconds : 0;
}

double bench_ratio_of(const struct bench_sample *baseline, const struct bench_sample *samples, uint32_t count,
                      double *room) {
    bool has_device = true;
    for (uint32_t i = 0; i < count; ++i)
        has_device = has_device && baseline[i].device > 0 && samples[i].device > 0;
    for (uint32_t i = 0; i < count; ++i)
        room[i] = has_device ? baseline[i].device / samples[i].device : baseline[i].host / samples[i].host;
    return bench_spread_of(room, count).median;
}

const struct bench_baseline *bench_baseline_of(const struct bench_group *group, enum bench_move move) {
    const struct bench_best *best = &group->moves[move];
    return move == BENCH_DRIVER_COPY ? &group->driver_copy : &best->variants[best->best];
}

// A turn that the rotation is faster than, by more than a row may be slower than its limit, shows no limit.
static const double NO_LIMIT = 1 / BENCH_NEAR_SPEED;

enum bench_move bench_limit_of(const struct bench_row *row) {
    bool is_half = row->pairing == ROPE2D_PAIRING_HALF;
    enum bench_move turn = is_half ? BENCH_TURN_OUT_HALF : BENCH_TURN_OUT_INTERLEAVED;
    if (row->in_place)
        turn = is_half ? BENCH_TURN_HALF : BENCH_TURN_INTERLEAVED;
    if (row->of[turn] > 0 && row->of[turn] <= NO_LIMIT)
        return turn;
    return row->in_place ? BENCH_LIMIT_IN : BENCH_LIMIT_OUT;
}

double bench_of_limit(const struct bench_row *row) {
    return row->of[bench_limit_of(row)];
}
