// SPDX-License-Identifier: MIT
#include "bench_target.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench_target_parts.h"

// Rows that a target is about, and what it wants of each.
struct rule {
    const char *what, *target;
    double limit;
    bool (*is_meant)(const struct bench_machine *machine, const struct bench_group *group,
                     const struct bench_row *row);
    double (*value)(const struct bench_row *row);
    bool at_most;
    const char *missing;
    bool has_limit; // the value is a ratio of times, which the limit has as well; or it counts, from 1 on
};

static const uint64_t LARGE = (uint64_t)64 << 20;

static double of_copy(const struct bench_row *row) {
    return row->of[BENCH_COPY];
}

static double of_driver_copy(const struct bench_row *row) {
    return row->of[BENCH_DRIVER_COPY];
}

static double of_scale(const struct bench_row *row) {
    return row->of[BENCH_SCALE];
}

static double traffic(const struct bench_row *row) {
    return row->traffic;
}

static double dispatches(const struct bench_row *row) {
    return row->dispatches;
}

static bool names(const char *text, const char *word) {
    char lower[128] = "";
    for (size_t i = 0; text[i] && i + 1 < sizeof lower; ++i)
        lower[i] = (char)tolower((unsigned char)text[i]);
    return strstr(lower, word) != NULL;
}

static bool is_past(const struct bench_machine *machine, const struct bench_group *group) {
    return group->backend == ROPE2D_BACKEND_CPU && group->past_caches && group->bytes > machine->last_cache;
}

static bool f32_one(const struct bench_machine *machine, const struct bench_group *group,
                    const struct bench_row *row) {
    return is_past(machine, group) && row->in_place && group->what.element == ROPE2D_F32 &&
           group->what.threads == 1;
}

static bool f32_two(const struct bench_machine *machine, const struct bench_group *group,
                    const struct bench_row *row) {
    return is_past(machine, group) && row->in_place && group->what.element == ROPE2D_F32 &&
           group->what.threads == 2;
}

static bool halves(const struct bench_machine *machine, const struct bench_group *group,
                   const struct bench_row *row) {
    return is_past(machine, group) && row->in_place && group->what.element != ROPE2D_F32;
}

static bool in_core_cache(const struct bench_machine *machine, const struct bench_group *group,
                          const struct bench_row *row) {
    (void)machine;
    return group->what.in_cache && row->in_place && group->what.element == ROPE2D_F32;
}

static bool elsewhere(const struct bench_machine *machine, const struct bench_group *group,
                      const struct bench_row *row) {
    return is_past(machine, group) && !row->in_place;
}

static bool from_1024(const struct bench_machine *machine, const struct bench_group *group,
                      const struct bench_row *row) {
    (void)machine;
    (void)row;
    return group->what.tokens >= 1024;
}

// More than a binding reaches needs more than one dispatch.
static bool reached_from_1024(const struct bench_machine *machine, const struct bench_group *group,
                              const struct bench_row *row) {
    return from_1024(machine, group, row) &&
           (!group->most_range || group->bytes / BENCH_TENSORS <= group->most_range);
}

static bool pocl(const struct bench_machine *machine, const struct bench_group *group,
                 const struct bench_row *row) {
    return from_1024(machine, group, row) && group->backend == ROPE2D_BACKEND_OPENCL &&
           (names(group->driver, "pocl") || names(group->device_name, "pocl"));
}

// A software device by its name, which the drivers of both APIs may share.
#define SOFTWARE(name, api, word, type)                                                                      \
    static bool name(const struct bench_machine *machine, const struct bench_group *group,                   \
                     const struct bench_row *row) {                                                          \
        return from_1024(machine, group, row) && group->backend == (api) && group->is_software &&            \
               group->what.element == (type) &&                                                              \
               (names(group->device_name, word) || names(group->driver, word));                              \
    }
SOFTWARE(lavapipe_f32, ROPE2D_BACKEND_VULKAN, "llvmpipe", ROPE2D_F32)
SOFTWARE(lavapipe_f16, ROPE2D_BACKEND_VULKAN, "llvmpipe", ROPE2D_F16)
SOFTWARE(swiftshader_f32, ROPE2D_BACKEND_VULKAN, "swiftshader", ROPE2D_F32)
SOFTWARE(swiftshader_f16, ROPE2D_BACKEND_VULKAN, "swiftshader", ROPE2D_F16)
SOFTWARE(rusticl_f32, ROPE2D_BACKEND_OPENCL, "rusticl", ROPE2D_F32)
SOFTWARE(rusticl_f16, ROPE2D_BACKEND_OPENCL, "rusticl", ROPE2D_F16)

static bool gpu(const struct bench_machine *machine, const struct bench_group *group,
                const struct bench_row *row) {
    (void)machine;
    (void)row;
    return !group->is_software && group->bytes >= LARGE;
}

#define NO_LARGE  "the run has no CPU, no such number of threads, or no tensors past the last cache"
#define NO_DEVICE "the run has no such device, or nothing of 1,024 tokens on it"

static const struct rule rules[] = {
    {"CPU, f32, in place, past the last cache, 1 thread", "at least 0.95 of the in-place scale", 0.95,
     f32_one, of_scale, false, NO_LARGE, true},
    {"CPU, f32, in place, past the last cache, 2 threads", "at least 0.95 of the in-place scale", 0.95,
     f32_two, of_scale, false, NO_LARGE, true},
    {"CPU, f16 and bf16, in place, past the last cache", "at least 0.90 of the in-place scale", 0.90, halves,
     of_scale, false, NO_LARGE, true},
    {"CPU, f32, in place, inside L2", "at least 0.75 of the in-place scale", 0.75, in_core_cache, of_scale,
     false, "the run has no CPU with one thread, or no f32", true},
    {"CPU, out of place, past the last cache", "at least 1.0 of memcpy", 1.0, elsewhere, of_driver_copy,
     false, NO_LARGE, true},
    {"PoCL, every type", "at least 0.85 of the copy kernel", 0.85, pocl, of_copy, false, NO_DEVICE, true},
    {"lavapipe, f32", "at least 0.85 of the copy kernel", 0.85, lavapipe_f32, of_copy, false, NO_DEVICE,
     true},
    {"lavapipe, f16", "at least 0.6 of the copy kernel", 0.6, lavapipe_f16, of_copy, false, NO_DEVICE, true},
    {"SwiftShader, f32", "at least 0.85 of the copy kernel", 0.85, swiftshader_f32, of_copy, false, NO_DEVICE,
     true},
    {"SwiftShader, f16", "at least 0.6 of the copy kernel", 0.6, swiftshader_f16, of_copy, false, NO_DEVICE,
     true},
    {"Rusticl, f32", "at least 0.85 of the copy kernel", 0.85, rusticl_f32, of_copy, false, NO_DEVICE, true},
    {"Rusticl, f16", "at least 0.6 of the copy kernel", 0.6, rusticl_f16, of_copy, false, NO_DEVICE, true},
    {"a real GPU, 64 MiB and more, every type, both tables", "at least 0.95 of the copy kernel", 0.95, gpu,
     of_copy, false, "the run has no GPU, or nothing of 64 MiB on it", true},
    {"q and k, dispatches, from 1,024 tokens", "one, where a binding reaches q", 1, reached_from_1024,
     dispatches, true, "nothing of 1,024 tokens", false},
    {"q and k, traffic, from 1,024 tokens", "at most 1.02 of the floor", 1.02, from_1024, traffic, true,
     "nothing of 1,024 tokens", false},
};

void bench_device_text(const struct bench_group *group, char text[BENCH_DEVICE_TEXT]) {
    int length = snprintf(text, BENCH_DEVICE_TEXT, "%s", group->device);
    if (group->what.threads)
        snprintf(text + length, BENCH_DEVICE_TEXT - (size_t)length, ", %u thread%s", group->what.threads,
                 group->what.threads > 1 ? "s" : "");
}

static void describe(const struct bench_group *group, const struct bench_row *row, char *text, size_t size) {
    char device[BENCH_DEVICE_TEXT];
    bench_device_text(group, device);
    snprintf(text, size, "%s: %s, %" PRIu64 " tokens, %s, %s, %s, %s", device, group->what.tower->name,
             group->what.tokens, bench_element_names[group->what.element], bench_pairing_names[row->pairing],
             bench_table_names[row->table == ROPE2D_TABLE_TEXTURE],
             row->in_place ? "in place" : "out of place");
}

// What its value was in one pass or another.
static void add_range(const struct rule *rule, const struct bench_row *row, char *text, size_t size) {
    struct bench_row least = *row, most = *row;
    size_t length = strlen(text);
    memcpy(least.of, row->least, sizeof least.of);
    memcpy(most.of, row->most, sizeof most.of);
    snprintf(text + length, size - length, "; %.2f to %.2f in %u passes", rule->value(&least),
             rule->value(&most), row->passes);
}

// Without a limit of its own the floor: 1.
static double reached_of(const struct rule *rule, const struct bench_row *row, double value) {
    double share = rule->has_limit ? bench_of_limit(row) : value;
    return share > 0 ? value / share : BENCH_UNKNOWN;
}

// What a row has of what the rule asks of it; 0: it asks nothing, or beside the row there was no such
// baseline.
static double value_of(const struct bench_machine *machine, const struct rule *rule,
                       const struct bench_group *group, const struct bench_row *row) {
    if (!row->is_equal || group->what.tower->form || group->what.purpose == BENCH_ONE_KERNEL ||
        !rule->is_meant(machine, group, row))
        return 0;
    return rule->value(row);
}

static void judge(const struct bench_results *results, const struct rule *rule, struct bench_target *target) {
    struct bench_account account = {.target = target, .at_most = rule->at_most};
    *target = (struct bench_target){.what = rule->what, .limit = rule->limit};
    snprintf(target->target, sizeof target->target, "%s", rule->target);
    snprintf(target->where, sizeof target->where, "%s", rule->missing);
    bench_account_begin(&account, results->group_count * BENCH_ROTATIONS);
    for (size_t i = 0; i < results->group_count; ++i) {
        const struct bench_group *group = &results->groups[i];
        for (uint32_t j = 0; j < group->row_count; ++j) {
            const struct bench_row *row = &group->rows[j];
            char where[sizeof target->where];
            double value = value_of(&results->machine, rule, group, row);
            if (value <= 0)
                continue;
            describe(group, row, where, sizeof where);
            if (rule->has_limit && row->passes > 1)
                add_range(rule, row, where, sizeof where);
            bench_account_add(&account, value, reached_of(rule, row, value), where);
        }
    }
    bench_account_end(&account);
}

bool bench_has_left(const struct bench_machine *machine, const struct bench_group *group) {
    if (group->what.purpose == BENCH_GROWTH) // it is held against another size, which would not go with it
        return false;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
        const struct rule *rule = &rules[i];
        struct bench_target target = {.limit = rule->limit};
        const struct bench_account account = {.target = &target, .at_most = rule->at_most};
        for (uint32_t j = 0; j < group->row_count && rule->has_limit; ++j) {
            const struct bench_row *row = &group->rows[j];
            double value = value_of(machine, rule, group, row);
            if (value > 0 && bench_account_is_left(&account, value, reached_of(rule, row, value)))
                return true;
        }
    }
    return false;
}

uint32_t bench_targets(const struct bench_results *results, struct bench_target *targets) {
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i)
        judge(results, &rules[i], &targets[count++]);
    count += bench_targets_once(results, targets + count);
    return count + bench_target_growth(results, targets + count);
}
