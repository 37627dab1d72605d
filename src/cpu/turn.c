// SPDX-License-Identifier: MIT
#include "turn_lists.h"

#include <stdio.h>

#define LIST(of)                                                                                             \
    { of, sizeof(of) / sizeof((of)[0]) }

static const struct {
    const rope2d_turn_kernel *kernels;
    size_t count;
} lists[] = {
#if ROPE2D_X86_64
    LIST(rope2d_turn_few_avx512),
    LIST(rope2d_turn_bf16_avx512),
    LIST(rope2d_turn_avx512),
    LIST(rope2d_turn_few_avx2),
    LIST(rope2d_turn_whole_avx2),
    LIST(rope2d_turn_streamed_avx2),
    LIST(rope2d_turn_avx2),
    LIST(rope2d_turn_sse2),
#elif ROPE2D_AARCH64
    LIST(rope2d_turn_neon),
#endif
    {NULL, 0},
};

void rope2d_turn_kernel_name(const rope2d_turn_kernel *kernel, char name[ROPE2D_KERNEL_NAME]) {
    const bool is_whole = kernel->lengths != 0;
    (void)snprintf(name, ROPE2D_KERNEL_NAME, "%s_%s%s_%s",
                   kernel->pairing == ROPE2D_KERNEL_HALF ? "half" : "interleaved",
                   rope2d_element_word((rope2d_element)kernel->element),
                   kernel->is_few    ? "_few"
                   : kernel->streams ? "_streamed"
                   : is_whole        ? "_whole"
                                     : "",
                   rope2d_isa_word((rope2d_isa)kernel->isa));
}

const rope2d_turn_kernel *rope2d_turn_kernel_at(uint32_t index) {
    size_t at = index;
    for (size_t i = 0; lists[i].kernels; i++) {
        if (at < lists[i].count)
            return &lists[i].kernels[at];
        at -= lists[i].count;
    }
    return NULL;
}
