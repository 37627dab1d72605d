// SPDX-License-Identifier: MIT
//
// Targets of what happens once, and of growth.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench_target.h"
#include "bench_target_parts.h"

// A quantity of a device: negative where it has none.
struct once_rule {
    const char *what, *target;
    double limit;
    double (*value)(const struct bench_overhead *overhead);
    double (*reached)(const struct bench_overhead *overhead); // what the device itself takes; 0: not known
};

static double record_time(const struct bench_overhead *overhead) {
    return overhead->record;
}

static double record_allocations(const struct bench_overhead *overhead) {
    return overhead->record < 0 ? -1 : (double)overhead->record_allocations;
}

static double warm_plan(const struct bench_overhead *overhead) {
    return overhead->backend == ROPE2D_BACKEND_CPU ? -1 : overhead->warm[0].plan;
}

static double warm_plan_f16(const struct bench_overhead *overhead) {
    return overhead->backend == ROPE2D_BACKEND_CPU ? -1 : overhead->warm[1].plan;
}

// What is left of a cold plan when the compiling that the driver tells of is taken away. Drivers compile the
// rest, or all, where nobody sees it.
static double own_plan(const struct bench_overhead *overhead) {
    if (overhead->backend == ROPE2D_BACKEND_CPU)
        return -1;
    double own = overhead->plan_cold - (overhead->compile > 0 ? overhead->compile : 0);
    return own > 0 ? own : 0;
}

// OpenCL's compiling is timed where it happens: nothing of it is left to explain.
static double cold_limit(const struct bench_overhead *overhead) {
    return overhead->backend == ROPE2D_BACKEND_OPENCL ? 0 : overhead->bare_compile;
}

// The driver's own part: making the pipelines from its cache, and what as many copy kernels take when they
// first run; in OpenCL the former has both.
static double drivers_part(const struct bench_overhead *overhead, const struct bench_warm *warm) {
    if (overhead->backend == ROPE2D_BACKEND_OPENCL)
        return warm->compile > warm->bare ? warm->compile : warm->bare;
    return (warm->compile > 0 ? warm->compile : 0) + warm->bare;
}

static double warm_limit(const struct bench_overhead *overhead) {
    return drivers_part(overhead, &overhead->warm[0]);
}

static double warm_limit_f16(const struct bench_overhead *overhead) {
    return drivers_part(overhead, &overhead->warm[1]);
}

static double record_limit(const struct bench_overhead *overhead) {
    return overhead->bare_record > 0 ? overhead->bare_record : 0;
}

static double no_limit(const struct bench_overhead *overhead) {
    (void)overhead;
    return 0;
}

static const struct once_rule rules[] = {
    {"record one rotation, seconds", "at most 1 microsecond", 1e-6, record_time, record_limit},
    {"record one rotation, allocations", "none", 0, record_allocations, no_limit},
    {"plan, new process, warm cache, f32, seconds", "at most 1 ms", 1e-3, warm_plan, warm_limit},
    {"plan, new process, warm cache, f16, seconds", "at most 1 ms", 1e-3, warm_plan_f16, warm_limit_f16},
    {"cold plan without the driver's compiling, seconds", "at most 5 ms", 5e-3, own_plan, cold_limit},
};

static void judge(const struct bench_results *results, const struct once_rule *rule,
                  struct bench_target *target) {
    struct bench_account account = {.target = target, .at_most = true};
    *target = (struct bench_target){.what = rule->what,
                                    .limit = rule->limit,
                                    .where = "the run has no Vulkan or OpenCL device that tells"};
    snprintf(target->target, sizeof target->target, "%s", rule->target);
    bench_account_begin(&account, results->overhead_count);
    for (size_t i = 0; i < results->overhead_count; ++i) {
        const struct bench_overhead *overhead = &results->overheads[i];
        char where[sizeof target->where];
        double value = rule->value(overhead);
        if (value < 0)
            continue;
        snprintf(where, sizeof where, "%s, %.100s", overhead->device, overhead->device_name);
        bench_account_add(&account, value, rule->reached(overhead), where);
    }
    bench_account_end(&account);
}

uint32_t bench_targets_once(const struct bench_results *results, struct bench_target *targets) {
    enum { RULES = sizeof rules / sizeof *rules };
    for (size_t i = 0; i < RULES; ++i)
        judge(results, &rules[i], &targets[i]);
    return RULES;
}

static bool same_but_tokens(const struct bench_group *a, const struct bench_group *b) {
    return a->backend == b->backend && strcmp(a->device, b->device) == 0 && a->what.tower == b->what.tower &&
           a->what.element == b->what.element && a->what.threads == b->what.threads && b->past_caches &&
           !b->what.kernel && b->what.tokens >= 1024;
}

static const struct bench_row *find_row(const struct bench_group *group, const struct bench_row *like) {
    for (uint32_t i = 0; i < group->row_count; ++i) {
        const struct bench_row *row = &group->rows[i];
        if (row->is_equal && row->in_place == like->in_place && row->pairing == like->pairing &&
            row->table == like->table)
            return row;
    }
    return NULL;
}

// Seconds per token of one rotation where they are least and where they are most, with those of the in-place
// scale in the same two places.
struct growth {
    double least, most, scale_least, scale_most;
    uint64_t fewest, greatest; // tokens
};

static void take(struct growth *growth, double seconds, double scale) {
    if (growth->least <= 0 || seconds < growth->least) {
        growth->least = seconds;
        growth->scale_least = scale;
    }
    if (seconds > growth->most) {
        growth->most = seconds;
        growth->scale_most = scale;
    }
}

static double growth_of(double least, double most) {
    return least > 0 && most > least ? most / least - 1 : 0;
}

static struct growth collect(const struct bench_results *results, const struct bench_group *group,
                             const struct bench_row *like) {
    struct growth growth = {.fewest = UINT64_MAX};
    for (size_t i = 0; i < results->group_count; ++i) {
        const struct bench_group *other = &results->groups[i];
        const struct bench_row *row = same_but_tokens(group, other) ? find_row(other, like) : NULL;
        uint64_t tokens = other->what.tokens;
        if (!row)
            continue;
        take(&growth, bench_counted(&row->timing)->median / (double)tokens,
             bench_counted(&bench_baseline_of(other, BENCH_SCALE)->timing)->median / (double)tokens);
        growth.fewest = growth.fewest < tokens ? growth.fewest : tokens;
        growth.greatest = growth.greatest > tokens ? growth.greatest : tokens;
    }
    return growth;
}

static void judge_growth(const struct growth *growth, const struct bench_group *group,
                         const struct bench_row *row, struct bench_account *account) {
    char where[160];
    if (growth->fewest > 1024 || growth->greatest < 1 << 20)
        return;
    snprintf(where, sizeof where, "%s, %u threads: %s, %s, %s, %s", group->device, group->what.threads,
             group->what.tower->name, bench_element_names[group->what.element],
             bench_pairing_names[row->pairing], row->in_place ? "in place" : "out of place");
    bench_account_add(account, growth_of(growth->least, growth->most),
                      growth_of(growth->scale_least, growth->scale_most), where);
}

uint32_t bench_target_growth(const struct bench_results *results, struct bench_target *target) {
    struct bench_account account = {.target = target, .at_most = true, .base = 1};
    *target = (struct bench_target){
        .what = "growth from 2^10 to 2^20 tokens, time per token",
        .limit = 0.1,
        .target = "constant within 10 %, past the caches",
        .where =
            "no tower has both 1,024 and 1,048,576 tokens: the time or the memory was too short, or --quick",
    };
    bench_account_begin(&account, results->group_count * BENCH_ROTATIONS);
    for (size_t i = 0; i < results->group_count; ++i) {
        const struct bench_group *group = &results->groups[i];
        for (uint32_t j = 0; j < group->row_count && group->what.tokens == 1024 && group->past_caches; ++j) {
            if (!group->rows[j].is_equal)
                continue;
            struct growth growth = collect(results, group, &group->rows[j]);
            judge_growth(&growth, group, &group->rows[j], &account);
        }
    }
    bench_account_end(&account);
    return 1;
}
