// SPDX-License-Identifier: MIT
// What must not change a bit of a table: growing from another, the number of threads and who runs them, the
// floating-point mode of the caller, and which spec form says the same.
#include "check.h"
#include "counter.h"
#include "fake_device.h"
#include "rows.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

enum { PAIRS = 16, HEADS = 2, TOKENS = 600 };

static float axial_freqs[2][HEADS][PAIRS], dense_freqs[2][HEADS][PAIRS];
static float coordinates[TOKENS][2], magnitudes[TOKENS][PAIRS];

// Some of everything is subnormal, so that a mode which flushes would show.
static void fill_inputs(void) {
    for (uint32_t i = 0; i < 2 * HEADS * PAIRS; i++) {
        float freq = counter_scaled(counter_word(1, 1, i), i % 4 == 0 ? -130 : (int)(i % 4) - 2);
        dense_freqs[i / HEADS / PAIRS][i / PAIRS % HEADS][i % PAIRS] = freq;
        if (i % 2 == i / HEADS / PAIRS)
            axial_freqs[i / HEADS / PAIRS][i / PAIRS % HEADS][i % PAIRS] = freq;
    }
    for (uint32_t i = 0; i < TOKENS * 2; i++)
        coordinates[i / 2][i % 2] = counter_scaled(
            counter_word(1, 2, counter_below(counter_word(1, 3, i), 150)), i % 7 == 0 ? -133 : 9);
    for (uint32_t i = 0; i < TOKENS * PAIRS; i++)
        magnitudes[i / PAIRS][i % PAIRS] = counter_scaled(counter_word(1, 4, i), i % 3 == 0 ? -128 : 1);
}

static rope2d_spec some_spec(bool dense, rope2d_angles angles) {
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = 2 * PAIRS, .axes = 2, .freq_heads = HEADS};
    spec.freqs = dense ? dense_freqs[0][0] : axial_freqs[0][0];
    spec.angles = angles;
    return spec;
}

static rope2d_positions_params some_params(const rope2d_spec *spec, uint64_t first, uint64_t tokens) {
    rope2d_positions_params params = {.struct_size = sizeof(params), .spec = spec, .tokens = tokens};
    params.coordinates = coordinates[first];
    return params;
}

static rope2d_positions *make(struct fake_device *fake, const rope2d_positions_params *params) {
    rope2d_positions *positions;
    if (rope2d_positions_create(&fake->device, params, &positions) != ROPE2D_OK)
        printf("     %s\n", fake->line);
    return positions;
}

static bool same(const rope2d_positions *a, const rope2d_positions *b) {
    return a != NULL && b != NULL && a->table_entries == b->table_entries && a->row_count == b->row_count &&
           memcmp(a->table, b->table, (size_t)a->table_entries * 2 * sizeof(float)) == 0 &&
           memcmp(a->rows, b->rows, (size_t)a->row_count * sizeof(int32_t)) == 0;
}

// How many keys of b's lists a's have.
static uint64_t count_shared(const rope2d_positions *a, const rope2d_positions *b) {
    uint64_t shared = 0;
    for (uint32_t g = 0; g < b->lists->groups; g++) {
        const rope2d_merge *known = &a->lists->of[g], *list = &b->lists->of[g];
        for (uint32_t i = 0; i < list->count; i++) {
            for (uint32_t j = 0; j < known->count; j++) {
                if (memcmp(known->keys + (size_t)j * list->width, list->keys + (size_t)i * list->width,
                           list->width * sizeof(float)) == 0) {
                    shared++;
                    break;
                }
            }
        }
    }
    return shared;
}

static void test_growing(bool dense) {
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_spec spec = some_spec(dense, ROPE2D_ANGLES_DOUBLE);
    rope2d_positions_params params = some_params(&spec, 100, 300);
    rope2d_positions *old = make(&fake, &params);
    params = some_params(&spec, 0, TOKENS);
    rope2d_positions *fresh = make(&fake, &params);
    params.grown_from = old;
    rope2d_positions *grown = make(&fake, &params);
    CHECK(same(fresh, grown) && fresh->lists->rows_copied == 0 && grown->lists->rows_copied > 100 &&
              grown->lists->rows_copied == count_shared(old, grown),
          dense ? "growing copies the tuples that are there"
                : "growing copies the coordinates that are there");
    // Rows are copied, not computed again: a mark in the old table comes along.
    old->table[0] = 7;
    rope2d_positions *marked = make(&fake, &params);
    uint64_t marks = 0;
    for (uint64_t i = 0; marked != NULL && i < 2 * marked->table_entries; i++)
        marks += marked->table[i] == 7;
    CHECK(marks == 1, "growing takes the old table's bits");
    rope2d_positions_destroy(old);
    CHECK(same(fresh, grown), "what has grown outlives what it came from");
    rope2d_positions_destroy(marked);
    rope2d_positions_destroy(grown);
    rope2d_positions_destroy(fresh);
    CHECK(fake.live == 0 && fake.faults == 0, "growing releases what it took");
}

static void test_growing_with_magnitudes(void) {
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_spec spec = some_spec(false, ROPE2D_ANGLES_DOUBLE);
    rope2d_positions_params params = some_params(&spec, 0, TOKENS);
    rope2d_positions *plain = make(&fake, &params);
    params.magnitudes = magnitudes[0];
    rope2d_positions *scaled = make(&fake, &params);
    params.grown_from = plain;
    rope2d_positions *from_plain = make(&fake, &params);
    params.magnitudes = NULL;
    params.grown_from = scaled;
    rope2d_positions *from_scaled = make(&fake, &params);
    CHECK(same(scaled, from_plain) && same(plain, from_scaled) && from_plain->lists->rows_copied == 0 &&
              from_scaled->lists->rows_copied == 0,
          "magnitudes are never copied");
    rope2d_positions_destroy(plain);
    rope2d_positions_destroy(scaled);
    rope2d_positions_destroy(from_plain);
    rope2d_positions_destroy(from_scaled);
}

static bool is_refused(struct fake_device *fake, const rope2d_spec *spec, const rope2d_positions *from) {
    rope2d_positions_params params = some_params(spec, 0, 5);
    params.grown_from = from;
    rope2d_positions *positions;
    uint32_t lines = fake->lines;
    rope2d_status status = rope2d_positions_create(&fake->device, &params, &positions);
    rope2d_positions_destroy(positions);
    return status == ROPE2D_ERROR_MISMATCH && fake_device_logged(fake, lines, "params.grown_from");
}

static void test_growing_refused(void) {
    struct fake_device fake, other;
    fake_device_init(&fake);
    fake_device_init(&other);
    rope2d_spec spec = some_spec(false, ROPE2D_ANGLES_DOUBLE);
    rope2d_positions_params params = some_params(&spec, 0, 10);
    rope2d_positions *old = make(&fake, &params);
    CHECK(is_refused(&other, &spec, old), "growing from another device");
    spec.angles = ROPE2D_ANGLES_FP32;
    CHECK(is_refused(&fake, &spec, old), "growing from other angles");
    spec = some_spec(false, ROPE2D_ANGLES_DOUBLE);
    spec.direction = ROPE2D_TRANSPOSE;
    CHECK(is_refused(&fake, &spec, old), "growing from another direction");
    spec.direction = ROPE2D_FORWARD;
    spec.magnitude = 2;
    CHECK(is_refused(&fake, &spec, old), "growing from another magnitude");
    spec.magnitude = 0;
    spec.pairing = ROPE2D_PAIRING_HALF;
    CHECK(is_refused(&fake, &spec, old), "growing from another pairing");
    spec.pairing = ROPE2D_PAIRING_INTERLEAVED;
    axial_freqs[1][1][15] *= 2;
    CHECK(is_refused(&fake, &spec, old), "growing from other frequencies");
    axial_freqs[1][1][15] /= 2;
    rope2d_positions_destroy(old);
    CHECK(fake.live == 0 && other.live == 0, "refused growing leaks nothing");
}

struct mode {
    const char *name;
    unsigned mxcsr;
    int rounding;
};

// As a caller might have set it.
static void set_mode(struct mode mode) {
    (void)fesetround(mode.rounding);
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | mode.mxcsr);
#endif
}

static bool mode_is(struct mode mode) {
#if defined(__SSE__)
    if ((_mm_getcsr() & 0x8040u) != mode.mxcsr)
        return false;
#endif
    return fegetround() == mode.rounding;
}

static void restore_mode(void) {
#if defined(__SSE__)
    _mm_setcsr(0x1f80u);
#endif
    (void)fesetround(FE_TONEAREST);
}

static void test_mode(struct mode mode) {
    struct fake_device fake;
    fake_device_init(&fake);
    bool good = true;
    for (int number = 0; number < 8; number++) {
        rope2d_spec spec =
            some_spec(number % 2 == 1, number / 2 % 2 == 0 ? ROPE2D_ANGLES_DOUBLE : ROPE2D_ANGLES_FP32);
        rope2d_positions_params params = some_params(&spec, 0, TOKENS);
        params.magnitudes = number / 4 == 1 ? magnitudes[0] : NULL;
        rope2d_positions *expected = make(&fake, &params);
        set_mode(mode);
        rope2d_positions *positions = make(&fake, &params);
        good = good && mode_is(mode);
        restore_mode();
        good = good && same(expected, positions) && expected->is_axial == positions->is_axial;
        rope2d_positions_destroy(expected);
        rope2d_positions_destroy(positions);
    }
    CHECK(good, "%s", mode.name);
}

static void test_modes(void) {
    // The modes do something here, or these tests would mean nothing.
    set_mode((struct mode){"", 0, FE_DOWNWARD});
    volatile float one = 1, three = 3;
    volatile float down = one / three;
    restore_mode();
    CHECK(down < one / three, "rounding down rounds down");
    test_mode((struct mode){"the caller rounds down", 0, FE_DOWNWARD});
    test_mode((struct mode){"the caller rounds up", 0, FE_UPWARD});
    test_mode((struct mode){"the caller rounds to zero", 0, FE_TOWARDZERO});
#if defined(__SSE__)
    volatile float small = 1e-40f;
    set_mode((struct mode){"", 0x8040u, FE_TONEAREST});
    volatile float flushed = small * one;
    restore_mode();
    CHECK(flushed == 0, "subnormals are flushed");
    test_mode((struct mode){"the caller flushes to zero", 0x8000u, FE_TONEAREST});
    test_mode((struct mode){"the caller takes subnormals as zeros", 0x0040u, FE_TONEAREST});
    test_mode((struct mode){"the caller does all of it", 0x8040u, FE_DOWNWARD});
#endif
}

static void flush_and_run(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data) {
    (void)user;
    for (uint32_t i = 0; i < tasks; i++) {
        set_mode((struct mode){"", 0x8040u, FE_UPWARD});
        task(data, i);
        restore_mode();
    }
}

static void test_threads(void) {
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_spec spec = some_spec(true, ROPE2D_ANGLES_DOUBLE);
    rope2d_positions_params params = some_params(&spec, 0, TOKENS);
    fake.device.host.threads = 1;
    rope2d_positions *expected = make(&fake, &params);
    fake.device.host.threads = 50;
    rope2d_positions *backwards = make(&fake, &params);
    fake.device.host.parallel_for = flush_and_run;
    rope2d_positions *flushing = make(&fake, &params);
    fake.device.host.parallel_for = NULL;
    rope2d_positions *own = make(&fake, &params);
    CHECK(same(expected, backwards), "tasks in another order");
    CHECK(same(expected, flushing), "workers with modes of their own");
    CHECK(same(expected, own), "the library's own threads");
    rope2d_positions_destroy(expected);
    rope2d_positions_destroy(backwards);
    rope2d_positions_destroy(flushing);
    rope2d_positions_destroy(own);
}

// The caller's rows over the lists that merging would make are the same table.
static void test_caller_rows(void) {
    struct fake_device fake;
    fake_device_init(&fake);
    for (int dense = 0; dense < 2; dense++) {
        rope2d_spec spec = some_spec(dense == 1, ROPE2D_ANGLES_FP32);
        rope2d_positions_params params = some_params(&spec, 0, TOKENS);
        rope2d_positions *expected = make(&fake, &params);
        params.coordinates = NULL;
        params.rows = expected->rows;
        for (uint32_t g = 0; g < expected->lists->groups; g++) {
            params.lists[g] = expected->lists->of[g].keys;
            params.list_counts[g] = expected->lists->of[g].count;
        }
        rope2d_positions *given = make(&fake, &params);
        CHECK(same(expected, given), "the caller's rows make the same table");
        rope2d_positions_destroy(expected);
        rope2d_positions_destroy(given);
    }
}

static void test_exact_entries(void) {
    static const float zeros[1][2] = {{0, -0.0f}};
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_spec spec = some_spec(true, ROPE2D_ANGLES_DOUBLE);
    rope2d_positions_params params = some_params(&spec, 0, 1);
    params.coordinates = zeros[0];
    rope2d_positions *positions = make(&fake, &params);
    bool good = true;
    for (uint32_t i = 0; i < 2 * positions->table_entries; i++) {
        uint32_t bits;
        memcpy(&bits, &positions->table[i], sizeof(bits));
        good = good && bits == (i % 2 == 0 ? 0x3f800000u : 0);
    }
    CHECK(good, "the angle 0 gives 1 and +0");
    rope2d_positions_destroy(positions);
}

static void test_limit(void) {
    enum { WIDE_PAIRS = 2048, WIDE_HEADS = 512, ROWS = 2048 };
    float *freqs = calloc((size_t)WIDE_PAIRS * WIDE_HEADS, sizeof(*freqs));
    static float line[ROWS];
    for (int i = 0; i < ROWS; i++)
        line[i] = (float)i;
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_spec spec = {
        .struct_size = sizeof(spec), .head_dim = 2 * WIDE_PAIRS, .axes = 1, .freq_heads = WIDE_HEADS};
    spec.freqs = freqs;
    rope2d_positions_params params = some_params(&spec, 0, ROWS);
    params.coordinates = line;
    rope2d_positions *positions = NULL;
    uint32_t lines = fake.lines;
    CHECK(freqs != NULL && rope2d_positions_create(&fake.device, &params, &positions) == ROPE2D_ERROR_LIMIT &&
              fake_device_logged(&fake, lines, "2147483648 entries; the limit is 2147483647") &&
              fake.live == 0,
          "a table of 2^31 entries");
    free(freqs);
}

int main(void) {
    fill_inputs();
    test_growing(false);
    test_growing(true);
    test_growing_with_magnitudes();
    test_growing_refused();
    test_modes();
    test_threads();
    test_caller_rows();
    test_exact_entries();
    test_limit();
    return check_finish();
}
