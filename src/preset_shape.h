// SPDX-License-Identifier: MIT
//
// A row of the table of presets with the caller's numbers in it.
#ifndef ROPE2D_PRESET_SHAPE_H
#define ROPE2D_PRESET_SHAPE_H

#include "internal.h"
#include "presets.h"

typedef struct preset_shape {
    const preset_row *row;
    uint32_t head_dim, rotary, axes;
    uint32_t pairs;                       // of a head
    uint32_t heads;                       // in the array of frequencies, at least 1
    uint32_t all_pairs;                   // over which the law runs: of a head, or of all heads
    uint32_t axis_pairs[ROPE2D_MAX_AXES]; // of all_pairs
    double base, min_period, max_period;
    bool is_fp32;
    rope2d_scaling scaling[ROPE2D_MAX_AXES]; // defaults filled in
} preset_shape;

// Refuses what the row cannot be given.
rope2d_status rope2d_preset_shape(const rope2d_preset_params *params, const rope2d_host *host,
                                  preset_shape *shape);

// The axis that turns pair `pair` of all_pairs, or the number of axes when none does, and the pair's number
// within that axis. Not for dense rows.
uint32_t rope2d_preset_axis(const preset_shape *shape, uint32_t pair, uint32_t *number);

// Fills [axes][heads][pairs]; hi, for rows with two angles, too. Not for learned rows. The caller has set the
// floating-point control word.
void rope2d_preset_frequencies(const preset_shape *shape, float *freqs, float *freqs_hi);

struct rope2d_preset {
    rope2d_host host; // resolved
    preset_shape shape;
    rope2d_spec spec;
    float *freqs;    // [axes][heads][pairs]
    float *freqs_hi; // the same, or NULL
};

#endif
