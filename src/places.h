// SPDX-License-Identifier: MIT
//
// What the builders of coordinates share.
#ifndef ROPE2D_PLACES_H
#define ROPE2D_PLACES_H

#include "internal.h"
#include "rope2d/rope2d_presets.h"

// Refuses an axis whose numbers its rule cannot take. `name` stands in the log line.
rope2d_status rope2d_axis_check(const rope2d_axis *axis, const char *name, const rope2d_host *host);

// The coordinate of number i of n, before `origin` is added. The axis has been checked, and i < n.
double rope2d_axis_place(const rope2d_axis *axis, uint32_t i, uint32_t n, uint32_t rows, uint32_t columns);

// Number i of n from begin to end, both included, as torch.linspace computes them in fp32.
float rope2d_linspace_fp32(float begin, float end, uint32_t i, uint32_t n);

// Visits the tokens of one frame in order. `is_run_end` says that the token is the last of its run.
typedef void rope2d_visit(void *data, uint32_t row, uint32_t column, bool is_run_end);
void rope2d_visit_frame(const rope2d_segment *segment, rope2d_visit *visit, void *data);

// How many runs a frame has.
uint64_t rope2d_frame_runs(const rope2d_segment *segment);

#endif
