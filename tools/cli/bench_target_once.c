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
    bool is_part;                                             // that is a part of the value
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

// What is left of a cold plan when the driver's compiling is taken away.
static double own_plan(const struct bench_overhead *overhead) {
    if (overhead->backend == ROPE2D_BACKEND_CPU)
        return -1;
    double own = overhead->plan_cold - (overhead->compile > 0 ? overhead->compile : 0);
    return own > 0 ? own : 0;
}

// The driver's own part: what it compiles or takes from its cache, or the least that comes to.
static double drivers_part(const struct bench_warm *warm) {
    return warm->compile > warm->bare ? warm->compile : warm->bare;
}

static double warm_limit(const struct bench_overhead *overhead) {
    return drivers_part(&overhead->warm[0]);
}

static double warm_limit_f16(const struct bench_overhead *overhead) {
    return drivers_part(&overhead->warm[1]);
}

static double record_limit(const struct bench_overhead *overhead) {
    return overhead->bare_record > 0 ? overhead->bare_record : 0;
}

static double no_limit(const struct bench_overhead *overhead) {
    (void)overhead;
    return 0;
}

static const struct once_rule rules[] = {
    {"record one rotation, seconds", "at most 1 microsecond", 1e-6, record_time, record_limit, false},
    {"record one rotation, allocations", "none", 0, record_allocations, no_limit, false},
    {"plan, new process, warm cache, f32, seconds", "at most 1 ms", 1e-3, warm_plan, warm_limit, true},
    {"plan, new process, warm cache, f16, seconds", "at most 1 ms", 1e-3, warm_plan_f16, warm_limit_f16,
     true},
    {"cold plan without the driver's compiling, seconds", "at most 5 ms", 5e-3, own_plan, no_limit, false},
};

static void judge(const struct bench_results *results, const struct once_rule *rule,
                  struct bench_target *target) {
    struct bench_account account = {.target = target, .at_most = true, .limit_is_part = rule->is_part};
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
        double reached = rule->reached(overhead);
        bench_account_add(&account, value, reached > 0 ? reached : BENCH_UNKNOWN, where);
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
           b->what.purpose != BENCH_ONE_KERNEL && b->what.tokens >= 1024;
}

// What a token of one rotation takes where it takes least and where it takes most, and its limit in the same
// two places; 0: not measured. Of the in-place scale, which is measured in turns with it: between one size
// and the next a shared machine may change its speed by half.
struct growth {
    double least, most, limit_least, limit_most;
    uint64_t least_tokens, most_tokens; // there
    double alone_least, alone_most;     // of seconds, beside nothing
    uint64_t fewest, greatest;          // tokens
};

static void take(struct growth *growth, uint64_t tokens, double time, double limit, double alone) {
    if (growth->least <= 0 || time < growth->least) {
        growth->least = time;
        growth->limit_least = limit;
        growth->least_tokens = tokens;
    }
    if (time > growth->most) {
        growth->most = time;
        growth->limit_most = limit;
        growth->most_tokens = tokens;
    }
    if (growth->alone_least <= 0 || alone < growth->alone_least)
        growth->alone_least = alone;
    if (alone > growth->alone_most)
        growth->alone_most = alone;
    growth->fewest = growth->fewest < tokens ? growth->fewest : tokens;
    growth->greatest = growth->greatest > tokens ? growth->greatest : tokens;
}

static double growth_of(double least, double most) {
    return least > 0 && most > least ? most / least - 1 : 0;
}

static struct growth collect(const struct bench_results *results, const struct bench_group *group,
                             const struct bench_row *like) {
    const enum bench_move limit = bench_limit_of(like); // the same at all sizes
    struct growth growth = {.fewest = UINT64_MAX};
    for (size_t i = 0; i < results->group_count; ++i) {
        const struct bench_group *other = &results->groups[i];
        const struct bench_row *row = same_but_tokens(group, other) ? bench_find_row(other, like) : NULL;
        uint64_t tokens = other->what.tokens;
        if (!row || !row->is_equal || row->of[BENCH_SCALE] <= 0)
            continue;
        take(&growth, tokens, 1 / row->of[BENCH_SCALE], row->of[limit] / row->of[BENCH_SCALE],
             bench_counted(&row->timing)->median / (double)tokens);
    }
    return growth;
}

// What the rotation itself passes by a quarter is no limit.
static bool is_limit(double limit, double rotation) {
    return limit > 0 && limit <= 1.25 * rotation;
}

static void judge_growth(const struct growth *growth, const struct bench_group *group,
                         const struct bench_row *row, struct bench_account *account) {
    char where[160], device[BENCH_DEVICE_TEXT];
    if (growth->fewest > 1024 || growth->greatest < 1 << 20)
        return;
    bench_device_text(group, device);
    snprintf(where, sizeof where,
             "%s: %s, %s, %s, %s, from %" PRIu64 " tokens to %" PRIu64 "; of time alone %.2g", device,
             group->what.tower->name, bench_element_names[group->what.element],
             bench_pairing_names[row->pairing], row->in_place ? "in place" : "out of place",
             growth->least_tokens, growth->most_tokens, growth_of(growth->alone_least, growth->alone_most));
    bool is_known =
        is_limit(growth->limit_least, growth->least) && is_limit(growth->limit_most, growth->most);
    bench_account_add(account, growth_of(growth->least, growth->most),
                      is_known ? growth_of(growth->limit_least, growth->limit_most) : BENCH_UNKNOWN, where);
}

uint32_t bench_target_growth(const struct bench_results *results, struct bench_target *target) {
    struct bench_account account = {.target = target, .at_most = true, .base = 1};
    *target = (struct bench_target){
        .what = "growth from 2^10 to 2^20 tokens, time per token",
        .limit = 0.1,
        .target = "constant within 10 % beside the in-place scale's",
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
