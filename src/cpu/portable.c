// SPDX-License-Identifier: MIT
#include "portable.h"

#define R_IN         (memory->in_type)
#define R_OUT        (memory->out_type)
#define R_WIDE       (memory->wide)
#define R_TWO_ANGLES (memory->two_angles)
// No constant of a kernel's, which would double their number: factors cost more than asking for them.
#define R_FACTORED (R_SHAPE(R_FACTORS) > 0)

#include "../../shaders/prelude_c.h"

#include "../../shaders/core.h"

#undef uint
#undef precise

// Types are looked at for each element: kernels of constant types, 36 of them, would be a seventh of the
// library, and one of f32 alone 0.9 KB.
void rope2d_portable_rotate(const rope2d_cpu_run *run) {
    r_memory memory = {
        .shape = run->shape,
        .units = run->units,
        .rows = run->rows,
        .table = run->table,
        .in_type = run->in_type,
        .out_type = run->out_type,
        .wide = run->wide,
        .two_angles = run->two_angles,
    };
    for (uint32_t head = 0; head < run->heads; head++) {
        memory.in = run->in + (ptrdiff_t)head * run->in_stride;
        memory.out = run->out + (ptrdiff_t)head * run->out_stride;
        for (uint32_t unit = 0; unit < run->unit_count; unit++)
            r_unit(&memory, 0, unit, 0, 0, 0, run->first_head + head);
    }
}

uint32_t rope2d_portable_convert(uint32_t from, uint32_t to, uint32_t bits) {
    return r_convert(from, to, bits);
}
