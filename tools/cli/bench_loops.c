// SPDX-License-Identifier: MIT
#include "bench_loops.h"

#include <string.h>

#include "bench.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_X86 1
#else
#define HAS_X86 0
#endif

#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)(address))
#endif

enum { LINE = 64, AHEAD = 1024 };

static bool always(void) {
    return true;
}

// As the compiler likes it, with whatever vectors every processor of this kind has.
static void copy_plain(void *to, const void *from, uint64_t bytes) {
    uint64_t *out = to;
    const uint64_t *in = from;
    for (uint64_t i = 0; i < bytes / 8; i += 8)
        for (uint64_t j = 0; j < 8; ++j)
            out[i + j] = in[i + j];
}

static void copy_ahead(void *to, const void *from, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += LINE) {
        FETCH((const char *)from + i + AHEAD);
        memcpy((char *)to + i, (const char *)from + i, LINE);
    }
}

static void copy_pages(void *to, const void *from, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; i += 4096)
        memcpy((char *)to + i, (const char *)from + i, bytes - i < 4096 ? bytes - i : 4096);
}

static void scale_plain(float *values, uint64_t bytes, float factor) {
    for (uint64_t i = 0; i < bytes / sizeof *values; i += 16)
        for (uint64_t j = 0; j < 16; ++j)
            values[i + j] *= factor;
}

static void scale_ahead(float *values, uint64_t bytes, float factor) {
    for (uint64_t i = 0; i < bytes / sizeof *values; i += 16) {
        FETCH((const char *)(values + i) + AHEAD);
        for (uint64_t j = 0; j < 16; ++j)
            values[i + j] *= factor;
    }
}

static void scale_simple(float *values, uint64_t bytes, float factor) {
    for (uint64_t i = 0; i < bytes / sizeof *values; ++i)
        values[i] *= factor;
}

#if HAS_X86
#define AVX2   __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f")))

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2");
}

static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f");
}

// The same loop for each width of vector: `store` says whether it goes past the caches.
#define COPY_LOOP(name, attributes, vector, load, store)                                                     \
    attributes static void name(void *to, const void *from, uint64_t bytes) {                                \
        float *out = to;                                                                                     \
        const float *in = from;                                                                              \
        const uint64_t count = bytes / sizeof *out, turn = LINE / sizeof *out;                               \
        for (uint64_t i = 0; i < count; i += turn)                                                           \
            for (uint64_t j = 0; j < turn; j += sizeof(vector) / sizeof *out)                                \
                store(out + i + j, load(in + i + j));                                                        \
        _mm_sfence();                                                                                        \
    }
COPY_LOOP(copy_sse2_stream, , __m128, _mm_load_ps, _mm_stream_ps)
COPY_LOOP(copy_avx2, AVX2, __m256, _mm256_load_ps, _mm256_store_ps)
COPY_LOOP(copy_avx2_stream, AVX2, __m256, _mm256_load_ps, _mm256_stream_ps)
COPY_LOOP(copy_avx512, AVX512, __m512, _mm512_load_ps, _mm512_store_ps)
COPY_LOOP(copy_avx512_stream, AVX512, __m512, _mm512_load_ps, _mm512_stream_ps)

#define SCALE_LOOP(name, attributes, vector, splat, load, store, multiply, ahead)                            \
    attributes static void name(float *values, uint64_t bytes, float factor) {                               \
        const uint64_t lanes = sizeof(vector) / sizeof *values, turn = 4 * LINE / sizeof *values;            \
        uint64_t count = bytes / sizeof *values, i = 0;                                                      \
        for (; i + turn <= count; i += turn) {                                                               \
            for (uint64_t line = 0; (ahead) && line < 4; ++line)                                             \
                FETCH((const char *)(values + i) + AHEAD + line * LINE);                                     \
            for (uint64_t j = 0; j < turn; j += lanes)                                                       \
                store(values + i + j, multiply(load(values + i + j), splat(factor)));                        \
        }                                                                                                    \
        for (; i < count; i += lanes)                                                                        \
            store(values + i, multiply(load(values + i), splat(factor)));                                    \
    }
SCALE_LOOP(scale_avx2, AVX2, __m256, _mm256_set1_ps, _mm256_load_ps, _mm256_store_ps, _mm256_mul_ps, 0)
SCALE_LOOP(scale_avx2_ahead, AVX2, __m256, _mm256_set1_ps, _mm256_load_ps, _mm256_store_ps, _mm256_mul_ps, 1)
SCALE_LOOP(scale_avx512, AVX512, __m512, _mm512_set1_ps, _mm512_load_ps, _mm512_store_ps, _mm512_mul_ps, 0)
SCALE_LOOP(scale_avx512_ahead, AVX512, __m512, _mm512_set1_ps, _mm512_load_ps, _mm512_store_ps, _mm512_mul_ps,
           1)
#endif

static const struct bench_copy_loop copies[] = {
    {"C", always, copy_plain},
    {"C, fetched ahead", always, copy_ahead},
    {"memcpy by pages", always, copy_pages},
#if HAS_X86
    {"SSE2, streamed", always, copy_sse2_stream},
    {"AVX2", has_avx2, copy_avx2},
    {"AVX2, streamed", has_avx2, copy_avx2_stream},
    {"AVX-512", has_avx512, copy_avx512},
    {"AVX-512, streamed", has_avx512, copy_avx512_stream},
#endif
};

static const struct bench_scale_loop scales[] = {
    {"C", always, scale_plain},
    {"C, fetched ahead", always, scale_ahead},
    {"C, one by one", always, scale_simple},
#if HAS_X86
    {"AVX2", has_avx2, scale_avx2},
    {"AVX2, fetched ahead", has_avx2, scale_avx2_ahead},
    {"AVX-512", has_avx512, scale_avx512},
    {"AVX-512, fetched ahead", has_avx512, scale_avx512_ahead},
#endif
};

uint32_t bench_copy_loops(const struct bench_copy_loop **loops) {
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof copies / sizeof *copies && count < BENCH_CANDIDATES; ++i)
        if (copies[i].is_here())
            loops[count++] = &copies[i];
    return count;
}

uint32_t bench_scale_loops(const struct bench_scale_loop **loops) {
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof scales / sizeof *scales && count < BENCH_CANDIDATES; ++i)
        if (scales[i].is_here())
            loops[count++] = &scales[i];
    return count;
}
