// SPDX-License-Identifier: MIT
#include "bench_passes.h"

#include <stdlib.h>
#include <string.h>

#include "bench_time.h"
#include "message.h"

// Which of the times is in the middle; those that are 0 were not measured. `count` where none was.
static uint32_t middle(const double *seconds, uint32_t count) {
    uint32_t measured = 0;
    for (uint32_t i = 0; i < count; ++i)
        measured += seconds[i] > 0;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t below = 0;
        for (uint32_t j = 0; j < count; ++j)
            below += seconds[j] > 0 && (seconds[j] < seconds[i] || (seconds[j] <= seconds[i] && j < i));
        if (seconds[i] > 0 && below == (measured - 1) / 2)
            return i;
    }
    return count;
}

static double seconds_of(const struct bench_timing *timing) {
    return timing->runs ? bench_counted(timing)->median : 0;
}

static void join_ratios(const struct bench_row *const *rows, uint32_t count, struct bench_row *joined) {
    for (int move = 0; move < BENCH_MOVES; ++move) {
        double ratios[BENCH_MOST_PASSES];
        uint32_t measured = 0;
        for (uint32_t i = 0; i < count; ++i)
            if (rows[i]->of[move] > 0)
                ratios[measured++] = rows[i]->of[move];
        joined->of[move] = bench_spread_of(ratios, measured).median; // sorts them
        joined->least[move] = measured ? ratios[0] : 0;
        joined->most[move] = measured ? ratios[measured - 1] : 0;
    }
}

static void join_row(const struct bench_row *const *rows, uint32_t count, struct bench_row *joined) {
    double seconds[BENCH_MOST_PASSES];
    *joined = *rows[0];
    for (uint32_t i = 0; i < count; ++i) {
        seconds[i] = seconds_of(&rows[i]->timing);
        if (!rows[i]->is_equal) {
            *joined = *rows[i];
            return;
        }
    }
    uint32_t at = middle(seconds, count);
    if (at < count)
        joined->timing = rows[at]->timing;
    joined->passes = count;
    join_ratios(rows, count, joined);
}

static void join_moves(const struct bench_group *const *groups, uint32_t count, struct bench_group *joined) {
    for (int move = 0; move < BENCH_MOVES; ++move) {
        double seconds[BENCH_MOST_PASSES];
        for (uint32_t i = 0; i < count; ++i)
            seconds[i] = seconds_of(&bench_baseline_of(groups[i], (enum bench_move)move)->timing);
        uint32_t at = middle(seconds, count);
        if (at == count)
            continue;
        if (move == BENCH_DRIVER_COPY)
            joined->driver_copy = groups[at]->driver_copy;
        else
            joined->moves[move] = groups[at]->moves[move];
    }
}

static void join_group(const struct bench_group *const *groups, uint32_t count, struct bench_group *joined) {
    *joined = *groups[0];
    join_moves(groups, count, joined);
    for (uint32_t i = 0; i < joined->row_count; ++i) {
        const struct bench_row *rows[BENCH_MOST_PASSES] = {NULL};
        uint32_t found = 0;
        for (uint32_t j = 0; j < count; ++j)
            if ((rows[found] = bench_find_row(groups[j], &groups[0]->rows[i])) != NULL)
                ++found;
        join_row(rows, found, &joined->rows[i]);
    }
}

static bool is_same_case(const struct bench_case *a, const struct bench_case *b) {
    return a->tower == b->tower && a->tokens == b->tokens && a->element == b->element &&
           a->threads == b->threads && a->in_cache == b->in_cache && a->purpose == b->purpose &&
           a->kernel == b->kernel;
}

const struct bench_group *bench_find_case(const struct bench_results *results, const char *device,
                                          const struct bench_case *what) {
    for (size_t i = 0; i < results->group_count; ++i)
        if (strcmp(results->groups[i].device, device) == 0 && is_same_case(&results->groups[i].what, what))
            return &results->groups[i];
    return NULL;
}

static const struct bench_group *find_group(const struct bench_results *results,
                                            const struct bench_group *like) {
    return bench_find_case(results, like->device, &like->what);
}

// Behind the last one of its device, whose groups follow one another, whichever pass was their first.
static struct bench_group *make_place(struct bench_results *results, const struct bench_group *group) {
    size_t at = results->group_count;
    for (size_t i = results->group_count; i > 0; --i)
        if (bench_is_same_device(&results->groups[i - 1], group)) {
            at = i;
            break;
        }
    struct bench_group *place = &results->groups[at];
    memmove(place + 1, place, (results->group_count++ - at) * sizeof *place);
    return place;
}

// The groups of which `pass` is the first that has them.
static void join_first_seen(const struct bench_results *passes, uint32_t pass, uint32_t count,
                            struct bench_results *joined) {
    for (size_t i = 0; i < passes[pass].group_count; ++i) {
        const struct bench_group *groups[BENCH_MOST_PASSES] = {&passes[pass].groups[i]};
        uint32_t found = 1;
        if (find_group(joined, groups[0]))
            continue;
        for (uint32_t j = pass + 1; j < count; ++j)
            if ((groups[found] = find_group(&passes[j], groups[0])) != NULL)
                ++found;
        join_group(groups, found, make_place(joined, groups[0]));
    }
}

int bench_passes_join(const struct bench_results *passes, uint32_t count, struct bench_results *joined) {
    size_t most = 0, cases = 0;
    joined->refused = 0;
    for (uint32_t i = 0; i < count; ++i) {
        size_t asked = passes[i].group_count + passes[i].left_out;
        most += passes[i].group_count;
        cases = asked > cases ? asked : cases;
        joined->refused += passes[i].refused;
    }
    joined->groups = malloc((most + 1) * sizeof *joined->groups);
    joined->group_count = 0;
    if (!joined->groups) {
        message("no memory for the results");
        return STATUS_DEVICE;
    }
    for (uint32_t i = 0; i < count; ++i)
        join_first_seen(passes, i, count, joined);
    joined->left_out = (uint32_t)(cases - joined->group_count);
    return STATUS_OK;
}

void bench_passes_free(struct bench_results *passes, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        free(passes[i].groups);
    memset(passes, 0, count * sizeof *passes);
}
