// SPDX-License-Identifier: MIT
//
// The parts of `rope2d bench` that keep it honest: a device that rotates wrongly gets no number, medians are
// medians, and a target that is missed is said to be.
#include "check.h"

#include "../tools/cli/bench_cases.h"
#include "../tools/cli/bench_run.h"
#include "../tools/cli/bench_target.h"
#include "../tools/cli/bench_time.h"

#include <stdlib.h>
#include <string.h>

// What a device does wrong.
enum fault { NOTHING_WRONG, ONE_BIT, ONE_MISSING, NOT_AT_ALL, TWICE, FAULTS };
static const char *const fault_names[] = {"nothing", "one bit", "an element missing", "not rotated",
                                          "rotated twice"};

// A device in host memory, which rotates by the portable path.
struct fake {
    unsigned char *buffers[BENCH_BUFFERS];
    enum fault fault;
};

static int write_buffer(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset,
                        uint64_t bytes, const void *data) {
    struct fake *fake = engine->impl;
    (void)set;
    memcpy(fake->buffers[buffer] + offset, data, (size_t)bytes);
    return 0;
}

static int read_buffer(struct bench_engine *engine, uint32_t set, int buffer, uint64_t offset, uint64_t bytes,
                       void *data) {
    struct fake *fake = engine->impl;
    (void)set;
    memcpy(data, fake->buffers[buffer] + offset, (size_t)bytes);
    return 0;
}

static rope2d_status apply(struct bench_engine *engine, const struct bench_rotation *rotation) {
    const struct fake *fake = engine->impl;
    const struct bench_case *what = rotation->what;
    rope2d_tensor tensors[BENCH_TENSORS] = {{0}};
    for (uint32_t i = 0; i < BENCH_TENSORS; ++i) {
        uint64_t begin = i * engine->bytes / BENCH_TENSORS;
        tensors[i].heads = what->tower->heads;
        tensors[i].in =
            rope2d_view_contiguous(fake->buffers[BENCH_IN] + begin, what->element, ROPE2D_LAYOUT_BNHD, 1,
                                   what->tokens, what->tower->heads, what->tower->head_dim);
        tensors[i].out = tensors[i].in;
        if (!rotation->in_place)
            tensors[i].out.base = fake->buffers[BENCH_OUT] + begin;
    }
    rope2d_apply_params params = {
        .struct_size = sizeof params,
        .batch = 1,
        .tokens = what->tokens,
        .tensor_count = BENCH_TENSORS,
        .tensors = tensors,
    };
    return rope2d_apply(rotation->plan, rotation->positions, &params);
}

static int rotate(struct bench_engine *engine, const struct bench_rotation *rotation, uint32_t set,
                  struct bench_sample *sample) {
    const struct fake *fake = engine->impl;
    unsigned char *out = fake->buffers[rotation->in_place ? BENCH_IN : BENCH_OUT];
    unsigned char before[4];
    uint32_t size = rope2d_element_size(rotation->what->element);
    // The last head's first channel, which turns by a whole radian in row 1.
    unsigned char *one = out + engine->bytes - (size_t)rotation->what->tower->head_dim * size;
    (void)set;
    *sample = (struct bench_sample){.host = 1};
    memcpy(before, one, size);
    rope2d_status status = fake->fault == NOT_AT_ALL ? ROPE2D_OK : apply(engine, rotation);
    if (!status && fake->fault == TWICE)
        status = apply(engine, rotation);
    if (fake->fault == ONE_BIT)
        out[engine->bytes / 2 + 2 * size] ^= 1; // of k
    if (fake->fault == ONE_MISSING)
        memcpy(one, before, size);
    return status != ROPE2D_OK;
}

static const struct bench_engine_ops fake_ops = {
    .write = write_buffer, .read = read_buffer, .rotate = rotate};

static void check_fault(struct bench_run *run, const struct bench_rotation *rotation, enum fault fault) {
    static const struct bench_timing one = {.host = {1, 1, 1, 1}, .runs = 5};
    struct fake *fake = run->engine.impl;
    struct bench_row row = {.exactness = ROPE2D_EXACT};
    // Out of place a second run writes what the first wrote.
    bool is_right = fault == NOTHING_WRONG || (fault == TWICE && !rotation->in_place);
    const char *where = rotation->in_place ? "in place" : "out of place";
    fake->fault = fault;
    CHECK(bench_check(run, rotation, 0, &row) == 0, "%s, %s: cannot be checked", fault_names[fault], where);
    bench_accept(&row, &one);
    CHECK(row.is_equal == is_right, "%s, %s: equal is %d", fault_names[fault], where, row.is_equal);
    CHECK((row.timing.runs != 0) == is_right, "%s, %s: a number of %u runs", fault_names[fault], where,
          row.timing.runs);
    CHECK(is_right == (*row.why == '\0'), "%s, %s: says '%s'", fault_names[fault], where, row.why);
    if (fault == ONE_BIT)
        CHECK(strncmp(row.why, "1 elements differ", 17) == 0, "one bit, %s: says '%s'", where, row.why);
}

static void check_faults(rope2d_device *portable, rope2d_element element, bool in_place) {
    struct bench_case what = {.tower = &bench_towers[0], .tokens = 3, .element = element};
    struct fake fake = {{NULL}, NOTHING_WRONG};
    struct bench_run run = {
        .portable = portable,
        .engine = {.ops = &fake_ops, .bytes = bench_bytes(&what), .sets = 1, .impl = &fake}};
    struct bench_spec spec;
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    bench_spec_fill(what.tower, ROPE2D_PAIRING_HALF, &spec);
    rope2d_plan_params params = {
        .struct_size = sizeof params, .spec = &spec.spec, .in = element, .out = element};
    for (int i = 0; i < BENCH_BUFFERS; ++i)
        fake.buffers[i] = malloc((size_t)run.engine.bytes);
    bool made =
        fake.buffers[0] && fake.buffers[1] && rope2d_plan_create(portable, &params, &plan) == ROPE2D_OK &&
        bench_positions_create(portable, &what, ROPE2D_PAIRING_HALF, ROPE2D_TABLE_BUFFER, &positions) ==
            ROPE2D_OK;
    struct bench_rotation rotation = {.what = &what,
                                      .in_place = in_place,
                                      .pairing = ROPE2D_PAIRING_HALF,
                                      .plan = plan,
                                      .positions = positions};
    if (CHECK(made, "plan and positions are made"))
        for (int fault = 0; fault < FAULTS; ++fault)
            check_fault(&run, &rotation, (enum fault)fault);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    free(fake.buffers[0]);
    free(fake.buffers[1]);
}

static void check_times(void) {
    double seconds[] = {5, 1, 4, 2, 3}, room[3];
    struct bench_spread spread = bench_spread_of(seconds, 5);
    CHECK(spread.median == 3 && spread.low == 2 && spread.high == 4 && spread.least == 1,
          "of 1 to 5: median %g, quartiles %g and %g, least %g", spread.median, spread.low, spread.high,
          spread.least);
    double even[] = {4, 1, 3, 2};
    CHECK(bench_spread_of(even, 4).median == 2.5, "of 1 to 4 the median is between");
    struct bench_sample ticking[] = {{1, 10}, {3, 30}, {2, 20}}, stopped[] = {{1, 10}, {0, 30}, {2, 20}};
    struct bench_timing timing = bench_timing_of(ticking, 3, room);
    CHECK(timing.has_device && bench_counted(&timing)->median == 2 && timing.host.median == 20,
          "the device's clock counts");
    timing = bench_timing_of(stopped, 3, room);
    CHECK(!timing.has_device && bench_counted(&timing)->median == 20, "a clock that stood still does not");
}

// Random numbers that could hide a rotation: zeros, and what is no normal number.
static void check_content(void) {
    enum { COUNT = 4096 };
    static uint32_t wide[COUNT];
    static uint16_t narrow[COUNT], again[COUNT];
    unsigned odd = 0;
    bench_fill(wide, ROPE2D_F32, 1000, COUNT);
    for (int i = 0; i < COUNT; ++i)
        odd += (wide[i] >> 23 & 255) < 120 || (wide[i] >> 23 & 255) > 127;
    CHECK(odd == 0, "f32: %u numbers are not of the eight binades", odd);
    bench_fill(narrow, ROPE2D_F16, 1000, COUNT);
    for (int i = 0; i < COUNT; ++i)
        odd += (narrow[i] >> 10 & 31) < 8 || (narrow[i] >> 10 & 31) > 15;
    CHECK(odd == 0, "f16: %u numbers are not of the eight binades", odd);
    bench_fill(again, ROPE2D_F16, 1001, COUNT);
    CHECK(memcmp(again, narrow + 1, (COUNT - 1) * sizeof *again) == 0, "a part by itself is the same");
}

static const struct bench_target *find(const struct bench_target *targets, uint32_t count, const char *what) {
    for (uint32_t i = 0; i < count; ++i)
        if (strstr(targets[i].what, what))
            return &targets[i];
    return NULL;
}

// A group of the CPU whose rotation in place takes `seconds`, and its scale one.
static struct bench_group make_group(uint64_t tokens, double seconds) {
    struct bench_group group = {.what = {&bench_towers[1], tokens, ROPE2D_F32, 1, false},
                                .bytes = (uint64_t)1 << 30,
                                .is_software = true,
                                .past_caches = true,
                                .row_count = 1};
    struct bench_timing one = {.host = {1, 1, 1, 1}, .runs = 5};
    for (int i = 0; i < BENCH_BEST; ++i)
        group.copies[i].timing = group.scales[i].timing = one;
    group.driver_copy.timing = one;
    group.rows[0] = (struct bench_row){
        .in_place = true, .dispatches = 1, .traffic = 1.001, .is_equal = true, .timing = one};
    group.rows[0].timing.host.median = seconds;
    return group;
}

static void check_targets(void) {
    struct bench_group groups[] = {make_group(1024, 1.0), make_group(1 << 20, 1.25)};
    struct bench_results results = {.machine = {.last_cache = 1 << 20}, .groups = groups, .group_count = 2};
    struct bench_target targets[BENCH_MOST_TARGETS];
    uint32_t count = bench_targets(&results, targets);
    const struct bench_target *f32 = find(targets, count, "f32, in place, past the last cache, 1 thread");
    const struct bench_target *gpu = find(targets, count, "a real GPU");
    const struct bench_target *growth = find(targets, count, "growth");
    if (!CHECK(f32 && gpu && growth, "the targets are there"))
        return;
    CHECK(f32->is_measured && f32->rows == 2 && !f32->is_met && f32->worst == 0.8,
          "a slow row misses: worst %g of %u rows", f32->worst, f32->rows);
    CHECK(!gpu->is_measured, "without a GPU nothing is said of one");
    CHECK(growth->is_measured && !growth->is_met && growth->worst > 100, "time per token fell %g times",
          growth->worst);
    groups[1].rows[0].is_equal = false;
    bench_targets(&results, targets);
    CHECK(f32->rows == 1 && f32->is_met, "a row without a number meets and misses nothing: %u rows",
          f32->rows);
}

int main(void) {
    rope2d_device *portable = NULL;
    rope2d_device_params params = {.struct_size = sizeof params, .flags = ROPE2D_DEVICE_PORTABLE};
    if (CHECK(rope2d_device_create(&params, &portable) == ROPE2D_OK, "the portable path opens"))
        for (int element = 0; element < ROPE2D_ELEMENT_COUNT; ++element)
            for (int in_place = 0; in_place < 2; ++in_place)
                check_faults(portable, (rope2d_element)element, in_place);
    rope2d_device_destroy(portable);
    check_times();
    check_content();
    check_targets();
    return check_finish();
}
