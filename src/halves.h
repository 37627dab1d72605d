// SPDX-License-Identifier: MIT
#ifndef ROPE2D_HALVES_H
#define ROPE2D_HALVES_H

#include <stdbool.h>
#include <stdint.h>

#define ROPE2D_HALVES     (1u << 16)
#define ROPE2D_HALF_EDGES (1u << 20)

// The bits of the fp32 numbers at whose narrowing a conversion is judged, i below ROPE2D_HALF_EDGES: ties and
// their neighbours between all halves of both signs, subnormals, the edge of infinity, zeros and NaNs.
uint32_t rope2d_half_edge(uint32_t i);

// Whether a device's result is the portable path's, by its bits.
bool rope2d_half_is_narrowed(uint32_t number, uint16_t half);
bool rope2d_half_is_widened(uint16_t half, uint32_t number);

#endif
