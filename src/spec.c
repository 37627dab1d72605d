// SPDX-License-Identifier: MIT
//
// Checks a spec and takes its structure: which channels pair up, and which row number turns each pair.
#include "spec.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// What the kernels' 32-bit indices can reach.
#define MAX_ENTRIES UINT64_C(0x7fffffff)

uint32_t rope2d_spec_freq_heads(const rope2d_spec *spec) {
    return spec->freq_heads == 0 ? 1 : spec->freq_heads;
}

uint32_t rope2d_spec_count_pairs(const rope2d_spec *spec) {
    if (spec->pairing == ROPE2D_PAIRING_EXPLICIT)
        return spec->pairs;
    uint32_t rotated = spec->rotary_dim == 0 ? spec->head_dim - spec->rotary_begin : spec->rotary_dim;
    return rotated / 2;
}

static rope2d_status check_enum(const rope2d_host *host, const char *field, int value, int count) {
    if (value >= 0 && value < count)
        return ROPE2D_OK;
    return rope2d_fail(host, ROPE2D_ERROR_ENUM, "spec.%s is %d; the last known is %d", field, value,
                       count - 1);
}

// What another pairing would read: a caller who sets it means that pairing.
static rope2d_status check_unused(const rope2d_spec *spec, const rope2d_host *host) {
    const bool has_segments = spec->pairing == ROPE2D_PAIRING_SEGMENT_HALF;
    if (spec->pairing != ROPE2D_PAIRING_EXPLICIT && (spec->pair_lo != NULL || spec->pair_hi != NULL))
        return rope2d_fail(host, ROPE2D_ERROR_PAIRING,
                           "spec.%s is set; spec.pairing is %d, and only ROPE2D_PAIRING_EXPLICIT, %d, has it",
                           spec->pair_lo != NULL ? "pair_lo" : "pair_hi", (int)spec->pairing,
                           (int)ROPE2D_PAIRING_EXPLICIT);
    for (uint32_t a = has_segments ? spec->axes : 0; a < ROPE2D_MAX_AXES; a++) {
        if (spec->segment_pairs[a] != 0)
            return rope2d_fail(host, ROPE2D_ERROR_PAIRING,
                               "spec.segment_pairs[%" PRIu32 "] is %" PRIu32 "; spec.pairing %d with %" PRIu32
                               " axes has %" PRIu32 " segments",
                               a, spec->segment_pairs[a], (int)spec->pairing, spec->axes,
                               has_segments ? spec->axes : 0);
    }
    return ROPE2D_OK;
}

static rope2d_status check_range(const rope2d_spec *spec, const rope2d_host *host) {
    if (spec->rotary_begin >= spec->head_dim)
        return rope2d_fail(host, ROPE2D_ERROR_ROTARY_RANGE,
                           "spec.rotary_begin is %" PRIu32 "; head_dim is %" PRIu32, spec->rotary_begin,
                           spec->head_dim);
    uint32_t rest = spec->head_dim - spec->rotary_begin;
    if (spec->rotary_dim > rest)
        return rope2d_fail(host, ROPE2D_ERROR_ROTARY_RANGE,
                           "spec.rotary_dim is %" PRIu32 "; from rotary_begin %" PRIu32
                           " to head_dim %" PRIu32 " there are %" PRIu32 " channels",
                           spec->rotary_dim, spec->rotary_begin, spec->head_dim, rest);
    uint32_t rotated = spec->rotary_dim == 0 ? rest : spec->rotary_dim;
    if (rotated % 2 != 0)
        return rope2d_fail(host, ROPE2D_ERROR_ROTARY_ODD,
                           "spec.rotary_dim is %" PRIu32 ": %" PRIu32
                           " rotated channels are odd in number, and must be even",
                           spec->rotary_dim, rotated);
    if (spec->pairs != 0 && spec->pairs != rotated / 2)
        return rope2d_fail(host, ROPE2D_ERROR_PAIRING,
                           "spec.pairs is %" PRIu32 "; %" PRIu32 " rotated channels make %" PRIu32,
                           spec->pairs, rotated, rotated / 2);
    return ROPE2D_OK;
}

static bool segments_are_equal(const rope2d_spec *spec) {
    for (uint32_t a = 0; a < spec->axes; a++) {
        if (spec->segment_pairs[a] != 0)
            return false;
    }
    return true;
}

static uint32_t segment_pairs(const rope2d_spec *spec, uint32_t axis) {
    return segments_are_equal(spec) ? rope2d_spec_count_pairs(spec) / spec->axes : spec->segment_pairs[axis];
}

static rope2d_status check_segments(const rope2d_spec *spec, const rope2d_host *host) {
    uint32_t pairs = rope2d_spec_count_pairs(spec);
    if (segments_are_equal(spec)) {
        if (pairs % spec->axes == 0)
            return ROPE2D_OK;
        return rope2d_fail(host, ROPE2D_ERROR_PAIRING,
                           "spec.segment_pairs is all 0, but %" PRIu32 " pairs have no %" PRIu32
                           " equal segments",
                           pairs, spec->axes);
    }
    uint64_t sum = 0;
    for (uint32_t a = 0; a < spec->axes; a++)
        sum += spec->segment_pairs[a];
    if (sum != pairs)
        return rope2d_fail(host, ROPE2D_ERROR_PAIRING,
                           "spec.segment_pairs sums to %" PRIu64 "; there are %" PRIu32 " pairs", sum, pairs);
    return ROPE2D_OK;
}

static rope2d_status check_channel(const rope2d_spec *spec, const rope2d_host *host, const char *field,
                                   uint32_t pair, uint32_t channel, uint8_t *used) {
    if (channel >= spec->head_dim)
        return rope2d_fail(host, ROPE2D_ERROR_PAIRING,
                           "spec.%s[%" PRIu32 "] is %" PRIu32 "; head_dim is %" PRIu32, field, pair, channel,
                           spec->head_dim);
    if (used[channel])
        return rope2d_fail(host, ROPE2D_ERROR_PAIRING,
                           "spec.%s[%" PRIu32 "] is %" PRIu32 ", a channel used before; the limit is one use",
                           field, pair, channel);
    used[channel] = 1;
    return ROPE2D_OK;
}

static rope2d_status check_explicit(const rope2d_spec *spec, const rope2d_host *host) {
    if (spec->pairs > spec->head_dim / 2)
        return rope2d_fail(host, ROPE2D_ERROR_PAIRING,
                           "spec.pairs is %" PRIu32 "; head_dim %" PRIu32 " has room for %" PRIu32,
                           spec->pairs, spec->head_dim, spec->head_dim / 2);
    if (spec->pairs == 0)
        return ROPE2D_OK;
    if (spec->pair_lo == NULL || spec->pair_hi == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "spec.%s is NULL; spec.pairs is %" PRIu32,
                           spec->pair_lo == NULL ? "pair_lo" : "pair_hi", spec->pairs);
    uint8_t used[ROPE2D_MAX_HEAD_DIM] = {0};
    for (uint32_t i = 0; i < spec->pairs; i++) {
        ROPE2D_TRY(check_channel(spec, host, "pair_lo", i, spec->pair_lo[i], used));
        ROPE2D_TRY(check_channel(spec, host, "pair_hi", i, spec->pair_hi[i], used));
    }
    return ROPE2D_OK;
}

static rope2d_status check_freqs(const rope2d_spec *spec, const rope2d_host *host, const char *field,
                                 const float *freqs) {
    uint32_t heads = rope2d_spec_freq_heads(spec);
    uint32_t pairs = rope2d_spec_count_pairs(spec);
    uint64_t at = 0;
    for (uint32_t a = 0; a < spec->axes; a++) {
        for (uint32_t h = 0; h < heads; h++) {
            for (uint32_t i = 0; i < pairs; i++, at++) {
                if (!isfinite(freqs[at]))
                    return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY,
                                       "spec.%s[%" PRIu32 "][%" PRIu32 "][%" PRIu32
                                       "] is %f; it must be finite",
                                       field, a, h, i, (double)freqs[at]);
            }
        }
    }
    return ROPE2D_OK;
}

static rope2d_status check_numbers(const rope2d_spec *spec, const rope2d_host *host) {
    uint32_t pairs = rope2d_spec_count_pairs(spec);
    uint32_t angles = spec->freqs_hi == NULL ? 1 : 2;
    uint64_t factors = spec->factored ? spec->axes : 1;
    uint64_t columns = factors * rope2d_spec_freq_heads(spec) * pairs * angles;
    if (columns > MAX_ENTRIES)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT,
                           "spec.freq_heads is %" PRIu32 ": %" PRIu64
                           " (cos, sin) in a row; the limit is %" PRIu64,
                           spec->freq_heads, columns, MAX_ENTRIES);
    if (pairs > 0 && spec->freqs == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_FREQUENCY, "spec.freqs is NULL; there are %" PRIu32 " pairs",
                           pairs);
    if (pairs > 0)
        ROPE2D_TRY(check_freqs(spec, host, "freqs", spec->freqs));
    if (pairs > 0 && spec->freqs_hi != NULL)
        ROPE2D_TRY(check_freqs(spec, host, "freqs_hi", spec->freqs_hi));
    if (!isfinite(spec->magnitude))
        return rope2d_fail(host, ROPE2D_ERROR_MAGNITUDE, "spec.magnitude is %f; it must be finite",
                           (double)spec->magnitude);
    if (spec->direction == ROPE2D_INVERSE && spec->freqs_hi != NULL)
        return rope2d_fail(
            host, ROPE2D_ERROR_DIRECTION,
            "spec.direction is ROPE2D_INVERSE; with freqs_hi, two angles to a pair, there is none");
    if (spec->factored > 1)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "spec.factored is %" PRIu32 "; it is 0 or 1",
                           spec->factored);
    if (spec->factored && spec->direction == ROPE2D_TRANSPOSE && spec->freqs_hi != NULL)
        return rope2d_fail(
            host, ROPE2D_ERROR_DIRECTION,
            "spec.direction is ROPE2D_TRANSPOSE; with freqs_hi, two angles to a pair, it has no "
            "factors, and spec.factored is 1");
    return ROPE2D_OK;
}

// Everything but memory.
static rope2d_status check(const rope2d_spec *spec, const rope2d_host *host) {
    if (spec == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "spec is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(host, "spec", spec->struct_size, sizeof(*spec)));
    ROPE2D_TRY(check_enum(host, "pairing", (int)spec->pairing, ROPE2D_PAIRING_COUNT));
    ROPE2D_TRY(check_enum(host, "direction", (int)spec->direction, ROPE2D_DIRECTION_COUNT));
    ROPE2D_TRY(check_enum(host, "angles", (int)spec->angles, ROPE2D_ANGLES_COUNT));
    if (spec->head_dim == 0 || spec->head_dim > ROPE2D_MAX_HEAD_DIM)
        return rope2d_fail(host, ROPE2D_ERROR_HEAD_DIM,
                           "spec.head_dim is %" PRIu32 "; the limits are 1 and %d", spec->head_dim,
                           ROPE2D_MAX_HEAD_DIM);
    if (spec->axes == 0 || spec->axes > ROPE2D_MAX_AXES)
        return rope2d_fail(host, ROPE2D_ERROR_AXES, "spec.axes is %" PRIu32 "; the limits are 1 and %d",
                           spec->axes, ROPE2D_MAX_AXES);
    ROPE2D_TRY(check_unused(spec, host));
    if (spec->pairing == ROPE2D_PAIRING_EXPLICIT)
        ROPE2D_TRY(check_explicit(spec, host));
    else
        ROPE2D_TRY(check_range(spec, host));
    if (spec->pairing == ROPE2D_PAIRING_SEGMENT_HALF)
        ROPE2D_TRY(check_segments(spec, host));
    return check_numbers(spec, host);
}

// By its bits: to a caller who treats subnormals as zeros a comparison would answer otherwise.
static bool is_zero(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return (bits & 0x7fffffffu) == 0;
}

static bool turns(const float *freqs, uint32_t heads, uint32_t pairs, uint32_t axis, uint32_t pair) {
    for (uint32_t h = 0; freqs != NULL && h < heads; h++) {
        if (!is_zero(freqs[((uint64_t)axis * heads + h) * pairs + pair]))
            return true;
    }
    return false;
}

// How many axes turn a pair, in any head and either table; *last is the last of them.
static uint32_t turning_axes(const rope2d_spec *spec, uint32_t pair, uint8_t *last) {
    uint32_t heads = rope2d_spec_freq_heads(spec);
    uint32_t pairs = rope2d_spec_count_pairs(spec);
    uint32_t count = 0;
    *last = 0;
    for (uint32_t a = 0; a < spec->axes; a++) {
        if (turns(spec->freqs, heads, pairs, a, pair) || turns(spec->freqs_hi, heads, pairs, a, pair)) {
            *last = (uint8_t)a;
            count++;
        }
    }
    return count;
}

static bool is_axial(const rope2d_spec *spec) {
    uint32_t pairs = rope2d_spec_count_pairs(spec);
    for (uint32_t i = 0; i < pairs; i++) {
        uint8_t axis;
        if (turning_axes(spec, i, &axis) > 1)
            return false;
    }
    return true;
}

static void segment_channels(rope2d_pattern *pattern, const rope2d_spec *spec) {
    uint32_t pair = 0;
    uint32_t channel = spec->rotary_begin;
    for (uint32_t a = 0; a < spec->axes; a++) {
        uint32_t count = segment_pairs(spec, a);
        for (uint32_t i = 0; i < count; i++, pair++) {
            pattern->lo[pair] = (uint16_t)(channel + i);
            pattern->hi[pair] = (uint16_t)(channel + count + i);
        }
        channel += 2 * count;
    }
}

static void fill_channels(rope2d_pattern *pattern, const rope2d_spec *spec) {
    if (spec->pairing == ROPE2D_PAIRING_SEGMENT_HALF) {
        segment_channels(pattern, spec);
        return;
    }
    for (uint32_t i = 0; i < pattern->pairs; i++) {
        uint32_t lo = spec->rotary_begin + i;
        uint32_t hi = lo + pattern->pairs;
        if (spec->pairing == ROPE2D_PAIRING_INTERLEAVED) {
            lo = spec->rotary_begin + 2 * i;
            hi = lo + 1;
        } else if (spec->pairing == ROPE2D_PAIRING_EXPLICIT) {
            lo = spec->pair_lo[i];
            hi = spec->pair_hi[i];
        }
        pattern->lo[i] = (uint16_t)lo;
        pattern->hi[i] = (uint16_t)hi;
    }
}

rope2d_status rope2d_pattern_create(rope2d_pattern *pattern, const rope2d_spec *spec,
                                    const rope2d_host *host) {
    memset(pattern, 0, sizeof(*pattern));
    ROPE2D_TRY(check(spec, host));
    pattern->head_dim = spec->head_dim;
    pattern->pairs = rope2d_spec_count_pairs(spec);
    pattern->axes = spec->axes;
    pattern->factors = spec->factored ? spec->axes : 0;
    pattern->is_axial = spec->factored || is_axial(spec);
    pattern->row_axes = pattern->is_axial ? spec->axes : 1;
    pattern->freq_heads = rope2d_spec_freq_heads(spec);
    pattern->angles = spec->freqs_hi == NULL ? 1 : 2;
    uint32_t pairs = pattern->pairs;
    if (pairs > 0) {
        pattern->lo = rope2d_allocate(host, pairs, sizeof(*pattern->lo));
        pattern->hi = rope2d_allocate(host, pairs, sizeof(*pattern->hi));
        pattern->axis = rope2d_allocate(host, pairs, sizeof(*pattern->axis));
        if (pattern->lo == NULL || pattern->hi == NULL || pattern->axis == NULL)
            return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for the %" PRIu32 " pairs of spec",
                               pairs);
        fill_channels(pattern, spec);
    }
    for (uint32_t i = 0; pattern->is_axial && pattern->factors == 0 && i < pairs; i++)
        (void)turning_axes(spec, i, &pattern->axis[i]);
    return rope2d_units_create(pattern, host);
}

void rope2d_pattern_destroy(rope2d_pattern *pattern, const rope2d_host *host) {
    rope2d_units_destroy(pattern, host);
    rope2d_release(host, pattern->lo, pattern->pairs, sizeof(*pattern->lo));
    rope2d_release(host, pattern->hi, pattern->pairs, sizeof(*pattern->hi));
    rope2d_release(host, pattern->axis, pattern->pairs, sizeof(*pattern->axis));
    memset(pattern, 0, sizeof(*pattern));
}

bool rope2d_pattern_equal(const rope2d_pattern *a, const rope2d_pattern *b) {
    if (a->head_dim != b->head_dim || a->pairs != b->pairs || a->axes != b->axes ||
        a->row_axes != b->row_axes || a->freq_heads != b->freq_heads || a->angles != b->angles ||
        a->factors != b->factors || a->is_axial != b->is_axial)
        return false;
    return a->pairs == 0 || (memcmp(a->lo, b->lo, a->pairs * sizeof(*a->lo)) == 0 &&
                             memcmp(a->hi, b->hi, a->pairs * sizeof(*a->hi)) == 0 &&
                             memcmp(a->axis, b->axis, a->pairs * sizeof(*a->axis)) == 0);
}

rope2d_status rope2d_spec_check(const rope2d_spec *spec, const rope2d_host *host) {
    ROPE2D_TRY(rope2d_host_check(host));
    return check(spec, host);
}

uint32_t rope2d_spec_pairs(const rope2d_spec *spec) {
    return check(spec, NULL) == ROPE2D_OK ? rope2d_spec_count_pairs(spec) : 0;
}

uint32_t rope2d_spec_is_axial(const rope2d_spec *spec) {
    return check(spec, NULL) == ROPE2D_OK && (spec->factored || is_axial(spec)) ? 1 : 0;
}
