// SPDX-License-Identifier: MIT
// What positions refuse, with which status and which words in the log, and what they do when memory or the
// backend fails.
#include "check.h"
#include "fake_device.h"
#include "small_params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum spoil {
    NO_STRUCT_SIZE,
    NO_SPEC,
    BAD_TABLE,
    TEXTURE,
    NO_COORDINATES,
    ROWS_AND_COORDINATES,
    COORDINATE_NAN,
    COORDINATE_INFINITE,
    UNROTATED_NAN,
    RANGE_BACKWARDS,
    RANGE_PAST,
    NO_RANGES,
    TOKENS_HUGE,
    BATCH_HUGE,
    ROW_PAST,
    LIST_NULL,
    LIST_NAN,
    LIST_ALONE,
    LIST_PAST,
    LIST_COUNT_PAST,
    MAGNITUDES_AND_ROWS,
    MAGNITUDE_NAN,
    MAGNITUDE_ZERO,
    MAGNITUDE_LARGE,
    SPEC_MAGNITUDE,
    ANGLE,
};

static const float spoilt[][2] = {{0, 1}, {2, 3}, {4, NAN}, {-INFINITY, 5}, {3e38f, 3e38f}};
static const float spoilt_magnitudes[2][4] = {{1, 1, 1, 1}, {1, 1, NAN, 1}};
static const float zero_magnitudes[2][4] = {{1, 1, 1, 1}, {1, 0, 1, 1}};
static const float large_magnitudes[2][4] = {{1, 3e38f, 1, 1}, {1, 1, 1, 1}};
static const float large_freqs[2][4] = {{1, .5f, 0, 0}, {0, 0, 1, 2}};
static const rope2d_range spoilt_ranges[] = {{1, 0}, {1, 3}, {2, 3}};
static const int32_t spoilt_rows[][2] = {{0, 0}, {1, 2}};

static void spoil_rows(rope2d_positions_params *params, enum spoil what) {
    params->coordinates = what == ROWS_AND_COORDINATES ? spoilt[0] : NULL;
    params->rows = spoilt_rows[0];
    params->list_counts[0] = params->list_counts[1] = 2;
    params->lists[0] = spoilt[0];
    params->lists[1] = what == LIST_NULL ? NULL : spoilt[what == LIST_NAN ? 2 : 0];
    if (what == MAGNITUDES_AND_ROWS)
        params->magnitudes = zero_magnitudes[0];
    if (what == LIST_PAST)
        params->lists[2] = spoilt[0];
    if (what == LIST_COUNT_PAST)
        params->list_counts[3] = 7;
}

static void spoil_magnitudes(rope2d_positions_params *params, rope2d_spec *spec, enum spoil what) {
    if (what == MAGNITUDE_NAN) {
        params->magnitudes = spoilt_magnitudes[0];
    } else if (what == MAGNITUDE_ZERO) {
        params->magnitudes = zero_magnitudes[0];
        spec->direction = ROPE2D_INVERSE;
    } else if (what == MAGNITUDE_LARGE) {
        params->magnitudes = large_magnitudes[0];
        spec->magnitude = -2;
    } else if (what == SPEC_MAGNITUDE) {
        spec->magnitude = 1e-45f;
        spec->direction = ROPE2D_INVERSE;
    } else {
        params->coordinates = spoilt[4];
        params->tokens = 1;
        spec->angles = ROPE2D_ANGLES_FP32;
        spec->freqs = large_freqs[0];
    }
}

static void spoil_ranges(rope2d_positions_params *params, enum spoil what) {
    params->unrotated = what == NO_RANGES ? NULL : &spoilt_ranges[what == RANGE_BACKWARDS ? 0 : 1];
    params->unrotated_count = 1;
    if (what == UNROTATED_NAN) {
        params->unrotated = &spoilt_ranges[2];
        params->tokens = 3;
    }
}

static void spoil(rope2d_positions_params *params, rope2d_spec *spec, enum spoil what) {
    switch (what) {
    case NO_STRUCT_SIZE:
        params->struct_size = 1;
        break;
    case NO_SPEC:
        params->spec = NULL;
        break;
    case BAD_TABLE:
    case TEXTURE:
        params->table = what == TEXTURE ? ROPE2D_TABLE_TEXTURE : ROPE2D_TABLE_COUNT;
        break;
    case NO_COORDINATES:
        params->coordinates = NULL;
        break;
    case COORDINATE_NAN:
        params->tokens = 3;
        break;
    case COORDINATE_INFINITE:
        params->coordinates = spoilt[3];
        params->tokens = 1;
        params->batch = 2;
        break;
    case LIST_ALONE:
        params->lists[1] = spoilt[0];
        params->list_counts[1] = 2;
        break;
    case TOKENS_HUGE:
        params->tokens = UINT64_MAX / 2;
        params->batch = 3;
        break;
    case BATCH_HUGE:
        params->tokens = (uint64_t)1 << 40;
        params->batch = 4000000000u;
        break;
    case UNROTATED_NAN:
    case RANGE_BACKWARDS:
    case RANGE_PAST:
    case NO_RANGES:
        spoil_ranges(params, what);
        break;
    case ROWS_AND_COORDINATES:
    case ROW_PAST:
    case LIST_NULL:
    case LIST_NAN:
    case LIST_PAST:
    case LIST_COUNT_PAST:
    case MAGNITUDES_AND_ROWS:
        spoil_rows(params, what);
        break;
    default:
        spoil_magnitudes(params, spec, what);
        break;
    }
}

static const struct {
    enum spoil what;
    rope2d_status status;
    const char *field;
} refusals[] = {
    {NO_STRUCT_SIZE, ROPE2D_ERROR_STRUCT_SIZE, "params.struct_size is 1"},
    {NO_SPEC, ROPE2D_ERROR_NULL, "spec is NULL"},
    {BAD_TABLE, ROPE2D_ERROR_ENUM, "params.table is 3"},
    {TEXTURE, ROPE2D_ERROR_UNSUPPORTED, "params.table is ROPE2D_TABLE_TEXTURE"},
    {NO_COORDINATES, ROPE2D_ERROR_COORDINATE, "params.coordinates is NULL"},
    {ROWS_AND_COORDINATES, ROPE2D_ERROR_ROW, "params.rows and params.coordinates"},
    {COORDINATE_NAN, ROPE2D_ERROR_COORDINATE, "params.coordinates[0][2][1] is nan"},
    {COORDINATE_INFINITE, ROPE2D_ERROR_COORDINATE, "params.coordinates[0][0][0] is -inf"},
    {UNROTATED_NAN, ROPE2D_ERROR_COORDINATE, "params.coordinates[0][2][1] is nan"},
    {RANGE_BACKWARDS, ROPE2D_ERROR_TOKENS, "params.unrotated[0] is 1 to 0"},
    {RANGE_PAST, ROPE2D_ERROR_TOKENS, "params.unrotated[0] is 1 to 3; there are 2 tokens"},
    {NO_RANGES, ROPE2D_ERROR_NULL, "params.unrotated is NULL"},
    {TOKENS_HUGE, ROPE2D_ERROR_LIMIT, "params.tokens is 9223372036854775807"},
    {BATCH_HUGE, ROPE2D_ERROR_LIMIT,
     "and params.batch 4000000000, with 2 row numbers to a token; the limit of"},
    {ROW_PAST, ROPE2D_ERROR_ROW, "params.rows[0][1][1] is 2; params.list_counts[1] is 2"},
    {LIST_NULL, ROPE2D_ERROR_NULL, "params.lists[1] is NULL"},
    {LIST_NAN, ROPE2D_ERROR_COORDINATE, "params.lists[1][1], axis 1, is nan"},
    {LIST_ALONE, ROPE2D_ERROR_ROW, "params.lists[1] is set, with list_counts 2; params.rows point into 0"},
    {LIST_PAST, ROPE2D_ERROR_ROW, "params.lists[2] is set, with list_counts 0; params.rows point into 2"},
    {LIST_COUNT_PAST, ROPE2D_ERROR_ROW, "params.lists[3] is set, with list_counts 7"},
    {MAGNITUDES_AND_ROWS, ROPE2D_ERROR_MAGNITUDE, "params.magnitudes is given with params.rows"},
    {MAGNITUDE_NAN, ROPE2D_ERROR_MAGNITUDE, "params.magnitudes[0][1][2] is nan"},
    {MAGNITUDE_ZERO, ROPE2D_ERROR_MAGNITUDE, "params.magnitudes[0][1][1] is 0"},
    {MAGNITUDE_LARGE, ROPE2D_ERROR_MAGNITUDE, "params.magnitudes[0][0][1] is 3e+38"},
    {SPEC_MAGNITUDE, ROPE2D_ERROR_MAGNITUDE, "spec.magnitude is 1.4"},
    {ANGLE, ROPE2D_ERROR_COORDINATE, "params.coordinates: 3e+38 on axis 1"},
};

static void test_refusals(void) {
    struct fake_device fake;
    fake_device_init(&fake);
    rope2d_positions *positions;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        rope2d_spec spec = small_spec(small_axial_freqs);
        rope2d_positions_params params = small_params(&spec, 2, spoilt[0]);
        spoil(&params, &spec, refusals[i].what);
        uint32_t lines = fake.lines;
        positions = (rope2d_positions *)&fake;
        rope2d_status status = rope2d_positions_create(&fake.device, &params, &positions);
        bool good = status == refusals[i].status && fake_device_logged(&fake, lines, refusals[i].field) &&
                    positions == NULL && fake.live == 0 && fake.created == 0;
        CHECK(good, "%s", refusals[i].field);
        if (!good)
            printf("     %s, \"%s\"\n", rope2d_status_name(status), fake.line);
    }
    rope2d_spec spec = small_spec(small_axial_freqs);
    rope2d_positions_params params = small_params(&spec, 2, spoilt[0]);
    CHECK(rope2d_positions_create(NULL, &params, &positions) == ROPE2D_ERROR_NULL && positions == NULL,
          "no device");
    CHECK(rope2d_positions_create(&fake.device, NULL, &positions) == ROPE2D_ERROR_NULL && positions == NULL,
          "no params");
    CHECK(rope2d_positions_create(&fake.device, &params, NULL) == ROPE2D_ERROR_NULL, "no result");
    fake.at_create = ROPE2D_ERROR_DEVICE_MEMORY;
    uint32_t destroyed = fake.destroyed;
    CHECK(rope2d_positions_create(&fake.device, &params, &positions) == ROPE2D_ERROR_DEVICE_MEMORY &&
              positions == NULL && fake.destroyed == destroyed + 1 && fake.live == 0,
          "a backend that fails");
    rope2d_positions_destroy(NULL);
}

// Every request for memory fails once.
static void memory_case(const rope2d_positions_params *params, const char *name) {
    struct fake_device fake;
    fake_device_init(&fake);
    bool good = true;
    for (fake.fail_at = 1;; fake.fail_at++) {
        rope2d_positions *positions;
        fake.requests = 0;
        uint32_t lines = fake.lines;
        rope2d_status status = rope2d_positions_create(&fake.device, params, &positions);
        rope2d_positions_destroy(positions);
        good = good && fake.live == 0 && fake.faults == 0;
        if (status == ROPE2D_OK)
            break;
        good = good && status == ROPE2D_ERROR_HOST_MEMORY && fake.lines == lines + 1;
    }
    CHECK(good && fake.fail_at > 10, "%s", name);
}

static void test_memory(void) {
    static float coordinates[100][2];
    for (int i = 0; i < 100; i++)
        coordinates[i][0] = coordinates[i][1] = (float)i;
    static float magnitudes[100][4];
    rope2d_spec spec = small_spec(small_axial_freqs);
    rope2d_spec mixed = small_spec(small_dense_freqs);
    rope2d_positions_params params = small_params(&spec, 100, coordinates[0]);
    memory_case(&params, "axial positions without memory");
    params.magnitudes = magnitudes[0];
    memory_case(&params, "positions with magnitudes without memory");
    params = small_params(&mixed, 100, coordinates[0]);
    memory_case(&params, "dense positions without memory");
}

int main(void) {
    test_refusals();
    test_memory();
    return check_finish();
}
