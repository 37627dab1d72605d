// SPDX-License-Identifier: MIT
//
// A baseline that is slow by accident would flatter us: its fastest variants are sought among many.
#include <stdlib.h>

#include "bench_cases.h"
#include "bench_kinds.h"
#include "bench_run.h"
#include "bench_time.h"
#include "message.h"

enum { SEARCH_RUNS = 5 };
// A first run that is so much slower than the best is not repeated.
static const double HOPELESS = 2;
// Nor are runs that took this long together.
static const double LONG_ENOUGH = 0.2;

struct candidate {
    uint32_t variant;
    double seconds;
};

static double counted(struct bench_sample sample) {
    return sample.device > 0 ? sample.device : sample.host;
}

static int by_seconds(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static int time_candidate(struct bench_engine *engine, enum bench_move move, double best,
                          struct candidate *candidate, uint32_t *set) {
    double seconds[SEARCH_RUNS], taken = 0;
    struct bench_sample sample;
    int runs = 0;
    int result =
        engine->ops->busy ? engine->ops->busy(engine, (*set + engine->sets - 1) % engine->sets) : STATUS_OK;
    if (!result)
        result = engine->ops->move(engine, move, candidate->variant, (*set)++ % engine->sets, &sample);
    while (runs < SEARCH_RUNS && taken < LONG_ENOUGH && !result) {
        result = engine->ops->move(engine, move, candidate->variant, (*set)++ % engine->sets, &sample);
        seconds[runs++] = counted(sample);
        taken += sample.host;
        candidate->seconds = seconds[0];
        if (best > 0 && seconds[0] > HOPELESS * best)
            return result;
    }
    if (!result)
        candidate->seconds = bench_spread_of(seconds, (uint32_t)runs).median;
    return result;
}

static int search(struct bench_engine *engine, enum bench_move move, uint32_t best[BENCH_BEST]) {
    struct candidate candidates[BENCH_CANDIDATES];
    uint32_t count = engine->ops->variants(engine, move), set = 0;
    double least = 0;
    int result = STATUS_OK;
    for (uint32_t i = 0; i < count && !result; ++i) {
        candidates[i] = (struct candidate){.variant = i};
        result = time_candidate(engine, move, least, &candidates[i], &set);
        if (least <= 0 || candidates[i].seconds < least)
            least = candidates[i].seconds;
    }
    if (result)
        return result;
    qsort(candidates, count, sizeof *candidates, by_seconds);
    for (uint32_t i = 0; i < BENCH_BEST; ++i)
        best[i] = candidates[i < count ? i : 0].variant;
    return STATUS_OK;
}

// Above 64 MiB a size is as another; on the CPU, whose calls cost little, and on devices that are none above
// 4 MiB.
static unsigned class_of(const struct bench_group *group) {
    unsigned class = 0, most = group->is_software ? 5 : 7;
    for (uint64_t bytes = group->bytes >> 14; bytes > 0 && class < most; bytes >>= 2)
        ++class;
    return class * 2 + (group->what.in_cache ? 1 : 0);
}

static unsigned kind_of(const struct bench_group *group, enum bench_move move) {
    unsigned element = (unsigned)group->what.element;
    if (bench_is_turn(move))
        return ROPE2D_ELEMENT_COUNT * (unsigned)(group->what.tower - bench_towers) + element;
    return bench_is_limit(move) ? 2 * element + (bench_table_floats(&group->what) > 0) : 0;
}

int bench_search(struct bench_run *run, const struct bench_group *group, enum bench_move move,
                 struct bench_found *found) {
    struct bench_found *kept = &run->found[move][kind_of(group, move)][class_of(group)];
    int result = STATUS_OK;
    if (!kept->is_there)
        result = search(&run->engine, move, kept->variants);
    kept->is_there = !result;
    *found = *kept;
    return result;
}
