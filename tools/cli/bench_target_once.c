// SPDX-License-Identifier: MIT
//
// Targets of what happens once, and of growth.
#include <inttypes.h>
#include <stdio.h>

#include "bench_target.h"
#include "bench_target_parts.h"

// A quantity of a device: negative where it has none.
struct once_rule {
    const char *what, *target;
    double limit;
    double (*value)(const struct bench_overhead *overhead);
};

static double record_time(const struct bench_overhead *overhead) {
    return overhead->record;
}

static double record_allocations(const struct bench_overhead *overhead) {
    return overhead->record < 0 ? -1 : (double)overhead->record_allocations;
}

static double warm_plan(const struct bench_overhead *overhead) {
    return overhead->backend == ROPE2D_BACKEND_CPU ? -1 : overhead->plan_warm;
}

// What is left of a plan when the driver's compiling is taken away. Of the second, since drivers compile some
// of the first only when it runs.
static double own_plan(const struct bench_overhead *overhead) {
    if (overhead->backend == ROPE2D_BACKEND_CPU || overhead->compile_again < 0)
        return -1;
    double own = overhead->plan_again - overhead->compile_again;
    return own > 0 ? own : 0;
}

static const struct once_rule rules[] = {
    {"record one rotation, seconds", "at most 1 microsecond", 1e-6, record_time},
    {"record one rotation, allocations", "none", 0, record_allocations},
    {"plan with a warm cache, seconds", "at most 1 ms", 1e-3, warm_plan},
    {"plan without the driver's compiling, seconds", "at most 5 ms", 5e-3, own_plan},
};

static void judge(const struct bench_results *results, const struct once_rule *rule,
                  struct bench_target *target) {
    *target =
        (struct bench_target){.what = rule->what, .limit = rule->limit, .where = "no device that has it"};
    snprintf(target->target, sizeof target->target, "%s", rule->target);
    for (size_t i = 0; i < results->overhead_count; ++i) {
        double value = rule->value(&results->overheads[i]);
        if (value < 0)
            continue;
        if (!target->rows++ || value > target->worst) {
            target->worst = value;
            snprintf(target->where, sizeof target->where, "%s", results->overheads[i].device);
        }
    }
    target->is_measured = target->rows > 0;
    target->is_met = target->worst <= target->limit;
    target->middle = target->worst;
}

uint32_t bench_targets_once(const struct bench_results *results, struct bench_target *targets) {
    enum { RULES = sizeof rules / sizeof *rules };
    for (size_t i = 0; i < RULES; ++i)
        judge(results, &rules[i], &targets[i]);
    return RULES;
}

static bool same_but_tokens(const struct bench_group *a, const struct bench_group *b) {
    return a->backend == b->backend && a->what.tower == b->what.tower && a->what.element == b->what.element &&
           a->what.threads == b->what.threads && a->past_caches && b->past_caches && b->what.tokens >= 1024;
}

// The largest time per token against the smallest, over the sizes of one rotation.
static double spread_of(const struct bench_results *results, const struct bench_group *group, uint32_t row,
                        uint64_t *least, uint64_t *most) {
    double lowest = 0, highest = 0;
    for (size_t i = 0; i < results->group_count; ++i) {
        const struct bench_group *other = &results->groups[i];
        if (!same_but_tokens(group, other) || row >= other->row_count || !other->rows[row].is_equal)
            continue;
        double each = bench_counted(&other->rows[row].timing)->median / (double)other->what.tokens;
        lowest = lowest > 0 && lowest < each ? lowest : each;
        highest = highest > each ? highest : each;
        *least = *least < other->what.tokens ? *least : other->what.tokens;
        *most = *most > other->what.tokens ? *most : other->what.tokens;
    }
    return lowest > 0 ? highest / lowest - 1 : 0;
}

uint32_t bench_target_growth(const struct bench_results *results, struct bench_target *target) {
    *target = (struct bench_target){
        .what = "CPU, growth from 2^10 to 2^20 tokens: time per token",
        .limit = 0.1,
        .target = "constant within 10 %",
        .where = "no row reaches from 1,024 to 1,048,576 tokens",
    };
    for (size_t i = 0; i < results->group_count; ++i) {
        const struct bench_group *group = &results->groups[i];
        for (uint32_t row = 0; row < group->row_count && group->what.tokens == 1024; ++row) {
            uint64_t least = UINT64_MAX, most = 0;
            if (group->backend != ROPE2D_BACKEND_CPU || !group->past_caches)
                continue;
            double spread = spread_of(results, group, row, &least, &most);
            if (least > 1024 || most < 1 << 20)
                continue;
            if (!target->rows++ || spread > target->worst) {
                target->worst = target->middle = spread;
                snprintf(target->where, sizeof target->where, "%s, %u threads: %s, %s, %s, %s", group->device,
                         group->what.threads, group->what.tower->name,
                         bench_element_names[group->what.element],
                         bench_pairing_names[group->rows[row].pairing],
                         group->rows[row].in_place ? "in place" : "out of place");
            }
        }
    }
    target->is_measured = target->rows > 0;
    target->is_met = target->worst <= target->limit;
    return 1;
}
