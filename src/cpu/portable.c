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

// Inlined, so that constant types choose a kernel's code.
R_FN void rotate(const rope2d_cpu_run *run, uint32_t in_type, uint32_t out_type) {
    r_memory memory = {
        .shape = run->shape,
        .units = run->units,
        .rows = run->rows,
        .table = run->table,
        .in_type = in_type,
        .out_type = out_type,
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

// One kernel for fp32, and one that asks for the types of every element: specialized in full, 36 kernels
// would be a seventh of the library.
static void rotate_f32(const rope2d_cpu_run *run) {
    rotate(run, R_F32, R_F32);
}
static void rotate_any(const rope2d_cpu_run *run) {
    rotate(run, run->in_type, run->out_type);
}

rope2d_cpu_kernel *rope2d_portable_kernel(rope2d_element in, rope2d_element out) {
    return in == ROPE2D_F32 && out == ROPE2D_F32 ? rotate_f32 : rotate_any;
}
