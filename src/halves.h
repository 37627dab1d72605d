// SPDX-License-Identifier: MIT
#ifndef ROPE2D_HALVES_H
#define ROPE2D_HALVES_H

#include <stdbool.h>
#include <stdint.h>

#define ROPE2D_HALVES 65536u
#define ROPE2D_EDGES  16u // of a half

// The bits of the fp32 numbers at whose narrowing a conversion is judged, those of one half: over all halves
// ties and their neighbours of both signs, subnormals, the edge of infinity, zeros and NaNs.
void rope2d_half_edges(uint32_t half, uint32_t *numbers);

// How many results of a device are not the portable path's, by their bits: what these edges became, and what
// the half became.
uint32_t rope2d_half_count_narrowed(uint32_t half, const uint16_t *narrowed);
uint32_t rope2d_half_count_widened(uint32_t half, const uint32_t *widened);

#endif
