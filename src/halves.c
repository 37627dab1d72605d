// SPDX-License-Identifier: MIT
//
// What a device's own conversions of f16 are held against before a kernel may use them: numbers at the edges
// between halves, and what the portable path makes of them.
#include "halves.h"

#define R_IN         (memory->in_type)
#define R_OUT        (memory->out_type)
#define R_WIDE       (memory->wide)
#define R_TWO_ANGLES (memory->two_angles)
#define R_FACTORED   (R_SHAPE(R_FACTORS) > 0)
#include "../shaders/prelude_c.h"

#include "../shaders/core.h"
#undef uint
#undef precise

#define EDGES 16 // of a half

// A half, halfway to the next, and what lies beside and between them.
static uint32_t find_edge(uint32_t half, uint32_t edge) {
    static const uint16_t normal[EDGES] = {0,      1,      2,      0x400,  0x7ff,  0x800,  0xffe,  0xfff,
                                           0x1000, 0x1001, 0x1002, 0x17ff, 0x1800, 0x1801, 0x1ffe, 0x1fff};
    const uint32_t rest = half & 0x7fffu;
    if (rest >= 0x400u) // up to infinity and beyond, where they are NaNs
        return r_widen_f16(rest) + normal[edge];
    const float number = edge < EDGES / 2 ? (float)rest : (float)rest + 0.5f;
    return r_bits(number * 0x1p-24f) + edge % (EDGES / 2) - EDGES / 4;
}

uint32_t rope2d_half_edge(uint32_t i) {
    const uint32_t half = i / EDGES;
    return (find_edge(half, i % EDGES) & 0x7fffffffu) | (half & 0x8000u) << 16;
}

bool rope2d_half_is_narrowed(uint32_t number, uint16_t half) {
    return half == r_narrow_f16(number);
}

// A NaN may become a quiet one.
bool rope2d_half_is_widened(uint16_t half, uint32_t number) {
    const uint32_t expected = r_widen_f16(half);
    return number == expected || (number == (expected | 0x400000u) && (half & 0x7fffu) > 0x7c00u);
}
