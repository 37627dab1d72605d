// SPDX-License-Identifier: MIT
//
// The processor's instruction CPUID; all zeros where there is none.
#ifndef ROPE2D_CPU_CPUID_H
#define ROPE2D_CPU_CPUID_H

#include <stdint.h>
#include <string.h>

// MinGW's headers for OpenCL bring intrin.h, which does not compile beside cpuid.h.
#if (defined(__x86_64__) || defined(__i386__)) && !defined(_WIN32)
#include <cpuid.h>
#define ROPE2D_HAS_CPUID 1
#elif defined(__x86_64__) || defined(__i386__) || (defined(_M_X64) && !defined(_M_ARM64EC)) ||               \
    defined(_M_IX86)
#include <intrin.h>
#define ROPE2D_HAS_CPUID 1
#else
#define ROPE2D_HAS_CPUID 0
#endif

// eax, ebx, ecx, edx.
static inline void rope2d_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t words[4]) {
    memset(words, 0, 4 * sizeof(*words));
#if ROPE2D_HAS_CPUID && defined(__GNUC__) && !defined(_WIN32)
    (void)__get_cpuid_count(leaf, subleaf, &words[0], &words[1], &words[2], &words[3]);
#elif ROPE2D_HAS_CPUID
    __cpuidex((int *)words, (int)leaf, (int)subleaf);
#else
    (void)leaf;
    (void)subleaf;
#endif
}

// The registers that the operating system saves. Only where CPUID says OSXSAVE.
static inline uint64_t rope2d_xgetbv(void) {
#if ROPE2D_HAS_CPUID && defined(__GNUC__)
    uint32_t low;
    uint32_t high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
#elif ROPE2D_HAS_CPUID
    return _xgetbv(0);
#else
    return 0;
#endif
}

#endif
