// SPDX-License-Identifier: MIT
// Which channels a spec pairs, which specs are axial, and the units that kernels make of them.
#include "check.h"
#include "../shaders/shape.h"
#include "fake_device.h"
#include "small_params.h"
#include "stage.h"

#include <stdio.h>
#include <string.h>

// Every unit by itself against what the kernels need, and all of them against the head.
static bool units_cover(const rope2d_pattern *pattern, const rope2d_units *units, uint32_t size) {
    uint8_t seen[ROPE2D_MAX_HEAD_DIM] = {0};
    uint32_t pair = 0;
    for (uint32_t unit = 0; unit < units->count; unit++) {
        uint32_t lo = R_UNIT_LO(units->words[unit]);
        uint32_t hi = R_UNIT_HI(units->words[unit]);
        uint32_t step = size == 4 && hi == lo + 1 ? 2 : 1;
        bool rotates = unit < units->pairs;
        if (lo % (size == 4 ? 4 * step : 1) != 0 || (rotates && size == 4 && step == 1 && hi % 4 != 0))
            return false;
        for (uint32_t i = 0; i < size; i++) {
            if (!rotates) {
                seen[lo + i]++;
                continue;
            }
            if (pattern->lo[pair] != lo + step * i || pattern->hi[pair] != hi + step * i ||
                pattern->axis[pair] != R_UNIT_AXIS(units->words[unit], i))
                return false;
            seen[lo + step * i]++;
            seen[hi + step * i]++;
            pair++;
        }
    }
    for (uint32_t channel = 0; channel < pattern->head_dim; channel++) {
        if (seen[channel] != 1)
            return false;
    }
    return pair == pattern->pairs;
}

static const struct {
    const char *name;
    uint32_t head_dim, begin, dim;
    rope2d_pairing pairing;
    uint32_t segments[2];
    uint16_t lo[8], hi[8]; // the first channels of the pairs
    bool wide;
} pairings[] = {
    {"interleaved",
     16,
     0,
     0,
     ROPE2D_PAIRING_INTERLEAVED,
     {0},
     {0, 2, 4, 6, 8, 10, 12, 14},
     {1, 3, 5, 7, 9, 11, 13, 15},
     true},
    {"interleaved, a part",
     32,
     8,
     16,
     ROPE2D_PAIRING_INTERLEAVED,
     {0},
     {8, 10, 12, 14, 16, 18, 20, 22},
     {9, 11, 13, 15, 17, 19, 21, 23},
     true},
    {"interleaved from 4",
     20,
     4,
     16,
     ROPE2D_PAIRING_INTERLEAVED,
     {0},
     {4, 6, 8, 10, 12, 14, 16, 18},
     {5, 7, 9, 11, 13, 15, 17, 19},
     false},
    {"half",
     16,
     0,
     16,
     ROPE2D_PAIRING_HALF,
     {0},
     {0, 1, 2, 3, 4, 5, 6, 7},
     {8, 9, 10, 11, 12, 13, 14, 15},
     true},
    {"half, passing 4 and 4",
     24,
     4,
     16,
     ROPE2D_PAIRING_HALF,
     {0},
     {4, 5, 6, 7, 8, 9, 10, 11},
     {12, 13, 14, 15, 16, 17, 18, 19},
     true},
    {"half, passing 2 and 2",
     20,
     2,
     16,
     ROPE2D_PAIRING_HALF,
     {0},
     {2, 3, 4, 5, 6, 7, 8, 9},
     {10, 11, 12, 13, 14, 15, 16, 17},
     false},
    {"half, odd head",
     17,
     0,
     16,
     ROPE2D_PAIRING_HALF,
     {0},
     {0, 1, 2, 3, 4, 5, 6, 7},
     {8, 9, 10, 11, 12, 13, 14, 15},
     false},
    {"segments",
     16,
     0,
     0,
     ROPE2D_PAIRING_SEGMENT_HALF,
     {0},
     {0, 1, 2, 3, 8, 9, 10, 11},
     {4, 5, 6, 7, 12, 13, 14, 15},
     true},
    {"segments of 3 and 5",
     16,
     0,
     0,
     ROPE2D_PAIRING_SEGMENT_HALF,
     {3, 5},
     {0, 1, 2, 6, 7, 8, 9, 10},
     {3, 4, 5, 11, 12, 13, 14, 15},
     false},
    {"segments of 0 and 8",
     18,
     1,
     16,
     ROPE2D_PAIRING_SEGMENT_HALF,
     {0, 8},
     {1, 2, 3, 4, 5, 6, 7, 8},
     {9, 10, 11, 12, 13, 14, 15, 16},
     false},
};

static void test_pairings(void) {
    struct fake_device fake;
    fake_device_init(&fake);
    for (size_t i = 0; i < sizeof(pairings) / sizeof(pairings[0]); i++) {
        rope2d_spec spec = good_spec();
        spec.head_dim = pairings[i].head_dim;
        spec.rotary_begin = pairings[i].begin;
        spec.rotary_dim = pairings[i].dim;
        spec.pairing = pairings[i].pairing;
        memcpy(spec.segment_pairs, pairings[i].segments, sizeof(pairings[i].segments));
        rope2d_pattern pattern;
        bool good = rope2d_pattern_create(&pattern, &spec, &fake.device.host) == ROPE2D_OK &&
                    pattern.pairs == 8 && memcmp(pattern.lo, pairings[i].lo, sizeof(pairings[i].lo)) == 0 &&
                    memcmp(pattern.hi, pairings[i].hi, sizeof(pairings[i].hi)) == 0 &&
                    units_cover(&pattern, &pattern.single, 1) &&
                    (pattern.wide.count > 0) == pairings[i].wide &&
                    (!pairings[i].wide || units_cover(&pattern, &pattern.wide, 4));
        for (uint32_t pair = 0; good && pair < 8; pair++)
            good = pattern.axis[pair] == pair / 4;
        CHECK(good, "%s", pairings[i].name);
        rope2d_pattern_destroy(&pattern, &fake.device.host);
    }
    CHECK(fake.live == 0 && fake.faults == 0, "patterns release what they took");
}

static void test_explicit(void) {
    static const uint32_t lo[] = {3, 0, 9}, hi[] = {1, 12, 2};
    static const uint32_t wide_lo[] = {12, 13, 14, 15}, wide_hi[] = {0, 1, 2, 3}, late_hi[] = {1, 2, 3, 4};
    struct fake_device fake;
    fake_device_init(&fake);
    const rope2d_host *host = &fake.device.host;
    rope2d_spec spec = good_spec();
    spec.pairing = ROPE2D_PAIRING_EXPLICIT;
    rope2d_pattern none, three, wide, late;
    CHECK(rope2d_pattern_create(&none, &spec, host) == ROPE2D_OK && none.pairs == 0 &&
              none.single.pairs == 0 && none.single.count == 16 && none.wide.count == 4 &&
              units_cover(&none, &none.single, 1) && units_cover(&none, &none.wide, 4),
          "no pairs: every channel passes");
    spec.pairs = 3;
    spec.pair_lo = lo;
    spec.pair_hi = hi;
    CHECK(rope2d_pattern_create(&three, &spec, host) == ROPE2D_OK && three.lo[0] == 3 && three.hi[0] == 1 &&
              three.wide.count == 0 && units_cover(&three, &three.single, 1) && rope2d_spec_pairs(&spec) == 3,
          "explicit pairs");
    spec.pairs = 4;
    spec.pair_lo = wide_lo;
    spec.pair_hi = wide_hi;
    CHECK(rope2d_pattern_create(&wide, &spec, host) == ROPE2D_OK && wide.wide.count == 3 &&
              units_cover(&wide, &wide.wide, 4),
          "explicit runs of four, hi before lo");
    spec.pair_hi = late_hi;
    CHECK(rope2d_pattern_create(&late, &spec, host) == ROPE2D_OK && late.wide.count == 0,
          "a run that begins at 1");
    CHECK(rope2d_pattern_equal(&wide, &wide) && !rope2d_pattern_equal(&wide, &late) &&
              !rope2d_pattern_equal(&wide, &three) && rope2d_pattern_equal(&none, &none),
          "patterns compare by their pairs");
    rope2d_pattern_destroy(&none, host);
    rope2d_pattern_destroy(&three, host);
    rope2d_pattern_destroy(&wide, host);
    rope2d_pattern_destroy(&late, host);
    spec = good_spec();
    spec.head_dim = ROPE2D_MAX_HEAD_DIM;
    spec.pairing = ROPE2D_PAIRING_EXPLICIT;
    spec.pairs = 1;
    static const uint32_t last[] = {ROPE2D_MAX_HEAD_DIM - 1}, first[] = {0};
    spec.pair_lo = last;
    spec.pair_hi = first;
    rope2d_pattern largest;
    CHECK(rope2d_pattern_create(&largest, &spec, host) == ROPE2D_OK &&
              units_cover(&largest, &largest.single, 1),
          "the largest head_dim");
    rope2d_pattern_destroy(&largest, host);
    CHECK(fake.live == 0 && fake.faults == 0, "explicit patterns release what they took");
}

static void test_axial(void) {
    static float freqs[2][2][8], freqs_hi[2][2][8];
    rope2d_spec spec = good_spec();
    CHECK(rope2d_spec_is_axial(&spec) == 1, "an axis to a pair is axial");
    spec.freq_heads = 2;
    spec.freqs = freqs[0][0];
    CHECK(rope2d_spec_is_axial(&spec) == 1, "no frequency at all is axial");
    freqs[0][0][5] = 1;
    freqs[1][1][5] = -0.0f;
    CHECK(rope2d_spec_is_axial(&spec) == 1, "-0 is no frequency");
    freqs[1][1][5] = 1e-45f;
    CHECK(rope2d_spec_is_axial(&spec) == 0, "two heads on two axes are dense, were one of them subnormal");
    freqs[1][1][5] = 0;
    spec.freqs_hi = freqs_hi[0][0];
    freqs_hi[0][1][5] = 2;
    CHECK(rope2d_spec_is_axial(&spec) == 1, "two tables on one axis are axial");
    freqs_hi[1][0][5] = 2;
    CHECK(rope2d_spec_is_axial(&spec) == 0, "two tables on two axes are dense");
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_pattern pattern;
    CHECK(rope2d_pattern_create(&pattern, &spec, &fake.device.host) == ROPE2D_OK && pattern.row_axes == 1 &&
              pattern.angles == 2 && pattern.freq_heads == 2 && pattern.axis[5] == 0,
          "a dense pattern has one row to a token");
    rope2d_pattern_destroy(&pattern, &fake.device.host);
    spec.axes = 1;
    CHECK(rope2d_spec_is_axial(&spec) == 1, "one axis is axial");
}

// Of both pairs of each duo, by shaders/shape.h.
static bool duos_have_axes(const rope2d_pattern *pattern, const rope2d_units *units, uint32_t side) {
    for (uint32_t unit = 0; unit < units->pairs; unit++) {
        const uint32_t *words = units->words + 2 * unit;
        for (uint32_t duo = 0; duo < 2 * side; duo++) {
            const uint32_t pair =
                duo < side ? R_UNIT_LO(words[1]) + 2 * duo : R_UNIT_HI(words[1]) + 2 * (duo - side);
            if (R_UNIT_AXIS(words[0], duo) != pattern->axis[pair] ||
                R_UNIT_AXIS(words[1], duo) != pattern->axis[pair + 1])
                return false;
        }
    }
    return units->pairs > 0 && (units->flags & R_PAIR_AXIS_FLAG) != 0 &&
           (units->flags & (R_ONE_AXIS_FLAG | R_RUN_AXIS_FLAG)) == 0;
}

static void test_axes_in_a_unit(void) {
    static const float freqs[3][8] = {{1, 0, 0, 1}, {0, 2, 0, 0, 0, 2}, {0, 0, 3, 0, 3, 0, 3, 3}};
    static const uint8_t axes[8] = {0, 1, 2, 0, 2, 1, 2, 2};
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_spec spec = good_spec();
    spec.axes = 3;
    spec.freqs = freqs[0];
    rope2d_pattern pattern;
    CHECK(rope2d_pattern_create(&pattern, &spec, &fake.device.host) == ROPE2D_OK &&
              memcmp(pattern.axis, axes, sizeof(axes)) == 0 && units_cover(&pattern, &pattern.single, 1) &&
              units_cover(&pattern, &pattern.wide, 4),
          "a unit knows the axis of each of its pairs");
    for (uint32_t i = 0; i < ROPE2D_VECTOR_KINDS; i++)
        CHECK(i == ROPE2D_NEAR_FOURS || i == ROPE2D_LONE_EIGHTS
                  ? pattern.vector[i].count == 0
                  : duos_have_axes(&pattern, &pattern.vector[i], i > ROPE2D_FOURS ? 2 : 1),
              "vector units %u know the axes of their duos' pairs", i);
    rope2d_pattern_destroy(&pattern, &fake.device.host);
}

// Interleaved pairs of a whole head, of which one axis turns the first half and another the second.
static rope2d_spec halved_spec(float *freqs, uint32_t pairs) {
    for (uint32_t pair = 0; pair < pairs; pair++) {
        freqs[pair] = pair < pairs / 2;
        freqs[pairs + pair] = pair >= pairs / 2;
    }
    rope2d_spec spec = good_spec();
    spec.pairing = ROPE2D_PAIRING_INTERLEAVED;
    spec.head_dim = 2 * pairs;
    spec.rotary_begin = 0;
    spec.rotary_dim = 2 * pairs;
    spec.axes = 2;
    spec.freqs = freqs;
    return spec;
}

// Of interleaved runs of four side by side, where eight lanes have whole groups of them.
static void test_near_runs(void) {
    static float freqs[2 * 128];
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_spec spec = halved_spec(freqs, 128);
    rope2d_pattern pattern, other;
    bool good = rope2d_pattern_create(&pattern, &spec, &fake.device.host) == ROPE2D_OK;
    const rope2d_units *near = &pattern.vector[ROPE2D_NEAR_FOURS];
    good = CHECK(good && near->count == 32 && near->pairs == 32 && (near->flags & R_ONE_AXIS_FLAG) != 0 &&
                     (pattern.vector[ROPE2D_FOURS].flags & R_ONE_AXIS_FLAG) == 0,
                 "runs of four side by side are turned by one axis");
    for (uint32_t unit = 0; good && unit < near->count; unit++)
        CHECK(R_UNIT_LO(near->words[2 * unit]) == 8 * unit &&
                  R_UNIT_HI(near->words[2 * unit]) == 8 * unit + 4 &&
                  R_UNIT_LO(near->words[2 * unit + 1]) == 4 * unit &&
                  R_UNIT_HI(near->words[2 * unit + 1]) == 4 * unit + 2 &&
                  R_UNIT_AXIS(near->words[2 * unit], 0) == unit / 16,
              "unit %u has what comes next in memory", unit);
    spec.head_dim = 80;
    spec.rotary_dim = 80;
    CHECK(rope2d_pattern_create(&other, &spec, &fake.device.host) == ROPE2D_OK &&
              other.vector[ROPE2D_FOURS].count == 10 && other.vector[ROPE2D_NEAR_FOURS].count == 0,
          "ten units are no whole groups");
    rope2d_pattern_destroy(&pattern, &fake.device.host);
    rope2d_pattern_destroy(&other, &fake.device.host);
    CHECK(fake.live == 0 && fake.faults == 0, "patterns of long heads release what they took");
}

// What devices take where two runs of eight to a unit would leave one alone, and where they would not.
static void check_devices_units(rope2d_device *device, const rope2d_pattern *odd,
                                const rope2d_pattern *even) {
    static const struct {
        rope2d_backend backend;
        bool is_software;
        rope2d_element element;
        rope2d_vector_kind odd, even;
    } cases[] = {
        {ROPE2D_BACKEND_VULKAN, false, ROPE2D_F16, ROPE2D_LONE_EIGHTS, ROPE2D_EIGHTS},
        {ROPE2D_BACKEND_VULKAN, false, ROPE2D_F32, ROPE2D_FOURS, ROPE2D_FOURS},
        {ROPE2D_BACKEND_OPENCL, false, ROPE2D_BF16, ROPE2D_FOURS, ROPE2D_EIGHTS},
        {ROPE2D_BACKEND_OPENCL, true, ROPE2D_BF16, ROPE2D_EIGHTS, ROPE2D_EIGHTS},
        {ROPE2D_BACKEND_VULKAN, true, ROPE2D_F16, ROPE2D_EIGHTS, ROPE2D_EIGHTS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        rope2d_plan plan = {.device = device, .in = cases[i].element, .out = cases[i].element};
        device->info.backend = cases[i].backend;
        device->info.is_software = cases[i].is_software;
        plan.pattern = *odd;
        CHECK(rope2d_plan_vectors(&plan) == &plan.pattern.vector[cases[i].odd], "case %d: odd", (int)i);
        plan.pattern = *even;
        CHECK(rope2d_plan_vectors(&plan) == &plan.pattern.vector[cases[i].even], "case %d: even", (int)i);
    }
}

// Of interleaved runs of eight, where two to a unit would leave one alone.
static void test_lone_runs(void) {
    static float freqs[2 * 44], many[2 * 132];
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_spec spec = halved_spec(freqs, 44);
    spec.head_dim = 104; // two runs pass
    spec.rotary_begin = 8;
    rope2d_pattern pattern, other;
    bool good = rope2d_pattern_create(&pattern, &spec, &fake.device.host) == ROPE2D_OK;
    const rope2d_units *lone = &pattern.vector[ROPE2D_LONE_EIGHTS];
    good = CHECK(good && lone->count == 13 && lone->pairs == 11 && (lone->flags & R_ONE_RUN_FLAG) != 0 &&
                     (lone->flags & R_LONE_FLAG) == 0 && pattern.vector[ROPE2D_EIGHTS].count == 7,
                 "eleven runs that turn and two that pass");
    for (uint32_t unit = 0; good && unit < lone->count; unit++) {
        const uint32_t *words = lone->words + 2 * unit;
        const uint32_t begin = unit < 11 ? 8 * (unit + 1) : unit == 11 ? 0 : 96;
        CHECK(R_UNIT_LO(words[0]) == begin && R_UNIT_HI(words[0]) == begin &&
                  (unit > 10 ||
                   (R_UNIT_LO(words[1]) == 4 * unit && R_UNIT_AXIS(words[0], 0) == (4 * unit >= 22) &&
                    R_UNIT_AXIS(words[0], 1) == (4 * unit + 2 >= 22))),
              "unit %u has one run", unit);
    }
    spec.head_dim = 96;
    spec.rotary_begin = 0;
    spec.rotary_dim = 80;
    CHECK(rope2d_pattern_create(&other, &spec, &fake.device.host) == ROPE2D_OK &&
              other.vector[ROPE2D_EIGHTS].count == 6 && other.vector[ROPE2D_LONE_EIGHTS].count == 0,
          "ten runs are five units of two");
    check_devices_units(&fake.device, &pattern, &other);
    rope2d_pattern_destroy(&other, &fake.device.host);
    spec.head_dim = 184;
    spec.rotary_dim = 88;
    CHECK(rope2d_pattern_create(&other, &spec, &fake.device.host) == ROPE2D_OK &&
              other.vector[ROPE2D_EIGHTS].count == 12 && other.vector[ROPE2D_LONE_EIGHTS].count == 0,
          "more runs pass than turn");
    rope2d_pattern_destroy(&other, &fake.device.host);
    spec = halved_spec(many, 132);
    CHECK(rope2d_pattern_create(&other, &spec, &fake.device.host) == ROPE2D_OK &&
              other.vector[ROPE2D_EIGHTS].count == 17 && other.vector[ROPE2D_LONE_EIGHTS].count == 0,
          "of 33 runs one alone is little");
    rope2d_pattern_destroy(&pattern, &fake.device.host);
    rope2d_pattern_destroy(&other, &fake.device.host);
    CHECK(fake.live == 0 && fake.faults == 0, "patterns with lone runs release what they took");
}

static void test_memory(void) {
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_spec spec = good_spec();
    uint64_t requests = 0;
    for (uint64_t n = 1;; n++) {
        rope2d_pattern pattern;
        fake.requests = 0;
        fake.fail_at = n;
        uint32_t lines = fake.lines;
        rope2d_status status = rope2d_pattern_create(&pattern, &spec, &fake.device.host);
        rope2d_pattern_destroy(&pattern, &fake.device.host);
        if (status == ROPE2D_OK)
            break;
        requests = n;
        if (status != ROPE2D_ERROR_HOST_MEMORY || fake.lines != lines + 1 || fake.live != 0)
            CHECK(false, "a pattern without memory");
    }
    CHECK(requests == 8 && fake.live == 0 && fake.faults == 0,
          "a pattern fails cleanly at each of its requests");
}

int main(void) {
    test_pairings();
    test_explicit();
    test_axial();
    test_axes_in_a_unit();
    test_near_runs();
    test_lone_runs();
    test_memory();
    return check_finish();
}
