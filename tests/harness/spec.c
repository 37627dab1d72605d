// SPDX-License-Identifier: MIT
#include "work.h"

#include <stdlib.h>
#include <string.h>

static uint32_t pairs_of(const struct harness_structure *s, uint32_t rotary_dim) {
    return s->pairing == ROPE2D_PAIRING_EXPLICIT ? s->pairs : rotary_dim / 2;
}

static void pair_segments(struct harness_spec *spec, const struct harness_structure *s) {
    uint32_t begin = s->rotary_begin;
    uint32_t pair = 0;
    for (uint32_t axis = 0; axis < s->axes; axis++) {
        uint32_t length = s->segment_pairs[0] != 0 ? s->segment_pairs[axis] : spec->pairs / s->axes;
        for (uint32_t i = 0; i < length; i++, pair++) {
            spec->lo[pair] = begin + i;
            spec->hi[pair] = begin + length + i;
        }
        begin += 2 * length;
    }
}

// The same from a spec that exists. Its numbers are taken as they are; the pairs are still made here.
static struct harness_structure structure_from(const struct harness_structure *s) {
    struct harness_structure made = *s;
    if (s->spec == NULL)
        return made;
    made.head_dim = s->spec->head_dim;
    made.rotary_begin = s->spec->rotary_begin;
    made.rotary_dim = s->spec->rotary_dim;
    made.axes = s->spec->axes;
    made.pairing = s->spec->pairing;
    memcpy(made.segment_pairs, s->spec->segment_pairs, sizeof(made.segment_pairs));
    made.pairs = s->spec->pairs;
    made.freq_heads = s->spec->freq_heads;
    made.two_angles = s->spec->freqs_hi != NULL;
    made.factored = (int)s->spec->factored;
    return made;
}

static void pair_channels(struct harness_spec *spec, const struct harness_structure *s) {
    if (s->pairing == ROPE2D_PAIRING_SEGMENT_HALF) {
        pair_segments(spec, s);
        return;
    }
    for (uint32_t i = 0; i < spec->pairs; i++) {
        spec->lo[i] = s->rotary_begin + (s->pairing == ROPE2D_PAIRING_HALF ? i : 2 * i);
        spec->hi[i] = s->rotary_begin + (s->pairing == ROPE2D_PAIRING_HALF ? i + spec->pairs : 2 * i + 1);
        if (s->pairing == ROPE2D_PAIRING_EXPLICIT && s->spec != NULL) {
            spec->lo[i] = s->spec->pair_lo[i];
            spec->hi[i] = s->spec->pair_hi[i];
        } else if (s->pairing == ROPE2D_PAIRING_EXPLICIT) {
            spec->lo[i] = (2 * i * s->step + 1) % s->head_dim;
            spec->hi[i] = ((2 * i + 1) * s->step + 1) % s->head_dim;
        }
    }
}

static uint32_t axis_in_runs(const struct harness_structure *s, uint32_t pairs, uint32_t pair) {
    if (s->segment_pairs[0] == 0)
        return pair * s->axes / pairs;
    uint32_t axis = 0;
    for (uint32_t end = s->segment_pairs[0]; pair >= end; end += s->segment_pairs[axis])
        axis++;
    return axis;
}

static bool turns(const struct harness_structure *s, uint32_t pairs, uint32_t axis, uint32_t pair) {
    switch (s->frequencies) {
    case HARNESS_AXES_IN_RUNS:
        return axis_in_runs(s, pairs, pair) == axis;
    case HARNESS_SPARSE:
        return pair % 3 != 2 && pair % s->axes == axis;
    case HARNESS_AXES_IN_TURN:
        return pair % s->axes == axis;
    case HARNESS_DENSE:
        break;
    }
    return true;
}

// Falling from 1 as models' do, some negative, each axis, head and angle with values of its own. Double's
// four operations give the same numbers on every machine.
static void fill_frequencies(struct harness_spec *spec, const struct harness_structure *s) {
    uint32_t heads = spec->spec.freq_heads;
    float *at = spec->freqs;
    for (uint32_t table = 0; table < (s->two_angles ? 2u : 1u); table++)
        for (uint32_t axis = 0; axis < s->axes; axis++)
            for (uint32_t head = 0; head < heads; head++) {
                double falling = (1 + 0.125 * head) * (1 - 0.1875 * axis) * (table == 0 ? 1.0 : 0.6);
                for (uint32_t pair = 0; pair < spec->pairs; pair++, at++) {
                    double value = pair % 5 == 4 ? -falling : falling;
                    *at = turns(s, spec->pairs, axis, pair) ? (float)value : 0.0f;
                    falling *= 0.82;
                }
            }
}

bool harness_spec_make(struct harness_spec *spec, const struct harness_structure *structure) {
    const struct harness_structure made = structure_from(structure), *s = &made;
    uint32_t rotary_dim = s->rotary_dim != 0 ? s->rotary_dim : s->head_dim - s->rotary_begin;
    uint32_t heads = s->freq_heads != 0 ? s->freq_heads : 1;
    memset(spec, 0, sizeof(*spec));
    spec->pairs = pairs_of(s, rotary_dim);
    size_t columns = (size_t)s->axes * heads * spec->pairs;
    spec->lo = calloc(spec->pairs + 1, sizeof(*spec->lo));
    spec->hi = calloc(spec->pairs + 1, sizeof(*spec->hi));
    spec->freqs = calloc(2 * columns + 1, sizeof(*spec->freqs));
    if (spec->lo == NULL || spec->hi == NULL || spec->freqs == NULL) {
        harness_spec_free(spec);
        return false;
    }
    spec->spec = (rope2d_spec){.struct_size = sizeof(spec->spec),
                               .head_dim = s->head_dim,
                               .rotary_begin = s->rotary_begin,
                               .rotary_dim = s->rotary_dim,
                               .axes = s->axes,
                               .pairing = s->pairing,
                               .freq_heads = heads,
                               .freqs = spec->freqs,
                               .freqs_hi = s->two_angles ? spec->freqs + columns : NULL,
                               .factored = s->factored ? 1 : 0};
    memcpy(spec->spec.segment_pairs, s->segment_pairs, sizeof(s->segment_pairs));
    if (s->pairing == ROPE2D_PAIRING_EXPLICIT) {
        spec->spec.pairs = spec->pairs;
        spec->spec.pair_lo = spec->lo;
        spec->spec.pair_hi = spec->hi;
    }
    pair_channels(spec, s);
    if (s->spec == NULL) {
        fill_frequencies(spec, s);
        return true;
    }
    memcpy(spec->freqs, s->spec->freqs, columns * sizeof(*spec->freqs));
    if (s->two_angles)
        memcpy(spec->freqs + columns, s->spec->freqs_hi, columns * sizeof(*spec->freqs));
    spec->spec.magnitude = s->spec->magnitude;
    spec->spec.direction = s->spec->direction;
    spec->spec.angles = s->spec->angles;
    return true;
}

void harness_spec_free(struct harness_spec *spec) {
    free(spec->freqs);
    free(spec->hi);
    free(spec->lo);
    memset(spec, 0, sizeof(*spec));
}
