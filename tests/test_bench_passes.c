// SPDX-License-Identifier: MIT
//
// Several passes of the bench as one: of made-up results each ratio is the passes' median, no row counts that
// was wrong in one, and a case that one pass had no time for counts with the others.
#include "check.h"

#include "../tools/cli/bench_cases.h"
#include "../tools/cli/bench_passes.h"
#include "../tools/cli/bench_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 3 };

static struct bench_timing timing_of(double seconds) {
    return (struct bench_timing){.host = {seconds, seconds, seconds, seconds}, .runs = seconds > 0 ? 5 : 0};
}

// In place, past the last cache, with one thread: of the scale's speed so much.
static struct bench_group make_group(uint64_t tokens, double of_scale) {
    struct bench_group group = {.what = {.tower = &bench_towers[1], .tokens = tokens, .threads = 1},
                                .device = "cpu:0",
                                .bytes = (uint64_t)1 << 30,
                                .is_software = true,
                                .past_caches = true,
                                .row_count = 1};
    group.rows[0] = (struct bench_row){.in_place = true,
                                       .dispatches = 1,
                                       .traffic = 1.001,
                                       .is_equal = true,
                                       .timing = timing_of(1 / of_scale)};
    group.rows[0].of[BENCH_SCALE] = of_scale;
    group.rows[0].of[BENCH_LIMIT_IN] = of_scale + 0.05;
    group.moves[BENCH_SCALE].variants[0].timing = timing_of(2 + of_scale);
    return group;
}

static void add(struct bench_results *pass, const struct bench_group *group) {
    struct bench_group *groups = realloc(pass->groups, (pass->group_count + 1) * sizeof *groups);
    if (!CHECK(groups != NULL, "memory for a group"))
        exit(check_finish());
    pass->groups = groups;
    groups[pass->group_count++] = *group;
}

static const struct bench_group *find(const struct bench_results *results, uint64_t tokens) {
    for (size_t i = 0; i < results->group_count; ++i)
        if (results->groups[i].what.tokens == tokens)
            return &results->groups[i];
    return NULL;
}

// So much of the scale in each pass; 0: the pass had no time for it.
static void add_case(struct bench_results *passes, uint64_t tokens, const double *of_scale) {
    for (int i = 0; i < PASSES; ++i) {
        struct bench_group group = make_group(tokens, of_scale[i]);
        if (of_scale[i] > 0)
            add(&passes[i], &group);
        else
            ++passes[i].left_out;
    }
}

static const double of_all[PASSES] = {0.97, 0.80, 0.90}, of_two[PASSES] = {0, 0.7, 0.9},
                    of_none[PASSES] = {0}, of_last[PASSES] = {0, 0, 0.6};

static void check_ratios(void) {
    struct bench_results passes[PASSES] = {0}, joined = {0};
    add_case(passes, 1024, of_all);
    add_case(passes, 4096, of_two);
    add_case(passes, 16384, of_none);
    add_case(passes, 65536, of_last);
    passes[1].refused = 2;
    CHECK(bench_passes_join(passes, PASSES, &joined) == 0, "three passes are one");
    CHECK(joined.group_count == 3 && joined.left_out == 1,
          "what some pass has is there: %zu cases, %u left out", joined.group_count, joined.left_out);
    CHECK(joined.refused == 2, "what was refused in a pass is told: %u", joined.refused);
    CHECK(passes[0].group_count == 1 && passes[0].groups[0].rows[0].of[BENCH_SCALE] == of_all[0],
          "the passes keep theirs");
    const struct bench_group *all = find(&joined, 1024), *two = find(&joined, 4096),
                             *last = find(&joined, 65536);
    if (!CHECK(all && two && last, "each case once"))
        return;
    const struct bench_row *row = &all->rows[0];
    CHECK(row->of[BENCH_SCALE] == 0.90 && row->of[BENCH_LIMIT_IN] == 0.90 + 0.05, "ratios are medians: %g",
          row->of[BENCH_SCALE]);
    CHECK(row->passes == 3 && row->least[BENCH_SCALE] == 0.80 && row->most[BENCH_SCALE] == 0.97,
          "%u passes, from %g to %g", row->passes, row->least[BENCH_SCALE], row->most[BENCH_SCALE]);
    CHECK(row->timing.host.median == 1 / 0.90, "the time is the middle pass's: %g", row->timing.host.median);
    CHECK(bench_baseline_of(all, BENCH_SCALE)->timing.host.median == 2 + 0.90, "and so is the scale's");
    CHECK(row->of[BENCH_COPY] <= 0 && !all->moves[BENCH_COPY].variants[0].timing.runs,
          "nothing comes of nothing");
    CHECK(two->rows[0].passes == 2 && two->rows[0].of[BENCH_SCALE] == (0.7 + 0.9) / 2,
          "of two their mean: %g", two->rows[0].of[BENCH_SCALE]);
    CHECK(two->rows[0].timing.host.median == 1 / 0.9, "and the faster one's time: %g",
          two->rows[0].timing.host.median);
    CHECK(last->rows[0].passes == 1 && last->rows[0].of[BENCH_SCALE] == 0.6, "of one its own");
    free(joined.groups);
    bench_passes_free(passes, sizeof passes / sizeof *passes);
}

// What misses in one pass and not in the others meets its target, and the other way about.
static void check_target(void) {
    static const double once_slow[PASSES] = {0.96, 0.5, 0.97}, once_fast[PASSES] = {0.5, 0.97, 0.6};
    struct bench_results passes[PASSES] = {0}, joined = {0};
    struct bench_target targets[BENCH_MOST_TARGETS];
    add_case(passes, 4096, once_slow);
    add_case(passes, 8192, once_fast);
    CHECK(bench_passes_join(passes, PASSES, &joined) == 0, "three passes are one");
    uint32_t count = bench_targets(&joined, targets);
    CHECK(count > 0 && targets[0].rows == 2 && targets[0].rows_met == 1, "%s: %u of %u rows", targets[0].what,
          targets[0].rows_met, targets[0].rows);
    CHECK(strstr(targets[0].where, "8192 tokens") && strstr(targets[0].where, "; 0.50 to 0.97 in 3 passes"),
          "the worst row says how far its passes are apart: %s", targets[0].where);
    free(joined.groups);
    bench_passes_free(passes, sizeof passes / sizeof *passes);
}

// Of a row that misses: its limit's speed decides, and only what a target asks for.
static void check_left(void) {
    static const struct {
        double of_scale, of_limit;
        bool is_equal, is_kernel, is_left;
    } cases[] = {{0.90, 0.94, true, false, true}, {0.90, 0.96, true, false, false},
                 {0.96, 0.5, true, false, false}, {0.90, 0.94, false, false, false},
                 {0.90, 0.94, true, true, false}, {0, 0.94, true, false, false},
                 {0.90, 0, true, false, true}};
    const struct bench_machine machine = {.last_cache = 1 << 20}, large = {.last_cache = (uint64_t)1 << 40};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct bench_group group = make_group(1024, 0.9);
        group.rows[0].of[BENCH_SCALE] = cases[i].of_scale;
        group.rows[0].of[BENCH_LIMIT_IN] = cases[i].of_limit;
        group.rows[0].is_equal = cases[i].is_equal;
        group.what.purpose = cases[i].is_kernel ? BENCH_ONE_KERNEL : BENCH_ASKED;
        CHECK(bench_has_left(&machine, &group) == cases[i].is_left, "case %zu is left", i);
        CHECK(!bench_has_left(&large, &group), "case %zu within the last cache is in no target", i);
        group.what.purpose = BENCH_GROWTH;
        CHECK(!bench_has_left(&machine, &group), "case %zu, which growth has, does not go alone", i);
        group.what.purpose = cases[i].is_kernel ? BENCH_ONE_KERNEL : BENCH_ASKED;
        group.rows[1] = group.rows[0];
        group.rows[0].of[BENCH_SCALE] = 1;
        group.row_count = 2;
        CHECK(bench_has_left(&machine, &group) == cases[i].is_left, "case %zu, its second row", i);
    }
}

static void check_wrong(void) {
    struct bench_results passes[PASSES] = {0}, joined = {0};
    add_case(passes, 1024, of_all);
    passes[1].groups[0].rows[0].is_equal = false;
    snprintf(passes[1].groups[0].rows[0].why, sizeof passes[1].groups[0].rows[0].why, "3 elements differ");
    CHECK(bench_passes_join(passes, PASSES, &joined) == 0, "three passes are one");
    const struct bench_row *row = &joined.groups[0].rows[0];
    CHECK(!row->is_equal && strcmp(row->why, "3 elements differ") == 0, "wrong once is wrong: %s", row->why);
    free(joined.groups);
    bench_passes_free(passes, sizeof passes / sizeof *passes);
}

// The same tokens on another device, with other threads, of another type, in a cache, are other cases.
static void check_cases(void) {
    struct bench_results passes[2] = {0}, joined = {0};
    struct bench_group group = make_group(64, 0.9);
    add(&passes[0], &group);
    for (int i = 0; i < 6; ++i) {
        group = make_group(64, 0.9);
        if (i == 0)
            snprintf(group.device, sizeof group.device, "cpu:1");
        group.what.threads = i == 1 ? 2 : 1;
        group.what.element = i == 2 ? ROPE2D_BF16 : ROPE2D_F32;
        group.what.in_cache = i == 3;
        group.what.purpose = i == 4 ? BENCH_ONE_KERNEL : BENCH_ASKED;
        group.what.tower = &bench_towers[i == 5 ? 0 : 1];
        add(&passes[1], &group);
    }
    CHECK(bench_passes_join(passes, 2, &joined) == 0 && joined.group_count == 7, "seven cases: %zu",
          joined.group_count);
    free(joined.groups);
    bench_passes_free(passes, sizeof passes / sizeof *passes);
}

// What a later pass was the first to have stands with its device's.
static void check_order(void) {
    static const char *const devices[] = {"cpu:0", "cpu:0", "vulkan:0", "cpu:0", "cpu:0"};
    static const uint64_t tokens[] = {64, 256, 64, 64, 1024};
    static const uint32_t threads[] = {1, 1, 0, 2, 1}; // the last is the second pass's
    static const int expected[] = {0, 1, 4, 2, 3};
    struct bench_results passes[2] = {0}, joined = {0};
    for (int i = 0; i < 5; ++i) {
        struct bench_group group = make_group(tokens[i], 0.9);
        snprintf(group.device, sizeof group.device, "%s", devices[i]);
        group.what.threads = threads[i];
        add(&passes[i / 4], &group);
    }
    CHECK(bench_passes_join(passes, 2, &joined) == 0 && joined.group_count == 5, "five cases: %zu",
          joined.group_count);
    for (size_t i = 0; i < joined.group_count; ++i) {
        const struct bench_group *group = &joined.groups[i];
        int from = expected[i];
        CHECK(strcmp(group->device, devices[from]) == 0 && group->what.tokens == tokens[from] &&
                  group->what.threads == threads[from],
              "place %zu: %s, %u threads", i, group->device, group->what.threads);
    }
    free(joined.groups);
    bench_passes_free(passes, sizeof passes / sizeof *passes);
}

int main(void) {
    check_ratios();
    check_target();
    check_left();
    check_wrong();
    check_cases();
    check_order();
    return check_finish();
}
