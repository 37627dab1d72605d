// SPDX-License-Identifier: MIT
//
// Every row of a target: it meets it, it misses it but is as fast as its limit, or it has something to gain.
#include <stdio.h>
#include <stdlib.h>

#include "bench_target_parts.h"
#include "bench_time.h"

// A row is as fast as its limit if it has this much of its speed, or takes this much of its time.
static const double NEAR_TIME = 1.05;

void bench_account_begin(struct bench_account *account, size_t most_rows) {
    struct bench_target *target = account->target;
    account->values = malloc((most_rows + 1) * sizeof *account->values);
    if (!account->values)
        snprintf(target->where, sizeof target->where, "no memory");
}

static bool meets(const struct bench_account *account, double value) {
    return account->at_most ? value <= account->target->limit : value >= account->target->limit;
}

// A limit of time explains nothing where it meets the target itself.
static bool is_explained(const struct bench_account *account, double value, double reached) {
    if (reached < 0)
        return false;
    if (account->at_most && meets(account, reached))
        return false;
    if (account->at_most)
        return account->base + value <= NEAR_TIME * (account->base + reached) ||
               (account->limit_is_part && meets(account, value - reached));
    return value >= BENCH_NEAR_SPEED * reached;
}

bool bench_account_is_left(const struct bench_account *account, double value, double reached) {
    return !meets(account, value) && !is_explained(account, value, reached);
}

// How many times as slow as its limit; where none was measured, as the target.
static double distance(const struct bench_account *account, double value, double reached) {
    double above = account->base + value;
    double below = account->base + (reached >= 0 ? reached : account->target->limit);
    if (!account->at_most)
        return value > 0 ? below / above : 0;
    return below > 0 ? above / below : above;
}

static void add_unexplained(struct bench_account *account, double value, double reached, const char *where) {
    struct bench_target *target = account->target;
    struct bench_unexplained found = {.value = value, .reached = reached};
    double far = distance(account, value, reached);
    target->rows_beyond += reached >= 0 && !meets(account, reached);
    snprintf(found.where, sizeof found.where, "%s", where);
    if (target->rows_unexplained < BENCH_MOST_LEFT)
        target->left[target->rows_unexplained] = found;
    if (target->rows_unexplained++ && far <= account->farthest)
        return;
    account->farthest = far;
    target->unexplained = found;
}

void bench_account_add(struct bench_account *account, double value, double reached, const char *where) {
    struct bench_target *target = account->target;
    if (!account->values)
        return;
    account->values[target->rows] = value;
    if (!target->rows++ || (account->at_most ? value > target->worst : value < target->worst)) {
        target->worst = value;
        target->reached = reached;
        snprintf(target->where, sizeof target->where, "%s", where);
    }
    if (meets(account, value))
        ++target->rows_met;
    else if (is_explained(account, value, reached))
        ++target->rows_explained;
    else
        add_unexplained(account, value, reached, where);
}

void bench_account_end(struct bench_account *account) {
    struct bench_target *target = account->target;
    target->is_measured = target->rows > 0;
    target->is_met = target->is_measured && target->rows_met == target->rows;
    if (target->is_measured)
        target->middle = bench_spread_of(account->values, target->rows).median;
    free(account->values);
    account->values = NULL;
}
