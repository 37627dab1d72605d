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

// Everything below is inlined, so that the four constants of each kernel choose its code.
R_FN void rotate(const rope2d_cpu_run *run, uint32_t in_type, uint32_t out_type, bool wide, bool two_angles) {
    r_memory memory = {
        .shape = run->shape,
        .units = run->units,
        .rows = run->rows,
        .table = run->table,
        .in_type = in_type,
        .out_type = out_type,
        .wide = wide,
        .two_angles = two_angles,
    };
    for (uint32_t head = 0; head < run->heads; head++) {
        memory.in = run->in + (ptrdiff_t)head * run->in_stride;
        memory.out = run->out + (ptrdiff_t)head * run->out_stride;
        for (uint32_t unit = 0; unit < run->unit_count; unit++)
            r_unit(&memory, 0, unit, 0, 0, 0, run->first_head + head);
    }
}

#define KERNELS(name, in, out)                                                                               \
    static void name##_single(const rope2d_cpu_run *run) {                                                   \
        rotate(run, in, out, false, false);                                                                  \
    }                                                                                                        \
    static void name##_single_two(const rope2d_cpu_run *run) {                                               \
        rotate(run, in, out, false, true);                                                                   \
    }                                                                                                        \
    static void name##_wide(const rope2d_cpu_run *run) {                                                     \
        rotate(run, in, out, true, false);                                                                   \
    }                                                                                                        \
    static void name##_wide_two(const rope2d_cpu_run *run) {                                                 \
        rotate(run, in, out, true, true);                                                                    \
    }

KERNELS(f32_f32, R_F32, R_F32)
KERNELS(f32_f16, R_F32, R_F16)
KERNELS(f32_bf16, R_F32, R_BF16)
KERNELS(f16_f32, R_F16, R_F32)
KERNELS(f16_f16, R_F16, R_F16)
KERNELS(f16_bf16, R_F16, R_BF16)
KERNELS(bf16_f32, R_BF16, R_F32)
KERNELS(bf16_f16, R_BF16, R_F16)
KERNELS(bf16_bf16, R_BF16, R_BF16)

#define ROW(name)                                                                                            \
    {                                                                                                        \
        {name##_single, name##_single_two}, {                                                                \
            name##_wide, name##_wide_two                                                                     \
        }                                                                                                    \
    }

rope2d_cpu_kernel *rope2d_portable_kernel(rope2d_element in, rope2d_element out, bool wide, bool two_angles) {
    static rope2d_cpu_kernel *const kernels[ROPE2D_ELEMENT_COUNT][ROPE2D_ELEMENT_COUNT][2][2] = {
        {ROW(f32_f32), ROW(f32_f16), ROW(f32_bf16)},
        {ROW(f16_f32), ROW(f16_f16), ROW(f16_bf16)},
        {ROW(bf16_f32), ROW(bf16_f16), ROW(bf16_bf16)},
    };
    return kernels[in][out][wide][two_angles];
}
