// SPDX-License-Identifier: MIT
#include "isa.h"

#include "cpuid.h"

#include <string.h>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

static const struct {
    char name[11];
    char word[9]; // of ROPE2D_CPU
} names[ROPE2D_ISA_COUNT] = {
    [ROPE2D_ISA_PORTABLE] = {"portable C", "portable"},
    [ROPE2D_ISA_SSE2] = {"SSE2", "sse2"},
    [ROPE2D_ISA_AVX2] = {"AVX2", "avx2"},
    [ROPE2D_ISA_AVX512] = {"AVX-512", "avx512"},
    [ROPE2D_ISA_NEON] = {"NEON", "neon"},
};

const char *rope2d_isa_name(rope2d_isa isa) {
    return names[isa].name;
}

const char *rope2d_isa_word(rope2d_isa isa) {
    return names[isa].word;
}

// Intel's processors fetch too little ahead by themselves while a kernel computes: f16 moved half of what the
// in-place scale does without asking. Of what was tried this is best or nearly so for all towers; each of
// some others was bad for one size of heads. AMD's with AVX-512 (Zen 4) fetch what many heads need, and
// asking costs there; of two heads that lie apart they lose track. Those before (Zen 3) fetch three quarters
// of that, but what is in the last cache comes a third slower where it is asked for.
// Where v lies between one token's k and the next one's q, neither knows in time that the next one is wanted.
// Zen 4 does where v is asked for, too; on Zen 3, whose heads are asked for, that costs up to an eighth.
// Single heads of 16 bits, which take longer to turn, come soonest where 3072 bytes lie between, those of f32
// out of place where 2048 do.
#define AHEAD_BYTES        2816
#define AHEAD_BYTES_FEW_16 3072
#define AHEAD_BYTES_FEW_32 2048

#if ROPE2D_X86_64
static bool has(uint32_t word, uint32_t bits) {
    return (word & bits) == bits;
}

// The operating system must save the registers, too.
rope2d_isa rope2d_isa_supported(void) {
    const uint32_t f16c_avx_osxsave = 1u << 29 | 1u << 28 | 1u << 27;
    const uint32_t avx512_f_dq_bw_vl = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    uint32_t words[4];
    rope2d_cpuid(0, 0, words);
    if (words[0] < 7)
        return ROPE2D_ISA_SSE2;
    rope2d_cpuid(1, 0, words);
    if (!has(words[2], f16c_avx_osxsave))
        return ROPE2D_ISA_SSE2;
    const uint64_t saved = rope2d_xgetbv();
    rope2d_cpuid(7, 0, words);
    if ((saved & 0x6) != 0x6 || !has(words[1], 1u << 5))
        return ROPE2D_ISA_SSE2;
    if ((saved & 0xe6) != 0xe6 || !has(words[1], avx512_f_dq_bw_vl))
        return ROPE2D_ISA_AVX2;
    return ROPE2D_ISA_AVX512;
}

static bool is_intel(void) {
    uint32_t words[4];
    rope2d_cpuid(0, 0, words);
    return memcmp(&words[1], "Genu", 4) == 0;
}

bool rope2d_isa_forwards_wide(void) {
    return !is_intel() || rope2d_isa_supported() < ROPE2D_ISA_AVX512;
}

// The largest cache among those that the leaf lists.
static uint64_t largest_cache(uint32_t leaf) {
    uint64_t largest = 0;
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t words[4];
        rope2d_cpuid(leaf, i, words);
        const uint32_t type = words[0] & 0x1f;
        if (type == 0)
            break;
        const uint64_t ways = (words[1] >> 22) + UINT64_C(1);
        const uint64_t parts = (words[1] >> 12 & 0x3ff) + UINT64_C(1);
        const uint64_t line = (words[1] & 0xfff) + UINT64_C(1);
        const uint64_t bytes = ways * parts * line * (words[2] + UINT64_C(1));
        if (bytes > largest)
            largest = bytes;
    }
    return largest;
}

// All of Intel's processors with 64 bits have leaf 4.
uint64_t rope2d_last_cache_bytes(void) {
    uint32_t words[4];
    if (is_intel())
        return largest_cache(4);
    rope2d_cpuid(0x80000000u, 0, words);
    return words[0] >= 0x8000001du ? largest_cache(0x8000001du) : 0;
}

rope2d_ahead rope2d_ahead_bytes(void) {
    if (is_intel())
        return (rope2d_ahead){
            .heads = AHEAD_BYTES,
            .past = AHEAD_BYTES,
            .apart = AHEAD_BYTES,
            .few_16 = AHEAD_BYTES,
            .few_32 = AHEAD_BYTES,
        };
    const bool has_wide = rope2d_isa_supported() >= ROPE2D_ISA_AVX512;
    return (rope2d_ahead){
        .past = has_wide ? 0 : AHEAD_BYTES,
        .apart = AHEAD_BYTES,
        .few_16 = AHEAD_BYTES_FEW_16,
        .few_32 = AHEAD_BYTES_FEW_32,
        .gaps = has_wide,
        .follows = true,
    };
}
#else
rope2d_ahead rope2d_ahead_bytes(void) {
    return (rope2d_ahead){.heads = 0};
}

rope2d_isa rope2d_isa_supported(void) {
    return ROPE2D_AARCH64 ? ROPE2D_ISA_NEON : ROPE2D_ISA_PORTABLE;
}

bool rope2d_isa_forwards_wide(void) {
    return true;
}

uint64_t rope2d_last_cache_bytes(void) {
#if defined(_SC_LEVEL3_CACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
    const long third = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const long second = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return third > 0 ? (uint64_t)third : second > 0 ? (uint64_t)second : 0;
#else
    return 0;
#endif
}
#endif

rope2d_isa rope2d_isa_find(void) {
    const rope2d_isa supported = rope2d_isa_supported();
    const char *word = rope2d_environment("ROPE2D_CPU");
    for (int i = 0; word && i < (int)supported; i++) {
        if (strcmp(word, names[i].word) == 0)
            return (rope2d_isa)i;
    }
    return supported;
}
