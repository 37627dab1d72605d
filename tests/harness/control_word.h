// SPDX-License-Identifier: MIT
// A caller's own floating-point settings, as audio and game engines have them.
#ifndef HARNESS_CONTROL_WORD_H
#define HARNESS_CONTROL_WORD_H

#include <stdint.h>

enum harness_setting {
    HARNESS_PLAIN,
    HARNESS_FLUSHING, // subnormal results and inputs count as zero, where the processor has that
    HARNESS_ROUNDING_DOWN,
    HARNESS_BOTH,
    HARNESS_SETTING_COUNT
};

void harness_control_set(enum harness_setting setting);
// The settings of this thread; equal numbers are equal settings.
uint64_t harness_control_get(void);
// What a setting does to arithmetic on this machine: bit 0 when it flushes, bit 1 when it rounds down.
unsigned harness_control_effect(void);

#endif
