// SPDX-License-Identifier: MIT
//
// What `rope2d bench` says of made-up rows: a target that is missed is said to be, and every row is counted
// once, as one that meets it, that its own limit explains, or that has something to gain.
#include "check.h"

#include "../tools/cli/bench_cases.h"
#include "../tools/cli/bench_target.h"

#include <string.h>

static const struct bench_target *find(const struct bench_target *targets, uint32_t count, const char *what) {
    for (uint32_t i = 0; i < count; ++i)
        if (strstr(targets[i].what, what))
            return &targets[i];
    return NULL;
}

// A group of the CPU whose rotation in place takes `seconds`, and its scale one.
static struct bench_group make_group(uint64_t tokens, double seconds) {
    struct bench_group group = {.what = {.tower = &bench_towers[1], .tokens = tokens, .threads = 1},
                                .bytes = (uint64_t)1 << 30,
                                .is_software = true,
                                .past_caches = true,
                                .row_count = 1};
    struct bench_timing one = {.host = {1, 1, 1, 1}, .runs = 5};
    for (int i = 0; i < BENCH_MOVES * BENCH_BEST; ++i)
        group.moves[i / BENCH_BEST].variants[i % BENCH_BEST].timing = one;
    for (int i = 0; i < BENCH_BEST; ++i) {
        group.moves[BENCH_LIMIT_IN].variants[i].timing.host.median = 2;
        group.moves[BENCH_TURN_INTERLEAVED].variants[i].timing = (struct bench_timing){0};
        group.moves[BENCH_TURN_HALF].variants[i].timing = (struct bench_timing){0};
    }
    group.driver_copy.timing = one;
    group.rows[0] = (struct bench_row){
        .in_place = true, .dispatches = 1, .traffic = 1.001, .is_equal = true, .timing = one};
    group.rows[0].timing.host.median = seconds;
    return group;
}

// As if each round had these medians.
static void settle(struct bench_group *group) {
    for (uint32_t i = 0; i < group->row_count; ++i)
        for (int move = 0; move < BENCH_MOVES; ++move) {
            const struct bench_timing *of = &bench_baseline_of(group, (enum bench_move)move)->timing;
            struct bench_row *row = &group->rows[i];
            row->of[move] = of->runs > 0 ? of->host.median / row->timing.host.median : 0;
        }
}

static uint32_t judge(const struct bench_results *results, struct bench_target *targets) {
    for (size_t i = 0; i < results->group_count; ++i)
        settle(&results->groups[i]);
    return bench_targets(results, targets);
}

static void check_ratios(struct bench_group *groups, const struct bench_results *results) {
    struct bench_target targets[BENCH_MOST_TARGETS];
    uint32_t count = judge(results, targets);
    const struct bench_target *f32 = find(targets, count, "f32, in place, past the last cache, 1 thread");
    const struct bench_target *gpu = find(targets, count, "a real GPU");
    if (!CHECK(f32 && gpu, "the targets are there"))
        return;
    CHECK(f32->is_measured && f32->rows == 2 && !f32->is_met && f32->worst == 0.8,
          "a slow row misses: worst %g of %u rows", f32->worst, f32->rows);
    CHECK(f32->reached == 0.5, "and its limit, twice as slow as the scale, reaches %g", f32->reached);
    CHECK(!gpu->is_measured && *gpu->where, "without a GPU nothing is said of one, but why");
    groups[1].rows[0].is_equal = false;
    count = judge(results, targets);
    CHECK(f32->rows == 1 && f32->is_met, "a row without a number meets and misses nothing: %u rows",
          f32->rows);
    groups[1].rows[0].is_equal = true;
}

static void set_scale(struct bench_group *group, double seconds) {
    for (int i = 0; i < BENCH_BEST; ++i)
        group->moves[BENCH_SCALE].variants[i].timing.host.median = seconds;
}

static void set_limit(struct bench_group *group, double seconds) {
    for (int i = 0; i < BENCH_BEST; ++i)
        group->moves[BENCH_LIMIT_IN].variants[i].timing.host.median = seconds;
}

static bool counts(const struct bench_target *target, uint32_t met, uint32_t explained,
                   uint32_t unexplained) {
    bool is_right = target->rows == met + explained + unexplained && target->rows_met == met &&
                    target->rows_explained == explained && target->rows_unexplained == unexplained;
    for (uint32_t i = 0; i < unexplained; ++i)
        CHECK(*target->left[i].where && target->left[i].value > 0, "row %u of those left has its place", i);
    return CHECK(is_right, "%s: %u rows, %u meet it, %u explained, %u not; not %u, %u, %u", target->what,
                 target->rows, target->rows_met, target->rows_explained, target->rows_unexplained, met,
                 explained, unexplained);
}

// Where the limit takes a quarter more per token, a rotation may take 5 % more than that.
static void check_growth_explained(struct bench_group *groups, const struct bench_results *results) {
    struct bench_target targets[BENCH_MOST_TARGETS];
    uint32_t count = judge(results, targets);
    const struct bench_target *growth = find(targets, count, "growth");
    counts(growth, 1, 0, 0);
    groups[1].rows[0].timing.host.median = 1024 * 1.31;
    judge(results, targets);
    counts(growth, 0, 1, 0);
    groups[1].rows[0].timing.host.median = 1024 * 1.32;
    judge(results, targets);
    counts(growth, 0, 0, 1);
    set_limit(&groups[1], 1024 * 1.7);
    judge(results, targets);
    counts(growth, 0, 0, 1); // what the rotation itself passes by far is no limit
    CHECK(growth->unexplained.reached < 0, "nor is its growth told: %g", growth->unexplained.reached);
    set_limit(&groups[1], 1024 * 1.08);
    groups[1].rows[0].timing.host.median = 1024 * 1.11;
    judge(results, targets);
    counts(growth, 0, 0, 1); // a limit that is constant within the target explains nothing
    CHECK(growth->unexplained.value > 0.1 && growth->unexplained.reached < 0.1, "11 %% of 8 %%: %g of %g",
          growth->unexplained.value, growth->unexplained.reached);
    groups[1].rows[0].timing.host.median = 1024 * 1.05;
}

static void check_growth(struct bench_group *groups, const struct bench_results *results) {
    struct bench_target targets[BENCH_MOST_TARGETS];
    uint32_t count = judge(results, targets);
    const struct bench_target *growth = find(targets, count, "growth");
    if (!CHECK(growth, "the target of growth is there"))
        return;
    CHECK(growth->is_measured && !growth->is_met && growth->worst == 0.25, "of a scale that is the same: %g",
          growth->worst);
    groups[1].rows[0].timing.host.median = 1024 * 1.05;
    set_scale(&groups[1], 1024);
    set_limit(&groups[0], 1);
    set_limit(&groups[1], 1);
    judge(results, targets);
    CHECK(growth->is_met && growth->rows == 1, "5 %% more is constant: %g", growth->worst);
    CHECK(strstr(growth->where, "from 1024 tokens to 1048576; of time alone 0.05"), "between which sizes: %s",
          growth->where);
    CHECK(growth->reached == 0, "a limit that becomes faster does not grow by %g", growth->reached);
    set_limit(&groups[1], 1024 * 1.25);
    judge(results, targets);
    CHECK(growth->reached == 0.25, "and the limit's own, %g, stands beside it", growth->reached);
    check_growth_explained(groups, results);
    set_scale(&groups[1], 512);
    judge(results, targets);
    CHECK(growth->worst > 1.09 && growth->worst < 1.11,
          "a scale that took half as long would have it doubled: %g", growth->worst);
    set_scale(&groups[1], 1);
    set_limit(&groups[0], 2);
    set_limit(&groups[1], 2);
    groups[1].rows[0].table = ROPE2D_TABLE_TEXTURE;
    judge(results, targets);
    CHECK(!growth->is_measured, "another rotation is not compared");
    groups[1].rows[0].table = ROPE2D_TABLE_AUTO;
    groups[1].rows[0].is_equal = false;
    judge(results, targets);
    CHECK(!growth->is_measured, "nor is one whose result was wrong");
    groups[1].rows[0].is_equal = true;
}

// Who has a tensor in two pieces, or reads too much besides.
static void check_traffic(struct bench_group *groups, const struct bench_results *results) {
    struct bench_target targets[BENCH_MOST_TARGETS];
    uint32_t count = judge(results, targets);
    const struct bench_target *traffic = find(targets, count, "traffic");
    const struct bench_target *dispatches = find(targets, count, "dispatches");
    if (!CHECK(traffic && dispatches, "the targets of traffic are there"))
        return;
    CHECK(traffic->is_met && dispatches->is_met && dispatches->rows == 2, "one dispatch and little besides");
    CHECK(traffic->reached == 1 && dispatches->reached == 1, "their floor is 1: %g, %g", traffic->reached,
          dispatches->reached);
    groups[0].rows[0].dispatches = 2;
    groups[0].rows[0].traffic = 1.021;
    judge(results, targets);
    CHECK(!traffic->is_met && !dispatches->is_met, "two dispatches and 2.1 %% miss");
    groups[0].most_range = groups[0].bytes / 4;
    judge(results, targets);
    CHECK(dispatches->is_met && dispatches->rows == 1, "what no binding reaches needs two");
}

// Rows in place of one group of the CPU, with the scale at 1 and the limit at two seconds, so that the limit
// makes 0.5 of them.
static void check_rows(void) {
    static const struct {
        double seconds;
        bool in_place;
    } made[] = {
        {1.0, true},   // meets 0.95
        {1.05, true},  // and just so
        {1.06, true},  // misses, but is faster than its limit
        {2.0, true},   // as fast
        {2.1, true},   // nearly
        {2.12, true},  // not so
        {2.2, true},   // the slowest
        {3.0, false},  // of another target, whose limit takes one second
        {1.02, false}, // near that
    };
    struct bench_group group = make_group(4096, 1);
    struct bench_target targets[BENCH_MOST_TARGETS];
    struct bench_results results = {.machine = {.last_cache = 1 << 20}, .groups = &group, .group_count = 1};
    for (uint32_t i = 0; i < 8; ++i) {
        group.rows[i] = group.rows[0];
        group.rows[i].in_place = made[i].in_place;
        group.rows[i].pairing = i % 2 ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED;
        group.rows[i].timing.host.median = made[i].seconds;
    }
    group.row_count = 8;
    uint32_t count = judge(&results, targets);
    const struct bench_target *in = find(targets, count, "f32, in place, past the last cache, 1 thread");
    const struct bench_target *out = find(targets, count, "CPU, out of place");
    const struct bench_target *traffic = find(targets, count, "traffic");
    if (!CHECK(in && out && traffic, "the targets are there"))
        return;
    counts(in, 2, 3, 2);
    CHECK(in->worst == 1 / 2.2 && in->unexplained.value == in->worst && in->unexplained.reached == 0.5,
          "the row with most to gain reaches %g of %g", in->unexplained.value, in->unexplained.reached);
    CHECK(strcmp(in->where, in->unexplained.where) == 0, "both are one row, not %s", in->unexplained.where);
    counts(out, 0, 0, 1);
    CHECK(in->rows_beyond == 2 && out->rows_beyond == 0, "limits that miss 0.95: %u; memcpy's speed: %u",
          in->rows_beyond, out->rows_beyond);
    counts(traffic, 8, 0, 0);
    group.rows[7].timing.host.median = made[8].seconds;
    group.rows[6].traffic = 1.5;
    judge(&results, targets);
    counts(out, 0, 1, 0);
    counts(traffic, 7, 0, 1);
    CHECK(traffic->unexplained.value == 1.5 && !traffic->is_met, "no limit explains traffic: %g",
          traffic->unexplained.value);
}

// A turn of the tower's own shape is the limit of rows of its pairing and place, where there is one.
static void check_own_limits(void) {
    static const rope2d_pairing pairings[] = {ROPE2D_PAIRING_INTERLEAVED, ROPE2D_PAIRING_HALF};
    static const enum bench_move own[2][2] = {{BENCH_TURN_OUT_INTERLEAVED, BENCH_TURN_INTERLEAVED},
                                              {BENCH_TURN_OUT_HALF, BENCH_TURN_HALF}};
    struct bench_group group = make_group(2048, 4);
    struct bench_row *row = &group.rows[0];
    settle(&group);
    CHECK(bench_of_limit(row) == 0.5, "no turn of its shape: %g of the limit", bench_of_limit(row));
    for (int i = 0; i < 2; ++i)
        for (int in_place = 0; in_place < 2; ++in_place) {
            row->pairing = pairings[i];
            row->in_place = in_place == 1;
            group.moves[own[i][in_place]].variants[0].timing =
                (struct bench_timing){.host = {3, 3, 3, 3}, .runs = 5};
            settle(&group);
            CHECK(bench_limit_of(row) == own[i][in_place], "pairing %d, in place %d: move %d", i, in_place,
                  (int)bench_limit_of(row));
        }
    CHECK(bench_of_limit(row) == 0.75, "with one: %g of the limit", bench_of_limit(row));
    row->timing.host.median = 2.5;
    settle(&group);
    CHECK(bench_limit_of(row) == BENCH_LIMIT_IN, "faster than a turn: move %d", (int)bench_limit_of(row));
}

// The row that is farthest from the target need not be the one that is farthest from its limit.
static void check_most_to_gain(void) {
    struct bench_group groups[] = {make_group(2048, 2.2), make_group(4096, 1.8), make_group(8192, 1.1)};
    struct bench_results results = {.machine = {.last_cache = 1 << 20}, .groups = groups, .group_count = 3};
    struct bench_target targets[BENCH_MOST_TARGETS];
    for (int i = 0; i < BENCH_BEST; ++i) {
        groups[1].moves[BENCH_LIMIT_IN].variants[i].timing.host.median = 1.25;
        groups[2].moves[BENCH_LIMIT_IN].variants[i].timing = (struct bench_timing){0};
    }
    const struct bench_target *in =
        find(targets, judge(&results, targets), "f32, in place, past the last cache, 1 thread");
    if (!CHECK(in, "the target is there") || !counts(in, 0, 0, 3)) // no limit, no explanation
        return;
    CHECK(strstr(in->where, "2048 tokens") && strstr(in->unexplained.where, "4096 tokens"),
          "slowest: %s; most to gain: %s", in->where, in->unexplained.where);
    CHECK(in->rows_beyond == 2, "beyond is what has a limit: %u", in->rows_beyond);
    groups[2].rows[0].timing.host.median = 2;
    CHECK(in->unexplained.value == 1 / 1.8 && in->unexplained.reached == 1 / 1.25, "%g of %g",
          in->unexplained.value, in->unexplained.reached);
    judge(&results, targets);
    CHECK(in->unexplained.value == 0.5 && in->unexplained.reached == BENCH_UNKNOWN,
          "without a limit, half of what is wanted is farther than two thirds of a limit: %g of %g",
          in->unexplained.value, in->unexplained.reached);
}

static void check_targets(void) {
    struct bench_group groups[] = {make_group(1024, 1.0), make_group(1 << 20, 1.25)};
    struct bench_results results = {.machine = {.last_cache = 1 << 20}, .groups = groups, .group_count = 2};
    check_ratios(groups, &results);
    check_growth(groups, &results);
    check_traffic(groups, &results);
}

// A device that has it all, and one of which little is known.
static void check_once(void) {
    struct bench_overhead once[] = {
        {.backend = ROPE2D_BACKEND_VULKAN,
         .plan_cold = 0.02,
         .compile = 0.01,
         .bare_compile = 0.004,
         .plan_again = 0.002,
         .compile_again = 0.001,
         .warm = {{0.003, 0.001, 0.0005, 0.0002}, {0.0009, 0.001, 0.0005, 0.0007}},
         .record = 7e-7,
         .bare_record = 4e-7},
        {.backend = ROPE2D_BACKEND_OPENCL,
         .plan_cold = 0.003,
         .compile = -1,
         .compile_again = -1,
         .warm = {{0.002, 0.002, -1, 0.001}, {-1, -1, -1, -1}},
         .record = -1,
         .bare_record = -1},
    };
    struct bench_results results = {.overheads = once, .overhead_count = 2};
    struct bench_target targets[BENCH_MOST_TARGETS];
    uint32_t count = judge(&results, targets);
    const struct bench_target *record = find(targets, count, "record one rotation, seconds");
    const struct bench_target *warm = find(targets, count, "warm cache, f32");
    const struct bench_target *warm_f16 = find(targets, count, "warm cache, f16");
    const struct bench_target *cold = find(targets, count, "cold plan");
    if (!CHECK(record && warm && warm_f16 && cold, "the targets of what happens once are there"))
        return;
    counts(record, 1, 0, 0);
    counts(warm, 0, 0, 2); // one takes six times the driver's part, the other twice
    CHECK(warm->rows_beyond == 0, "the driver's part alone meets 1 ms in both: %u", warm->rows_beyond);
    CHECK(warm->unexplained.value == 0.003, "six times is farther: %g", warm->unexplained.value);
    CHECK(warm->middle == 0.0025, "the median of 2 and 3 ms: %g", warm->middle);
    CHECK(record->is_met && record->rows == 1 && record->reached == 4e-7, "a record beside bare commands: %g",
          record->reached);
    CHECK(!warm->is_met && warm->worst == 0.003 && warm->reached == 0.0005, "of 3 ms the driver takes %g",
          warm->reached);
    CHECK(warm_f16->is_met && warm_f16->rows == 1 && warm_f16->reached == 0.0007,
          "f16 passes where the driver takes %g", warm_f16->reached);
    CHECK(!cold->is_met && cold->worst == 0.01 && cold->rows == 2, "10 ms are our own: %g", cold->worst);
    CHECK(cold->reached == BENCH_UNKNOWN, "no copy kernel explains them: %g", cold->reached);
    counts(cold, 1, 0, 1);
    once[0].compile = 0.0155; // and now 4.5 ms
    once[0].warm[0].compile = 0.0029;
    once[0].bare_record = once[0].record = 1.1e-6;
    judge(&results, targets);
    counts(cold, 2, 0, 0);
    counts(warm, 0, 1, 1);
    counts(record, 0, 1, 0);
    once[0].warm[0].compile = 0.0021; // and 0.9 ms are our own
    judge(&results, targets);
    counts(warm, 0, 1, 1);
    once[0].warm[0].compile = 0.0019; // 1.1 ms
    judge(&results, targets);
    counts(warm, 0, 0, 2);
    once[0].bare_record = 0.9e-6; // meets the target
    once[0].record = 1.001e-6;
    judge(&results, targets);
    counts(record, 0, 0, 1);
}

int main(void) {
    check_targets();
    check_rows();
    check_most_to_gain();
    check_own_limits();
    check_once();
    return check_finish();
}
