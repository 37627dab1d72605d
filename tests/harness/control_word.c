// SPDX-License-Identifier: MIT
#include "control_word.h"

#if defined(__SSE__) || defined(_M_X64)
#include <xmmintrin.h>

#define PLAIN       0x1f80u
#define FLUSH       0x8040u // results, and inputs
#define ROUND_DOWN  0x2000u
#define STATUS_BITS 0x3fu

void harness_control_set(enum harness_setting setting) {
    unsigned flush = setting == HARNESS_FLUSHING || setting == HARNESS_BOTH ? FLUSH : 0;
    unsigned down = setting == HARNESS_ROUNDING_DOWN || setting == HARNESS_BOTH ? ROUND_DOWN : 0;
    _mm_setcsr(PLAIN | flush | down);
}

uint64_t harness_control_get(void) {
    return _mm_getcsr() & ~STATUS_BITS;
}

#elif defined(__aarch64__) && defined(__GNUC__)

#define FLUSH      (UINT64_C(1) << 24)
#define ROUND_DOWN (UINT64_C(2) << 22)

void harness_control_set(enum harness_setting setting) {
    uint64_t flush = setting == HARNESS_FLUSHING || setting == HARNESS_BOTH ? FLUSH : 0;
    uint64_t down = setting == HARNESS_ROUNDING_DOWN || setting == HARNESS_BOTH ? ROUND_DOWN : 0;
    uint64_t word = flush | down;
    __asm__ volatile("msr fpcr, %0" : : "r"(word));
}

uint64_t harness_control_get(void) {
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
}

#else
#include <fenv.h>

void harness_control_set(enum harness_setting setting) {
    (void)fesetround(setting == HARNESS_ROUNDING_DOWN || setting == HARNESS_BOTH ? FE_DOWNWARD
                                                                                 : FE_TONEAREST);
}

uint64_t harness_control_get(void) {
    return (uint64_t)fegetround();
}
#endif

unsigned harness_control_effect(void) {
    volatile float small = 0x1p-126f;
    volatile float half = 0.5f;
    volatile float one = 1.0f;
    volatile float tiny = 0x1p-30f;
    volatile float flushed = small * half;
    volatile float rounded = one - tiny;
    return (flushed == 0 ? 1u : 0u) | (rounded < one ? 2u : 0u);
}
