// SPDX-License-Identifier: MIT
// From coordinates to row numbers: merging, batches, unrotated ranges, the caller's own rows. The expected
// row numbers are written by hand.
#include "check.h"
#include "counter.h"
#include "fake_device.h"
#include "small_params.h"
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whether the params give these rows, and a table of so many.
static bool gives(const rope2d_positions_params *params, const int32_t *rows, size_t count,
                  uint32_t table_rows) {
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_positions *positions;
    if (rope2d_positions_create(&fake.device, params, &positions) != ROPE2D_OK) {
        printf("     %s\n", fake.line);
        return false;
    }
    rope2d_positions_info info = {.struct_size = sizeof(info)};
    bool good = rope2d_positions_get_info(positions, &info) == ROPE2D_OK && info.table_rows == table_rows &&
                info.row_bytes == count * sizeof(*rows) && info.tokens == params->tokens;
    for (size_t i = 0; i < count; i++) {
        if (rope2d_positions_host_rows(positions)[i] != rows[i]) {
            printf("     row number %zu is %d, expected %d\n", i, rope2d_positions_host_rows(positions)[i],
                   rows[i]);
            good = false;
            break;
        }
    }
    rope2d_positions_destroy(positions);
    return good && fake.live == 0 && fake.faults == 0 && fake.created == 1 && fake.destroyed == 1;
}

static void test_merging(void) {
    static const float grid[][2] = {{0, 5}, {0, 6}, {0, 7}, {1, 5}, {1, 6}, {1, 7}};
    static const int32_t axial[] = {0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2};
    static const int32_t dense[] = {0, 1, 2, 3, 4, 5};
    rope2d_spec spec = small_spec(small_axial_freqs);
    rope2d_positions_params params = small_params(&spec, 6, grid[0]);
    CHECK(gives(&params, axial, 12, 3), "a grid has as many rows as its longer side");
    rope2d_spec mixed = small_spec(small_dense_freqs);
    params.spec = &mixed;
    CHECK(gives(&params, dense, 6, 6), "a dense grid has a row to a token");
    static const float repeated[][2] = {{2, 1}, {1, 2}, {2, 1}, {1, 1}, {1, 2}};
    static const int32_t tuples[] = {0, 1, 0, 2, 1}, singles[] = {0, 0, 1, 1, 0, 0, 1, 0, 1, 1};
    params = small_params(&mixed, 5, repeated[0]);
    CHECK(gives(&params, tuples, 5, 3), "equal tuples share a row");
    params.spec = &spec;
    CHECK(gives(&params, singles, 10, 2), "rows are numbered as they appear, axis by axis");
    static const float zeros[][2] = {{0, -0.0f}, {-0.0f, 0}, {1e-45f, -1e-45f}};
    static const int32_t zero_rows[] = {0, 0, 0, 0, 1, 1}, zero_tuples[] = {0, 0, 1};
    params = small_params(&spec, 3, zeros[0]);
    CHECK(gives(&params, zero_rows, 6, 2), "-0 is +0, a subnormal is neither");
    params.spec = &mixed;
    CHECK(gives(&params, zero_tuples, 3, 2), "-0 is +0 in tuples");
}

static void test_batch(void) {
    static const float coordinates[2][2][2] = {{{3, 4}, {3, 5}}, {{9, 5}, {3, 4}}};
    static const int32_t axial[] = {0, 0, 0, 1, 1, 1, 0, 0}, dense[] = {0, 1, 2, 0};
    static const rope2d_range range = {0, 1};
    static const int32_t axial_but[] = {-1, -1, 0, 0, -1, -1, 0, 1};
    rope2d_spec spec = small_spec(small_axial_freqs);
    rope2d_spec mixed = small_spec(small_dense_freqs);
    rope2d_positions_params params = small_params(&spec, 2, coordinates[0][0]);
    params.batch = 2;
    CHECK(gives(&params, axial, 8, 2), "a batch shares one table");
    params.spec = &mixed;
    CHECK(gives(&params, dense, 4, 3), "a dense batch shares one table");
    params.spec = &spec;
    params.unrotated = &range;
    params.unrotated_count = 1;
    CHECK(gives(&params, axial_but, 8, 2), "a range is unrotated in every batch element");
}

static void test_unrotated(void) {
    static const float coordinates[][2] = {{70, 70}, {1, 2}, {80, 80}, {90, 90}, {2, 2}};
    static const rope2d_range ranges[] = {{0, 1}, {2, 4}, {3, 4}, {5, 5}, {1, 1}};
    static const int32_t axial[] = {-1, -1, 0, 0, -1, -1, -1, -1, 1, 0}, dense[] = {-1, 0, -1, -1, 1};
    static const int32_t none[] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    static const rope2d_range all = {0, 5};
    rope2d_spec spec = small_spec(small_axial_freqs);
    rope2d_spec mixed = small_spec(small_dense_freqs);
    rope2d_positions_params params = small_params(&spec, 5, coordinates[0]);
    params.unrotated = ranges;
    params.unrotated_count = 5;
    CHECK(gives(&params, axial, 10, 2), "unrotated tokens have row -1 and no row in the table");
    params.spec = &mixed;
    CHECK(gives(&params, dense, 5, 2), "unrotated tokens of a dense spec");
    params.spec = &spec;
    params.unrotated = &all;
    params.unrotated_count = 1;
    CHECK(gives(&params, none, 10, 1), "all unrotated: the table keeps one row");
    params = small_params(&spec, 0, NULL);
    CHECK(gives(&params, NULL, 0, 1), "no tokens");
}

static void test_magnitudes(void) {
    static const float coordinates[][2] = {{1, 1}, {1, 1}, {8, 8}, {1, 1}};
    static const float magnitudes[4][4] = {{1, 1, 1, 1}, {1, 1, 1, 1}, {NAN, 0, 0, 0}, {2, 2, 2, 2}};
    static const int32_t rows[] = {0, 0, 1, 1, -1, -1, 2, 2}, dense_rows[] = {0, 1, -1, 2};
    static const rope2d_range range = {2, 3};
    rope2d_spec spec = small_spec(small_axial_freqs);
    rope2d_spec mixed = small_spec(small_dense_freqs);
    rope2d_positions_params params = small_params(&spec, 4, coordinates[0]);
    params.magnitudes = magnitudes[0];
    params.unrotated = &range;
    params.unrotated_count = 1;
    CHECK(gives(&params, rows, 8, 3), "magnitudes give a row to each rotated token, the same on every axis");
    params.spec = &mixed;
    CHECK(gives(&params, dense_rows, 4, 3), "magnitudes of a dense spec");
}

static void test_caller_rows(void) {
    static const float y[] = {5, 6, 6}, x[] = {1};
    static const float tuples[][2] = {{1, 2}, {3, 4}};
    static const int32_t rows[] = {2, 0, 0, -1, -7, 0, 1, 0}, kept[] = {2, 0, 0, -1, -1, 0, -1, -1};
    static const int32_t dense[] = {1, 0, -1, 1}, dense_kept[] = {1, 0, -1, -1};
    static const rope2d_range range = {3, 4};
    rope2d_spec spec = small_spec(small_axial_freqs);
    rope2d_positions_params params = small_params(&spec, 4, NULL);
    params.rows = rows;
    params.list_counts[0] = 3;
    params.list_counts[1] = 1;
    params.lists[0] = y;
    params.lists[1] = x;
    params.unrotated = &range;
    params.unrotated_count = 1;
    CHECK(gives(&params, kept, 8, 3), "the caller's rows stay as they are, equal coordinates too");
    rope2d_spec mixed = small_spec(small_dense_freqs);
    params.spec = &mixed;
    params.rows = dense;
    params.list_counts[0] = 2;
    params.list_counts[1] = 0;
    params.lists[0] = tuples[0];
    params.lists[1] = NULL;
    CHECK(gives(&params, dense_kept, 4, 2), "the caller's rows of a dense spec");
}

// Against a search through everything seen so far.
static void test_many(void) {
    enum { TOKENS = 20000 };
    float *coordinates = malloc(sizeof(*coordinates) * TOKENS * 2);
    int32_t *rows = malloc(sizeof(*rows) * TOKENS * 2);
    float seen[2][512];
    int32_t counts[2] = {0, 0};
    if (coordinates == NULL || rows == NULL) {
        CHECK(false, "memory of the test");
        free(coordinates);
        free(rows);
        return;
    }
    for (size_t i = 0; i < (size_t)TOKENS * 2; i++) {
        uint32_t below = counter_below(counter_word(7, 1, i), i % 2 == 0 ? 500 : 40);
        coordinates[i] = (float)below * (i % 2 == 0 ? 0.25f : -3);
        int32_t row = 0;
        while (row < counts[i % 2] && seen[i % 2][row] != coordinates[i])
            row++;
        if (row == counts[i % 2])
            seen[i % 2][counts[i % 2]++] = coordinates[i];
        rows[i] = row;
    }
    rope2d_spec spec = small_spec(small_axial_freqs);
    rope2d_positions_params params = small_params(&spec, TOKENS, coordinates);
    CHECK(gives(&params, rows, (size_t)TOKENS * 2, (uint32_t)counts[0]),
          "20,000 tokens on 500 x 40 coordinates");
    free(coordinates);
    free(rows);
}

static void test_merge(void) {
    static const float keys[][2] = {{1, 2}, {1, 2}, {2, 1}, {-0.0f, 1}};
    struct fake_device fake;
    fake_device_init(&fake);
    const rope2d_host *host = &fake.device.host;
    rope2d_merge merge = {.width = 2};
    bool good = rope2d_merge_find(&merge, keys[0]) == -1;
    for (int i = 0; i < 4; i++)
        good = good && rope2d_merge_append(&merge, host, keys[i]) == ROPE2D_OK;
    static const float zero[2] = {0, 1}, other[2] = {2, 2};
    int32_t number = -1;
    good = good && merge.count == 4 && rope2d_merge_find(&merge, keys[1]) == 0 &&
           rope2d_merge_find(&merge, keys[2]) == 2 && rope2d_merge_find(&merge, zero) == 3 &&
           rope2d_merge_find(&merge, other) == -1 &&
           rope2d_merge_add(&merge, host, other, &number) == ROPE2D_OK && number == 4;
    for (int i = 0; i < 1000; i++) // grows, equal keys and all
        good = good && rope2d_merge_append(&merge, host, keys[1]) == ROPE2D_OK;
    good = good && merge.count == 1005 && rope2d_merge_find(&merge, keys[1]) == 0 &&
           rope2d_merge_find(&merge, other) == 4;
    rope2d_merge_destroy(&merge, host);
    CHECK(good && fake.live == 0, "the first of equal keys is found");
}

int main(void) {
    test_merging();
    test_batch();
    test_unrotated();
    test_magnitudes();
    test_caller_rows();
    test_many();
    test_merge();
    return check_finish();
}
