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

// A half, halfway to the next, and what lies beside and between them.
void rope2d_half_edges(uint32_t half, uint32_t *numbers) {
    static const uint16_t normal[ROPE2D_EDGES] = {0,      1,      2,      0x400,  0x7ff,  0x800,
                                                  0xffe,  0xfff,  0x1000, 0x1001, 0x1002, 0x17ff,
                                                  0x1800, 0x1801, 0x1ffe, 0x1fff};
    const uint32_t rest = half & 0x7fffu, sign = (half & 0x8000u) << 16;
    const uint32_t low = rest >= 0x400u ? r_widen_f16(rest) : r_bits((float)rest * 0x1p-24f);
    const uint32_t middle = r_bits(((float)rest + 0.5f) * 0x1p-24f);
    for (uint32_t edge = 0; edge < ROPE2D_EDGES; edge++) {
        const uint32_t small = (edge < ROPE2D_EDGES / 2 ? low : middle) + edge % (ROPE2D_EDGES / 2) - 4;
        // Up to infinity and beyond, where they are NaNs.
        numbers[edge] = ((rest >= 0x400u ? low + normal[edge] : small) & 0x7fffffffu) | sign;
    }
}

uint32_t rope2d_half_count_narrowed(uint32_t half, const uint16_t *narrowed) {
    uint32_t numbers[ROPE2D_EDGES], wrong = 0;
    rope2d_half_edges(half, numbers);
    for (uint32_t edge = 0; edge < ROPE2D_EDGES; edge++)
        wrong += narrowed[edge] != r_narrow_f16(numbers[edge]);
    return wrong;
}

// A NaN may become a quiet one.
uint32_t rope2d_half_count_widened(uint32_t half, const uint32_t *widened) {
    const uint32_t expected = r_widen_f16(half);
    return *widened != expected && (*widened != (expected | 0x400000u) || (half & 0x7fffu) <= 0x7c00u);
}
