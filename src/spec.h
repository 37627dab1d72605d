// SPDX-License-Identifier: MIT
//
// What the files that read a spec share.
#ifndef ROPE2D_SPEC_H
#define ROPE2D_SPEC_H

#include "internal.h"

// Of a spec that has been checked.
uint32_t rope2d_spec_freq_heads(const rope2d_spec *spec);
uint32_t rope2d_spec_count_pairs(const rope2d_spec *spec);

// units.c: lists the units of a pattern whose pairs are there.
rope2d_status rope2d_units_create(rope2d_pattern *pattern, const rope2d_host *host);
void rope2d_units_destroy(rope2d_pattern *pattern, const rope2d_host *host);

// Those of shaders/shape.h that its units have in common.
uint32_t rope2d_pattern_flags(const rope2d_pattern *pattern);

// vectors.c: vector units of a kind; none where they do not cover the head, or nobody would take them.
// `rotated` tells for each channel whether a pair has it.
rope2d_status rope2d_vector_units_create(rope2d_units *units, const rope2d_pattern *pattern,
                                         const uint8_t *rotated, rope2d_vector_kind kind,
                                         const rope2d_host *host);
void rope2d_vector_units_destroy(rope2d_units *units, const rope2d_host *host);

#endif
