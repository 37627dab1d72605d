// SPDX-License-Identifier: MIT
//
// Each kernel of the CPU, also where a plan would choose another.
#include "bench.h"

#include "cpu/turn.h"

// Tokens of 16 x 80. 1 x 256 has a fifth of their bytes in each, 24 x 128 more than twice as many.
enum { CACHED_TOKENS = 64, MEMORY_TOKENS = 4096, FEW_TIMES = 4, LONG_PART = 2 };
enum { QWEN2VL, SAM2, FLUX = 3 };

const struct rope2d_turn_kernel *bench_kernel_at(uint32_t index) {
    const rope2d_turn_kernel *kernel;
    for (uint32_t i = 0; (kernel = rope2d_turn_kernel_at(i)) != NULL; ++i)
        if (kernel->isa <= rope2d_isa_supported() && index-- == 0)
            return kernel;
    return NULL;
}

void bench_kernel_case(const struct rope2d_turn_kernel *kernel, int which, struct bench_case *what) {
    const bool is_long = kernel->lengths != 0 || kernel->streams;
    *what = (struct bench_case){
        // Whose pairs suit it.
        .tower = &bench_towers[kernel->is_few ? SAM2
                               : is_long      ? FLUX
                                              : QWEN2VL],
        .tokens = (which ? MEMORY_TOKENS : CACHED_TOKENS) * (kernel->is_few ? FEW_TIMES : 1) /
                  (is_long ? LONG_PART : 1),
        .element = (rope2d_element)kernel->element,
        .threads = 1,
        .in_cache = which == 0,
        .purpose = BENCH_ONE_KERNEL,
        .kernel = kernel,
    };
}

void bench_kernel_name(const struct rope2d_turn_kernel *kernel, char name[BENCH_KERNEL_NAME]) {
    _Static_assert(BENCH_KERNEL_NAME >= ROPE2D_KERNEL_NAME, "a kernel's name");
    rope2d_turn_kernel_name(kernel, name);
}

rope2d_pairing bench_kernel_pairing(const struct rope2d_turn_kernel *kernel) {
    return kernel->pairing == ROPE2D_KERNEL_HALF ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED;
}

bool bench_kernel_is_in_place(const struct rope2d_turn_kernel *kernel) {
    return !kernel->streams;
}
