// SPDX-License-Identifier: MIT
#ifndef ROPE2D_CPU_DEVICE_H
#define ROPE2D_CPU_DEVICE_H

#include "isa.h"

// What hangs on a device of the CPU.
typedef struct rope2d_cpu {
    rope2d_isa isa;
    rope2d_ahead ahead;  // rope2d_ahead_bytes()
    uint64_t last_cache; // bytes; 0: unknown
} rope2d_cpu;

rope2d_status rope2d_cpu_apply(const rope2d_plan *plan, const rope2d_positions *positions,
                               const rope2d_work *work);

#endif
