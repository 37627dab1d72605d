// SPDX-License-Identifier: MIT
//
// The account of a target's rows, and the targets that are not about rotations: both return how many they
// wrote.
#ifndef ROPE2D_CLI_BENCH_TARGET_PARTS_H
#define ROPE2D_CLI_BENCH_TARGET_PARTS_H

#include "bench_target.h"

struct bench_account {
    struct bench_target *target; // its limit, and where nothing was measured why
    bool at_most;                // the target is an upper bound, of times; otherwise a lower one, of speed
    bool limit_is_part; // what others take of the value: the rest, where it meets the target, explains it
    double base;        // of what is compared: 1 where the value is what is more than 1
    double *values;
    double farthest;
};

// Room for so many rows. Without memory no row is taken, and the target says so.
void bench_account_begin(struct bench_account *account, size_t most_rows);
// `reached`: what the row's own limit makes of its place, or BENCH_UNKNOWN.
void bench_account_add(struct bench_account *account, double value, double reached, const char *where);
// Whether such a row misses the target, and is not explained.
bool bench_account_is_left(const struct bench_account *account, double value, double reached);
void bench_account_end(struct bench_account *account);

// A group's device, and of the CPU the threads.
enum { BENCH_DEVICE_TEXT = 48 };
void bench_device_text(const struct bench_group *group, char text[BENCH_DEVICE_TEXT]);

uint32_t bench_targets_once(const struct bench_results *results, struct bench_target *targets);
uint32_t bench_target_growth(const struct bench_results *results, struct bench_target *target);

#endif
