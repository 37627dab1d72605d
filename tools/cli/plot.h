// SPDX-License-Identifier: MIT
//
// The numbers behind the pictures, as JSON.
#ifndef ROPE2D_CLI_PLOT_H
#define ROPE2D_CLI_PLOT_H

#include <cjson/cJSON.h>
#include <stdint.h>

#include "options.h"
#include "rope2d/rope2d_presets.h"

// What the user asks for.
struct plot_request {
    const char *preset;     // NULL: the picture's own
    uint32_t rows, columns; // of the grid
    uint32_t token[2];      // row, column
};

extern const char *const plot_kinds[]; // "angles", ..., NULL

// Adds the data of a kind to the object. Returns an exit status, and says on stderr what is wrong.
int plot_fill(int kind, const struct plot_request *request, cJSON *object);

// Reads KIND... and the options that plot and plot-data share; an array of objects in *data, which belongs to
// the caller, and is NULL when there is nothing to do. With `folder` and `format` NULL there are no such
// options. Returns an exit status.
int plot_parse(const struct verb *verb, int argc, char **argv, const char **folder, int *format,
               cJSON **data);

// A preset, opened to be drawn. All zero is none.
struct plot_preset {
    rope2d_preset *preset;
    rope2d_preset_info info;
    rope2d_spec spec;
    uint32_t axes, heads, pairs;
};

// Learned frequencies are all 1: what turns with which axis, but not by how much. Returns an exit status.
int plot_preset_open(const char *name, struct plot_preset *opened);
void plot_preset_close(struct plot_preset *opened);

// Why a preset alone gives an image no angles; NULL when it does.
const char *plot_preset_obstacle(const struct plot_preset *opened);

// Coordinates [rows][columns][axes] of an image, row by row, or with one axis of a line of rows * columns
// tokens. A model that merges patches gives as many tokens as are asked for. NULL when that fails, which is
// said.
float *plot_preset_grid(const struct plot_preset *opened, uint32_t rows, uint32_t columns);

// The axes that turn a pair of head 0 as letters, at most ROPE2D_MAX_AXES and a 0.
void plot_pair_axes(const struct plot_preset *opened, uint32_t pair, char *letters);

// The angle of a pair of head 0, in radians.
double plot_angle(const rope2d_spec *spec, const float *coordinates, uint32_t pair);

// Rotates a probe - 1 in every rotated channel - to each of `tokens` places, and multiplies it with the probe
// at the first: scores[tokens], 1 for no turn, the mean cosine of the pairs. Returns an exit status.
int plot_scores(const rope2d_spec *spec, const float *coordinates, uint32_t tokens, double *scores);

#endif
