// SPDX-License-Identifier: MIT
//
// Each kernel of the CPU, also where a plan would choose another.
#include "bench.h"

#include "cpu/turn.h"

enum { CACHED_TOKENS = 64, MEMORY_TOKENS = 4096 };

const struct rope2d_turn_kernel *bench_kernel_at(uint32_t index) {
    const rope2d_turn_kernel *kernel;
    for (uint32_t i = 0; (kernel = rope2d_turn_kernel_at(i)) != NULL; ++i)
        if (kernel->isa <= rope2d_isa_supported() && index-- == 0)
            return kernel;
    return NULL;
}

void bench_kernel_case(const struct rope2d_turn_kernel *kernel, int which, struct bench_case *what) {
    *what = (struct bench_case){
        .tower = &bench_towers[0], // whose pairs suit every kernel
        .tokens = which ? MEMORY_TOKENS : CACHED_TOKENS,
        .element = kernel->element,
        .threads = 1,
        .in_cache = which == 0,
        .purpose = BENCH_ONE_KERNEL,
        .kernel = kernel,
    };
}

const char *bench_kernel_name(const struct rope2d_turn_kernel *kernel) {
    return kernel->name;
}

rope2d_pairing bench_kernel_pairing(const struct rope2d_turn_kernel *kernel) {
    return kernel->pairing == ROPE2D_KERNEL_HALF ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED;
}
