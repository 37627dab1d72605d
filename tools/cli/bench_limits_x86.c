// SPDX-License-Identifier: MIT
#include "bench_limits.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define AVX2   __attribute__((target("avx2,f16c")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,f16c")))
#define INLINE static inline __attribute__((always_inline))

// Every processor with AVX2 has F16C, which clang 14 has no name for.
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2");
}

static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

// What all numbers are multiplied by.
struct factors_8 {
    __m256 factor, other;
};

AVX2 INLINE struct factors_8 factors_8(const struct bench_limit_part *part) {
    return (struct factors_8){_mm256_set1_ps(part->factor), _mm256_set1_ps(part->other)};
}

// `by`: a factor for each element, or NULL: all by the same.
AVX2 INLINE __m256 turned_8(__m256 value, const float *by, const struct factors_8 *all) {
    __m256 factor = by ? _mm256_load_ps(by) : all->factor;
    return _mm256_add_ps(_mm256_mul_ps(value, factor), _mm256_mul_ps(value, all->other));
}

// Of a table the next.
AVX2 INLINE const float *past(const float *by, int count) {
    return by ? by + count : by;
}

AVX2 INLINE void store_32(void *to, __m256i value, bool stream) {
    if (stream)
        _mm256_stream_si256(to, value);
    else
        _mm256_store_si256(to, value);
}

AVX2 INLINE void f32_32(void *to, const void *from, const float *by, const struct factors_8 *all,
                        bool stream) {
    __m256 value = turned_8(_mm256_load_ps(from), by, all);
    store_32(to, _mm256_castps_si256(value), stream);
}

AVX2 INLINE void f16_32(void *to, const void *from, const float *by, const struct factors_8 *all,
                        bool stream) {
    const __m128i *in = from;
    __m256 low = turned_8(_mm256_cvtph_ps(_mm_load_si128(in)), by, all);
    __m256 high = turned_8(_mm256_cvtph_ps(_mm_load_si128(in + 1)), past(by, 8), all);
    store_32(to,
             _mm256_setr_m128i(_mm256_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT),
                               _mm256_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT)),
             stream);
}

// To nearest even, in the upper half of each word; numbers alone, so that NaN need no care.
AVX2 INLINE __m256i rounded_8(__m256 value) {
    __m256i bits = _mm256_castps_si256(value);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
}

// Words as they lie: even and odd elements apart.
AVX2 INLINE void bf16_32(void *to, const void *from, const float *by, const struct factors_8 *all,
                         bool stream) {
    __m256i words = _mm256_load_si256(from), high = _mm256_set1_epi32((int)0xffff0000u);
    __m256 even = _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
    __m256 odd = _mm256_castsi256_ps(_mm256_and_si256(words, high));
    __m256i even_bits = _mm256_srli_epi32(rounded_8(turned_8(even, by, all)), 16);
    __m256i odd_bits = rounded_8(turned_8(odd, past(by, 8), all));
    store_32(to, _mm256_blend_epi16(even_bits, odd_bits, 0xaa), stream);
}

// The same for 64 bytes.
struct factors_16 {
    __m512 factor, other;
};

AVX512 INLINE struct factors_16 factors_16(const struct bench_limit_part *part) {
    return (struct factors_16){_mm512_set1_ps(part->factor), _mm512_set1_ps(part->other)};
}

AVX512 INLINE __m512 turned_16(__m512 value, const float *by, const struct factors_16 *all) {
    __m512 factor = by ? _mm512_load_ps(by) : all->factor;
    return _mm512_add_ps(_mm512_mul_ps(value, factor), _mm512_mul_ps(value, all->other));
}

AVX512 INLINE void store_64(void *to, __m512i value, bool stream) {
    if (stream)
        _mm512_stream_si512(to, value);
    else
        _mm512_store_si512(to, value);
}

AVX512 INLINE void f32_64(void *to, const void *from, const float *by, const struct factors_16 *all,
                          bool stream) {
    __m512 value = turned_16(_mm512_load_ps(from), by, all);
    store_64(to, _mm512_castps_si512(value), stream);
}

AVX512 INLINE void f16_64(void *to, const void *from, const float *by, const struct factors_16 *all,
                          bool stream) {
    const __m256i *in = from;
    __m512 low = turned_16(_mm512_cvtph_ps(_mm256_load_si256(in)), by, all);
    __m512 high = turned_16(_mm512_cvtph_ps(_mm256_load_si256(in + 1)), past(by, 16), all);
    char *out = to;
    store_32(out, _mm512_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT), stream);
    store_32(out + 32, _mm512_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT), stream);
}

AVX512 INLINE __m512i rounded_16(__m512 value) {
    __m512i bits = _mm512_castps_si512(value);
    __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
}

AVX512 INLINE void bf16_64(void *to, const void *from, const float *by, const struct factors_16 *all,
                           bool stream) {
    __m512i words = _mm512_load_si512(from), high = _mm512_set1_epi32((int)0xffff0000u);
    __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
    __m512 odd = _mm512_castsi512_ps(_mm512_and_si512(words, high));
    __m512i even_bits = _mm512_srli_epi32(rounded_16(turned_16(even, by, all)), 16);
    __m512i odd_bits = rounded_16(turned_16(odd, past(by, 16), all));
    store_64(to, _mm512_mask_mov_epi16(even_bits, 0xaaaaaaaau, odd_bits), stream);
}

// A turn is four lines: the rest goes line by line.
#define LOOP(name, attributes, vector, factors, step, size, in_place, has_table, stream, ahead)              \
    attributes static void name(const struct bench_limit_part *part) {                                       \
        char *to = part->to;                                                                                 \
        const char *from = (in_place) ? to : part->from;                                                     \
        const struct factors all = factors(part);                                                            \
        const uint64_t turn = 4 * BENCH_LINE, width = sizeof(vector);                                        \
        uint64_t i = 0;                                                                                      \
        for (; i + turn <= part->bytes; i += turn) {                                                         \
            for (uint64_t line = 0; (ahead) && line < 4; ++line)                                             \
                BENCH_FETCH(from + i + BENCH_AHEAD + line * BENCH_LINE);                                     \
            const float *by = (has_table) ? part->table + ((part->at + i / (size)) & part->mask) : NULL;     \
            for (uint64_t j = 0; j < turn; j += width)                                                       \
                step(to + i + j, from + i + j, (has_table) ? by + j / (size) : NULL, &all, stream);          \
        }                                                                                                    \
        for (; i < part->bytes; i += width)                                                                  \
            step(to + i, from + i,                                                                           \
                 (has_table) ? part->table + ((part->at + i / (size)) & part->mask) : NULL, &all, stream);   \
        if (stream)                                                                                          \
            _mm_sfence();                                                                                    \
    }
#define LOOPS(name, attributes, vector, factors, step, size)                                                 \
    LOOP(name##_out, attributes, vector, factors, step, size, false, false, false, false)                    \
    LOOP(name##_out_table, attributes, vector, factors, step, size, false, true, false, false)               \
    LOOP(name##_in, attributes, vector, factors, step, size, true, false, false, false)                      \
    LOOP(name##_in_table, attributes, vector, factors, step, size, true, true, false, false)                 \
    LOOP(name##_stream, attributes, vector, factors, step, size, false, false, true, false)                  \
    LOOP(name##_stream_table, attributes, vector, factors, step, size, false, true, true, false)             \
    LOOP(name##_ahead, attributes, vector, factors, step, size, true, false, false, true)                    \
    LOOP(name##_ahead_table, attributes, vector, factors, step, size, true, true, false, true)
// Streaming stores only where nothing is read from the line before, fetching ahead only there.
#define LOOP_NAMES(title, element, is_here, name)                                                            \
    {title, element, is_here, {{name##_out, name##_out_table}, {name##_in, name##_in_table}}},               \
        {title ", streamed", element, is_here, {{name##_stream, name##_stream_table}, {NULL, NULL}}}, {      \
        title ", fetched ahead", element, is_here, {                                                         \
            {NULL, NULL}, {                                                                                  \
                name##_ahead, name##_ahead_table                                                             \
            }                                                                                                \
        }                                                                                                    \
    }

LOOPS(f32_avx2, AVX2, __m256, factors_8, f32_32, 4)
LOOPS(f16_avx2, AVX2, __m256, factors_8, f16_32, 2)
LOOPS(bf16_avx2, AVX2, __m256, factors_8, bf16_32, 2)
LOOPS(f32_avx512, AVX512, __m512, factors_16, f32_64, 4)
LOOPS(f16_avx512, AVX512, __m512, factors_16, f16_64, 2)
LOOPS(bf16_avx512, AVX512, __m512, factors_16, bf16_64, 2)

const struct bench_limit_loop bench_limits_x86[] = {
    LOOP_NAMES("AVX2", ROPE2D_F32, has_avx2, f32_avx2),
    LOOP_NAMES("AVX2", ROPE2D_F16, has_avx2, f16_avx2),
    LOOP_NAMES("AVX2", ROPE2D_BF16, has_avx2, bf16_avx2),
    LOOP_NAMES("AVX-512", ROPE2D_F32, has_avx512, f32_avx512),
    LOOP_NAMES("AVX-512", ROPE2D_F16, has_avx512, f16_avx512),
    LOOP_NAMES("AVX-512", ROPE2D_BF16, has_avx512, bf16_avx512),
};
const uint32_t bench_limits_x86_count = sizeof bench_limits_x86 / sizeof *bench_limits_x86;

#else
const struct bench_limit_loop bench_limits_x86[1] = {{0}};
const uint32_t bench_limits_x86_count = 0;
#endif
