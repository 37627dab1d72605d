// SPDX-License-Identifier: MIT
#include "internal.h"

#if defined(__SSE__) || defined(_M_X64) || (defined(_M_IX86_FP) && _M_IX86_FP >= 1)

#include <xmmintrin.h>

// Every exception masked, round to nearest, neither flush-to-zero nor denormals-are-zero.
#define PLAIN_MXCSR 0x1f80u

rope2d_control rope2d_control_enter(void) {
    rope2d_control control = {_mm_getcsr()};
    _mm_setcsr(PLAIN_MXCSR);
    return control;
}

void rope2d_control_leave(rope2d_control control) {
    _mm_setcsr((unsigned)control.saved);
}

#elif defined(__aarch64__) || defined(_M_ARM64)

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#define READ_FPCR()       ((uint64_t)_ReadStatusReg(ARM64_FPCR))
#define WRITE_FPCR(value) _WriteStatusReg(ARM64_FPCR, (__int64)(value))
#elif defined(__clang__)
#define READ_FPCR()       ((uint64_t)__builtin_arm_rsr64("fpcr"))
#define WRITE_FPCR(value) __builtin_arm_wsr64("fpcr", (value))
#else
#define READ_FPCR()       ((uint64_t)__builtin_aarch64_get_fpcr())
#define WRITE_FPCR(value) __builtin_aarch64_set_fpcr((unsigned)(value))
#endif

// All zeros: round to nearest, no flushing, NaN payloads kept, no traps.
#define PLAIN_FPCR 0u

rope2d_control rope2d_control_enter(void) {
    rope2d_control control = {READ_FPCR()};
    WRITE_FPCR(PLAIN_FPCR);
    return control;
}

void rope2d_control_leave(rope2d_control control) {
    WRITE_FPCR(control.saved);
}

#else

#include <fenv.h>

// The rounding mode alone: C has no name for the flushing of subnormals.
rope2d_control rope2d_control_enter(void) {
    rope2d_control control = {(uint64_t)fegetround()};
    (void)fesetround(FE_TONEAREST);
    return control;
}

void rope2d_control_leave(rope2d_control control) {
    (void)fesetround((int)control.saved);
}

#endif
