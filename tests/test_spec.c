// SPDX-License-Identifier: MIT
// What a spec refuses, with which status and which words in the log.
#include "check.h"
#include "fake_device.h"
#include "small_params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint32_t some_lo[] = {0, 2, 4};
static const uint32_t some_hi[] = {1, 3, 5};
static const uint32_t twice_lo[] = {0, 2, 1};
static const uint32_t far_hi[] = {1, 3, 16};
static const uint32_t self_hi[] = {1, 2, 5};

enum spoil {
    NO_SIZE,
    LARGER_SIZE,
    BAD_PAIRING,
    NEGATIVE_PAIRING,
    BAD_DIRECTION,
    BAD_ANGLES,
    NO_HEAD_DIM,
    LARGE_HEAD_DIM,
    NO_AXES,
    MANY_AXES,
    BEGIN_PAST,
    RANGE_PAST,
    RANGE_WRAPS,
    RANGE_ODD,
    REST_ODD,
    PAIRS_DISAGREE,
    SEGMENTS_SUM,
    SEGMENTS_WRAP,
    SEGMENTS_UNEVEN,
    TOO_MANY_PAIRS,
    NO_LO,
    NO_HI,
    LO_TWICE,
    HI_FAR,
    LO_UNUSED,
    HI_UNUSED,
    SEGMENTS_UNUSED,
    SEGMENTS_PAST,
    LO_IS_HI,
    NO_FREQS,
    FREQ_NAN,
    FREQ_INFINITE,
    FREQ_HI_NAN,
    HEADS_HUGE,
    MAGNITUDE_NAN,
    MAGNITUDE_INFINITE,
    INVERSE_OF_TWO,
};

static void explicit_pairs(rope2d_spec *spec, const uint32_t *lo, const uint32_t *hi) {
    spec->pairing = ROPE2D_PAIRING_EXPLICIT;
    spec->pairs = 3;
    spec->pair_lo = lo;
    spec->pair_hi = hi;
}

static void spoil_range(rope2d_spec *spec, enum spoil what) {
    switch (what) {
    case BEGIN_PAST:
        spec->rotary_begin = 16;
        break;
    case RANGE_PAST:
        spec->rotary_dim = 18;
        break;
    case RANGE_WRAPS:
        spec->rotary_begin = 4;
        spec->rotary_dim = UINT32_MAX - 1;
        break;
    case RANGE_ODD:
        spec->rotary_dim = 7;
        break;
    case REST_ODD:
        spec->rotary_begin = 3;
        break;
    default:
        spec->pairs = 7;
        break;
    }
}

static void spoil_pairing(rope2d_spec *spec, enum spoil what) {
    switch (what) {
    case SEGMENTS_SUM:
        spec->pairing = ROPE2D_PAIRING_SEGMENT_HALF;
        spec->segment_pairs[0] = 7;
        break;
    case SEGMENTS_WRAP:
        spec->pairing = ROPE2D_PAIRING_SEGMENT_HALF;
        spec->segment_pairs[0] = UINT32_MAX;
        spec->segment_pairs[1] = 9;
        break;
    case SEGMENTS_UNEVEN:
        spec->pairing = ROPE2D_PAIRING_SEGMENT_HALF;
        spec->axes = 3;
        break;
    case TOO_MANY_PAIRS:
        explicit_pairs(spec, some_lo, some_hi);
        spec->pairs = 9;
        break;
    case NO_LO:
        explicit_pairs(spec, NULL, some_hi);
        break;
    case NO_HI:
        explicit_pairs(spec, some_lo, NULL);
        break;
    case LO_TWICE:
        explicit_pairs(spec, twice_lo, some_hi);
        break;
    case HI_FAR:
        explicit_pairs(spec, some_lo, far_hi);
        break;
    case LO_UNUSED:
        spec->pairing = ROPE2D_PAIRING_HALF;
        spec->pair_lo = some_lo;
        break;
    case HI_UNUSED:
        spec->pair_hi = some_hi;
        break;
    case SEGMENTS_UNUSED:
        spec->segment_pairs[1] = 8;
        break;
    case SEGMENTS_PAST:
        spec->pairing = ROPE2D_PAIRING_SEGMENT_HALF;
        spec->segment_pairs[0] = spec->segment_pairs[1] = 4;
        spec->segment_pairs[2] = 1;
        break;
    default:
        explicit_pairs(spec, some_lo, self_hi);
        break;
    }
}

static void spoil_numbers(rope2d_spec *spec, enum spoil what, float freqs[2][8]) {
    spec->freqs = freqs[0];
    switch (what) {
    case NO_FREQS:
        spec->freqs = NULL;
        break;
    case FREQ_NAN:
        freqs[1][2] = NAN;
        break;
    case FREQ_INFINITE:
        freqs[0][7] = -INFINITY;
        break;
    case FREQ_HI_NAN:
        spec->freqs = good_freqs[0];
        spec->freqs_hi = freqs[0];
        freqs[0][0] = NAN;
        break;
    case HEADS_HUGE:
        spec->freq_heads = UINT32_MAX;
        break;
    case MAGNITUDE_NAN:
        spec->magnitude = NAN;
        break;
    case MAGNITUDE_INFINITE:
        spec->magnitude = INFINITY;
        break;
    default:
        spec->freqs_hi = freqs[0];
        spec->direction = ROPE2D_INVERSE;
        break;
    }
}

static void spoil(rope2d_spec *spec, enum spoil what, float freqs[2][8]) {
    memcpy(freqs, good_freqs, sizeof(good_freqs));
    if (what == NO_SIZE)
        spec->struct_size = 0;
    else if (what == LARGER_SIZE)
        spec->struct_size += 8;
    else if (what == BAD_PAIRING)
        spec->pairing = ROPE2D_PAIRING_COUNT;
    else if (what == NEGATIVE_PAIRING)
        memset(&spec->pairing, 0xff, sizeof(spec->pairing));
    else if (what == BAD_DIRECTION)
        spec->direction = ROPE2D_DIRECTION_COUNT;
    else if (what == BAD_ANGLES)
        spec->angles = ROPE2D_ANGLES_COUNT;
    else if (what == NO_HEAD_DIM || what == LARGE_HEAD_DIM)
        spec->head_dim = what == NO_HEAD_DIM ? 0 : ROPE2D_MAX_HEAD_DIM + 2;
    else if (what == NO_AXES || what == MANY_AXES)
        spec->axes = what == NO_AXES ? 0 : 5;
    else if (what <= PAIRS_DISAGREE)
        spoil_range(spec, what);
    else if (what <= LO_IS_HI)
        spoil_pairing(spec, what);
    else
        spoil_numbers(spec, what, freqs);
}

static const struct {
    enum spoil what;
    rope2d_status status;
    const char *field;
} refusals[] = {
    {NO_SIZE, ROPE2D_ERROR_STRUCT_SIZE, "spec.struct_size is 0"},
    {LARGER_SIZE, ROPE2D_ERROR_STRUCT_SIZE, "spec.struct_size"},
    {BAD_PAIRING, ROPE2D_ERROR_ENUM, "spec.pairing is 4"},
    {NEGATIVE_PAIRING, ROPE2D_ERROR_ENUM, "spec.pairing"},
    {BAD_DIRECTION, ROPE2D_ERROR_ENUM, "spec.direction is 3"},
    {BAD_ANGLES, ROPE2D_ERROR_ENUM, "spec.angles is 2"},
    {NO_HEAD_DIM, ROPE2D_ERROR_HEAD_DIM, "spec.head_dim is 0"},
    {LARGE_HEAD_DIM, ROPE2D_ERROR_HEAD_DIM, "spec.head_dim is 4098"},
    {NO_AXES, ROPE2D_ERROR_AXES, "spec.axes is 0"},
    {MANY_AXES, ROPE2D_ERROR_AXES, "spec.axes is 5"},
    {BEGIN_PAST, ROPE2D_ERROR_ROTARY_RANGE, "spec.rotary_begin is 16"},
    {RANGE_PAST, ROPE2D_ERROR_ROTARY_RANGE, "spec.rotary_dim is 18"},
    {RANGE_WRAPS, ROPE2D_ERROR_ROTARY_RANGE, "spec.rotary_dim is 4294967294"},
    {RANGE_ODD, ROPE2D_ERROR_ROTARY_ODD, "spec.rotary_dim is 7"},
    {REST_ODD, ROPE2D_ERROR_ROTARY_ODD, "13 rotated channels are odd"},
    {PAIRS_DISAGREE, ROPE2D_ERROR_PAIRING, "spec.pairs is 7"},
    {SEGMENTS_SUM, ROPE2D_ERROR_PAIRING, "spec.segment_pairs sums to 7"},
    {SEGMENTS_WRAP, ROPE2D_ERROR_PAIRING, "spec.segment_pairs sums to 4294967304"},
    {SEGMENTS_UNEVEN, ROPE2D_ERROR_PAIRING, "spec.segment_pairs is all 0"},
    {TOO_MANY_PAIRS, ROPE2D_ERROR_PAIRING, "spec.pairs is 9"},
    {NO_LO, ROPE2D_ERROR_NULL, "spec.pair_lo is NULL"},
    {NO_HI, ROPE2D_ERROR_NULL, "spec.pair_hi is NULL"},
    {LO_TWICE, ROPE2D_ERROR_PAIRING, "spec.pair_lo[2] is 1"},
    {HI_FAR, ROPE2D_ERROR_PAIRING, "spec.pair_hi[2] is 16"},
    {LO_UNUSED, ROPE2D_ERROR_PAIRING, "spec.pair_lo is set; spec.pairing is 1"},
    {HI_UNUSED, ROPE2D_ERROR_PAIRING, "spec.pair_hi is set; spec.pairing is 0"},
    {SEGMENTS_UNUSED, ROPE2D_ERROR_PAIRING, "spec.segment_pairs[1] is 8; spec.pairing 0"},
    {SEGMENTS_PAST, ROPE2D_ERROR_PAIRING, "spec.segment_pairs[2] is 1; spec.pairing 2 with 2 axes"},
    {LO_IS_HI, ROPE2D_ERROR_PAIRING, "spec.pair_hi[1] is 2"},
    {NO_FREQS, ROPE2D_ERROR_FREQUENCY, "spec.freqs is NULL"},
    {FREQ_NAN, ROPE2D_ERROR_FREQUENCY, "spec.freqs[1][0][2] is nan"},
    {FREQ_INFINITE, ROPE2D_ERROR_FREQUENCY, "spec.freqs[0][0][7] is -inf"},
    {FREQ_HI_NAN, ROPE2D_ERROR_FREQUENCY, "spec.freqs_hi[0][0][0] is nan"},
    {HEADS_HUGE, ROPE2D_ERROR_LIMIT, "spec.freq_heads is 4294967295"},
    {MAGNITUDE_NAN, ROPE2D_ERROR_MAGNITUDE, "spec.magnitude is nan"},
    {MAGNITUDE_INFINITE, ROPE2D_ERROR_MAGNITUDE, "spec.magnitude is inf"},
    {INVERSE_OF_TWO, ROPE2D_ERROR_DIRECTION, "spec.direction"},
};

static void test_refusals(void) {
    struct fake_device fake;
    fake_device_init(&fake);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        float freqs[2][8];
        rope2d_spec spec = good_spec();
        spoil(&spec, refusals[i].what, freqs);
        uint32_t lines = fake.lines;
        rope2d_status status = rope2d_spec_check(&spec, &fake.device.host);
        bool good = status == refusals[i].status && fake_device_logged(&fake, lines, refusals[i].field) &&
                    rope2d_spec_pairs(&spec) == 0 && rope2d_spec_is_axial(&spec) == 0;
        rope2d_pattern pattern;
        good = good && rope2d_pattern_create(&pattern, &spec, &fake.device.host) == status;
        rope2d_pattern_destroy(&pattern, &fake.device.host);
        CHECK(good && fake.live == 0, "%s", refusals[i].field);
        if (!good)
            printf("     %s, \"%s\"\n", rope2d_status_name(status), fake.line);
    }
    rope2d_host bad_host = {.struct_size = 3};
    rope2d_spec spec = good_spec();
    CHECK(rope2d_spec_check(&spec, &bad_host) == ROPE2D_ERROR_STRUCT_SIZE, "host.struct_size");
    bad_host = fake.device.host;
    bad_host.release = NULL;
    uint32_t lines = fake.lines;
    CHECK(rope2d_spec_check(&spec, &bad_host) == ROPE2D_ERROR_NULL &&
              fake_device_logged(&fake, lines, "host.release is NULL"),
          "host.release");
    lines = fake.lines;
    CHECK(rope2d_spec_check(NULL, &fake.device.host) == ROPE2D_ERROR_NULL &&
              fake_device_logged(&fake, lines, "spec is NULL"),
          "spec is NULL");
    CHECK(rope2d_spec_check(&spec, NULL) == ROPE2D_OK && rope2d_spec_pairs(&spec) == 8, "a good spec");
    CHECK(rope2d_spec_pairs(NULL) == 0 && rope2d_spec_is_axial(NULL) == 0, "no spec");
}

int main(void) {
    test_refusals();
    return check_finish();
}
