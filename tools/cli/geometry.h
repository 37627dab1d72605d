// SPDX-License-Identifier: MIT
//
// From what a user says of frequencies and places to the arrays that the library takes. What is returned is
// the caller's to free.
#ifndef ROPE2D_CLI_GEOMETRY_H
#define ROPE2D_CLI_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "npy.h"
#include "rope2d/rope2d.h"

// base^(-2 A j / R) for pair j of each axis, A axes, R = 2 * pairs rotated channels: [axes][1][pairs], axis a
// turning the a-th part of the pairs. With two axes that is base^(-4j/R), as most vision models have it.
// NULL when there is no memory.
float *frequencies_from_base(double base, uint32_t axes, uint32_t pairs);

// Integer coordinates [tokens][2] of a grid in raster order, (y, x) or with x_first (x, y), given in turn to
// the tokens outside the unrotated ranges, in which they are 0. NULL when there is no memory.
float *coordinates_of_grid(uint32_t height, uint32_t width, bool x_first, uint64_t tokens,
                           const rope2d_range *unrotated, uint32_t unrotated_count);

// The same for blocks of merge x merge patches one after another, each in raster order.
float *coordinates_of_merged_grid(uint32_t height, uint32_t width, uint32_t merge);

// Coordinates as fp32 from an array of fp32 or of integers. NULL when there is no memory or, which is said on
// stderr, when an integer is none of fp32's.
float *coordinates_from_array(const char *option, const char *path, const struct npy_array *array);

// Ranges from "0:1,197:200", ascending and apart. Returns an exit status.
int ranges_parse(const char *option, const char *text, uint64_t tokens, rope2d_range **ranges,
                 uint32_t *count);

// Tokens in no range.
uint64_t ranges_rest(const rope2d_range *ranges, uint32_t count, uint64_t tokens);

#endif
