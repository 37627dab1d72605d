// SPDX-License-Identifier: MIT
//
// The parts of `rope2d bench` that keep it honest: a device that rotates wrongly gets no number, a baseline
// that leaves something out is none, and medians are medians.
#include "check.h"

#include "../tools/cli/bench_arithmetic.h"
#include "../tools/cli/bench_cases.h"
#include "../tools/cli/bench_kinds.h"
#include "../tools/cli/bench_limits.h"
#include "../tools/cli/bench_run.h"
#include "../tools/cli/bench_time.h"
#include "../tools/cli/bench_turn_grid.h"

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

// By the formula, of f32 as numbers of any type are widened to it.
static void turn_pair(rope2d_element element, const float entry[2], unsigned char *lo, unsigned char *hi) {
    const size_t size = rope2d_element_size(element);
    uint32_t a = 0, b = 0;
    memcpy(&a, lo, size);
    memcpy(&b, hi, size);
    float x = bench_widened(element, a), y = bench_widened(element, b);
    float cx = entry[0] * x, sy = entry[1] * y, sx = entry[1] * x, cy = entry[0] * y;
    a = bench_narrowed(element, cx - sy);
    b = bench_narrowed(element, sx + cy);
    memcpy(lo, &a, size);
    memcpy(hi, &b, size);
}

static void turn_heads(const struct bench_case *what, bool is_half, unsigned char *values, uint64_t heads) {
    const struct bench_tower *tower = what->tower;
    const uint32_t pairs = tower->head_dim / 2, first = tower->axis_pairs[0];
    const size_t size = rope2d_element_size(what->element), stride = tower->head_dim;
    float *table = calloc((size_t)bench_columns_of(what->tokens) * stride, sizeof *table);
    uint32_t *rows = calloc((size_t)what->tokens * tower->axes, sizeof *rows);
    bool made = CHECK(table && rows, "memory");
    if (made)
        bench_turn_table(what, stride, table);
    if (made)
        bench_turn_rows(what, rows);
    for (uint64_t head = 0; made && head < heads; ++head, values += tower->head_dim * size)
        for (uint32_t pair = 0; pair < pairs; ++pair) {
            const uint32_t *row = rows + head / tower->heads % what->tokens * tower->axes;
            const size_t lo = is_half ? pair : 2 * (size_t)pair, hi = is_half ? lo + pairs : lo + 1;
            turn_pair(what->element, table + row[pair >= first] * stride + 2 * (size_t)pair,
                      values + lo * size, values + hi * size);
        }
    free(table);
    free(rows);
}

// Copies, negates or turns, but for what the fault leaves out.
static int move_bytes(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                      struct bench_sample *sample) {
    const struct fake *fake = engine->impl;
    unsigned char *in = fake->buffers[BENCH_IN];
    unsigned char *out = bench_is_in_place(move) ? in : fake->buffers[BENCH_OUT];
    bool is_wide = move == BENCH_SCALE || engine->what->element == ROPE2D_F32;
    uint64_t step = is_wide ? 4 : 2, end = engine->bytes - (fake->fault == ONE_MISSING ? step : 0);
    (void)variant;
    (void)set;
    *sample = (struct bench_sample){.host = 1};
    if (fake->fault == NOT_AT_ALL)
        return 0;
    if (bench_is_turn(move)) {
        const size_t head = engine->what->tower->head_dim * rope2d_element_size(engine->what->element);
        memmove(out, in, (size_t)engine->bytes);
        turn_heads(engine->what, bench_turn_pairing(move) == ROPE2D_PAIRING_HALF, out,
                   engine->bytes / head - (fake->fault == ONE_MISSING));
    }
    for (uint64_t i = 0; i < end && !bench_is_turn(move); ++i)
        out[i] = (unsigned char)(in[i] ^ (move >= BENCH_SCALE && i % step == step - 1 ? 0x80 : 0));
    if (fake->fault == ONE_BIT)
        out[engine->bytes - 3] ^= 1;
    return 0;
}

static const struct bench_engine_ops fake_ops = {
    .write = write_buffer, .read = read_buffer, .rotate = rotate, .move = move_bytes};

// A baseline that leaves something out is not believed.
static void check_moves(rope2d_element element, uint64_t tokens) {
    struct bench_case what = {.tower = &bench_towers[0], .tokens = tokens, .element = element};
    struct fake fake = {{NULL}, NOTHING_WRONG};
    struct bench_engine engine = {
        .ops = &fake_ops, .what = &what, .bytes = bench_bytes(&what), .sets = 1, .impl = &fake};
    for (int i = 0; i < BENCH_BUFFERS; ++i)
        fake.buffers[i] = calloc(1, (size_t)engine.bytes);
    bool made = CHECK(fake.buffers[0] && fake.buffers[1], "memory");
    for (int move = 0; made && move < BENCH_MOVES; ++move)
        for (int fault = NOTHING_WRONG; fault <= NOT_AT_ALL; ++fault) {
            char why[160] = "";
            fake.fault = (enum fault)fault;
            int result = bench_check_move(&engine, (enum bench_move)move, 0, 0, why, sizeof why);
            CHECK(result == 0 && (*why == '\0') == (fault == NOTHING_WRONG),
                  "move %d of %u tokens, %s: says '%s'", move, (unsigned)tokens, fault_names[fault], why);
        }
    free(fake.buffers[0]);
    free(fake.buffers[1]);
}

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

// Each limit's loop makes of its numbers the sum of their products with the factor or the table and with the
// other factor, and of nothing more.
static void check_limit(const struct bench_limit_loop *loop, bool in_place, bool has_table, float factor,
                        float other) {
    enum { BYTES = 64 * 38, FLOATS = 1024 };
    _Alignas(64) static unsigned char from[BYTES], to[BYTES + 64], table_bytes[(FLOATS + 256) * 4];
    float *table = (float *)(void *)table_bytes;
    uint64_t count = BYTES / rope2d_element_size(loop->element);
    unsigned step = BYTES / (unsigned)count, wrong = 0;
    for (int i = 0; i < FLOATS + 256; ++i)
        table[i] = factor;
    bench_fill(from, loop->element, 7, count);
    memset(to, 0x5a, sizeof to);
    if (in_place)
        memcpy(to, from, BYTES);
    struct bench_limit_part part = {.to = to,
                                    .from = in_place ? NULL : from,
                                    .bytes = has_table ? BYTES / 2 : BYTES,
                                    .factor = has_table ? 0 : factor,
                                    .other = other,
                                    .table = has_table ? table : NULL,
                                    .at = FLOATS - 64,
                                    .mask = FLOATS - 1,
                                    .channel_bits = factor < 0 ? 8 : 0,
                                    .column_bits = 2,
                                    .second = BYTES / 2};
    loop->run[in_place][has_table](&part);
    for (unsigned i = 0; i < BYTES; ++i)
        wrong += to[i] != (from[i] ^ (factor + other < 0 && i % step == step - 1 ? 0x80 : 0));
    for (unsigned i = BYTES; i < sizeof to; ++i)
        wrong += to[i] != 0x5a;
    CHECK(wrong == 0, "%s, %s, %s, %s: %u bytes are wrong", loop->name, bench_element_names[loop->element],
          in_place ? "in place" : "out of place", has_table ? "table" : "factor", wrong);
}

static void check_limits(rope2d_element element, bool in_place) {
    const struct bench_limit_loop *loops[BENCH_CANDIDATES];
    uint32_t count = bench_limit_loops(element, in_place, loops);
    CHECK(count >= BENCH_BEST, "%s: only %u limits to choose from", bench_element_names[element], count);
    for (uint32_t i = 0; i < count; ++i)
        for (int way = 0; way < 4; ++way)
            check_limit(loops[i], in_place, way % 2 == 1, way < 2 ? -2.0f : 2.0f, way < 2 ? 1.0f : -1.0f);
}

// A grid of 4 columns and heads of 256 channels: the first half of a token's factors is its column's row, the
// second its line's. Otherwise they go on, and begin again.
static void check_factors(void) {
    static const struct {
        uint64_t number, in_grid, in_a_line;
    } places[] = {{0, 0, 0},
                  {130, 4 * 128 + 2, 130},
                  {256, 128, 256},
                  {400, 528, 400},
                  {4 * 256 + 5, 5, 5},
                  {4 * 256 + 200, 5 * 128 + 72, 200},
                  {17 * 256, 128, 256},
                  {16 * 256 + 128, 4 * 128, 128}};
    static float table[1024];
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        struct bench_limit_part part = {.table = table, .at = places[i].number / 2, .mask = 1023};
        uint64_t place = places[i].number - part.at;
        CHECK(bench_limit_factors(&part, place) == table + places[i].in_a_line, "number %u, no grid",
              (unsigned)places[i].number);
        part.channel_bits = 8;
        part.column_bits = 2;
        CHECK(bench_limit_factors(&part, place) == table + places[i].in_grid, "number %u, a grid",
              (unsigned)places[i].number);
    }
}

static void check_tables(void) {
    struct bench_case one = {.tower = &bench_towers[BENCH_SMALLEST_TOWER], .tokens = 1024};
    struct bench_case many = {.tower = &bench_towers[0], .tokens = 1024};
    CHECK(bench_table_floats(&one) == 32 * 256, "one head reads 32 rows of 128 pairs, not %u numbers",
          (unsigned)bench_table_floats(&one));
    CHECK(bench_table_floats(&many) == 0, "heads that share what they read need no table");
    for (int i = 0; bench_tower_names[i]; ++i)
        CHECK((uint64_t)bench_towers[i].heads * bench_towers[i].head_dim >= 256,
              "%s is smaller than the smallest", bench_tower_names[i]);
}

static int make_nothing(struct bench_engine *engine) {
    (void)engine;
    return 0;
}

// How many buffers of 1 MiB take turns, and whether they exceed the caches.
static void check_sets(void) {
    static const struct bench_engine_ops ops = {
        .most_sets = 4096, .memory_create = make_nothing, .fill = make_nothing};
    static const struct {
        rope2d_backend backend;
        bool is_software, is_quick;
        uint32_t processors, cache, sets; // MiB
        bool past_caches;
    } machines[] = {
        {ROPE2D_BACKEND_CPU, true, false, 1, 480, 1921, true},
        {ROPE2D_BACKEND_CPU, true, false, 2, 480, 1921, true}, // has one
        {ROPE2D_BACKEND_CPU, true, true, 1, 480, 257, false},
        {ROPE2D_BACKEND_CPU, true, true, 1, 64, 257, true},
        {ROPE2D_BACKEND_CPU, true, true, 1, 32, 129, true},
        {ROPE2D_BACKEND_CPU, true, false, 2, 32, 1025, true}, // the least of a CPU
        {ROPE2D_BACKEND_CPU, true, false, 64, 32, 1025, true},
        {ROPE2D_BACKEND_VULKAN, true, false, 2, 32, 129, true},
        {ROPE2D_BACKEND_VULKAN, true, false, 1, 480, 961, true},
        {ROPE2D_BACKEND_OPENCL, true, true, 1, 480, 257, false},
        {ROPE2D_BACKEND_VULKAN, false, true, 1, 480, 256, true},
        {ROPE2D_BACKEND_CPU, true, false, 1, 2048, 4096, false},
    };
    struct bench_case what = {.tower = &bench_towers[BENCH_SMALLEST_TOWER], .tokens = 512};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; ++i)
        for (int in_cache = 0; in_cache < 2; ++in_cache) {
            uint64_t memory = (uint64_t)1 << 40;
            struct bench_machine machine = {.processors = machines[i].processors,
                                            .last_cache = (uint64_t)machines[i].cache << 20,
                                            .free_memory = memory};
            struct bench_run run = {.engine = {.ops = &ops,
                                               .machine = &machine,
                                               .is_quick = machines[i].is_quick,
                                               .info = {.backend = machines[i].backend,
                                                        .is_software = machines[i].is_software,
                                                        .memory_bytes = memory}}};
            struct bench_group group;
            what.in_cache = in_cache == 1;
            bool made = bench_memory_create(&run, &what, &group) == 0;
            uint32_t sets = in_cache ? 1 : machines[i].sets;
            CHECK(made && group.bytes == 1 << 20 && group.sets == sets, "machine %zu: %u pairs for %u", i,
                  group.sets, sets);
            CHECK(group.past_caches == (machines[i].past_caches && !in_cache),
                  "machine %zu: past the caches or not", i);
        }
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
    // Of a machine that is ten times slower in one round, and of another way in that round alone.
    struct bench_sample copy[] = {{1, 10}, {10, 100}, {1, 10}}, turn[] = {{2, 40}, {20, 400}, {20, 400}};
    CHECK(bench_ratio_of(copy, turn, 3, room) == 0.5, "a ratio is of the rounds' own");
    struct bench_sample scale[] = {{1, 10}, {1, 100}, {1, 40}}, silent[] = {{1, 20}, {0, 200}, {1, 20}};
    CHECK(bench_ratio_of(scale, silent, 3, room) == 0.5, "without the device's clock by the host's");
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

int main(void) {
    rope2d_device *portable = NULL;
    rope2d_device_params params = {.struct_size = sizeof params, .flags = ROPE2D_DEVICE_PORTABLE};
    if (CHECK(rope2d_device_create(&params, &portable) == ROPE2D_OK, "the portable path opens"))
        for (int element = 0; element < ROPE2D_ELEMENT_COUNT; ++element)
            for (int in_place = 0; in_place < 2; ++in_place)
                check_faults(portable, (rope2d_element)element, in_place);
    rope2d_device_destroy(portable);
    for (int element = 0; element < ROPE2D_ELEMENT_COUNT; ++element) {
        check_moves((rope2d_element)element, 3);
        check_moves((rope2d_element)element, 600); // more than is looked at
        check_limits((rope2d_element)element, true);
        check_limits((rope2d_element)element, false);
    }
    check_factors();
    check_tables();
    check_sets();
    check_times();
    check_content();
    return check_finish();
}
