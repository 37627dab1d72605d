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

// What a step's numbers are multiplied by: the first and the second vector of them each by its own, and all
// by the other.
struct factors_8 {
    __m256 low, high, other;
};

AVX2 INLINE struct factors_8 factors_8(const struct bench_limit_part *part) {
    __m256 factor = _mm256_set1_ps(part->factor);
    return (struct factors_8){factor, factor, _mm256_set1_ps(part->other)};
}

AVX2 INLINE struct factors_8 read_8(const float *table, const struct factors_8 *all) {
    return (struct factors_8){_mm256_load_ps(table), _mm256_load_ps(table + 8), all->other};
}

// Compilers would read the number twice, once for each product.
AVX2 INLINE __m256 turned_8(__m256 value, __m256 factor, __m256 other) {
    __asm__("" : "+x"(value));
    return _mm256_add_ps(_mm256_mul_ps(value, factor), _mm256_mul_ps(value, other));
}

AVX2 INLINE void store_32(void *to, __m256i value, bool stream) {
    if (stream)
        _mm256_stream_si256(to, value);
    else
        _mm256_store_si256(to, value);
}

AVX2 INLINE void f32_32(void *to, const void *from, const struct factors_8 *by, bool stream) {
    __m256 value = turned_8(_mm256_load_ps(from), by->low, by->other);
    store_32(to, _mm256_castps_si256(value), stream);
}

AVX2 INLINE __m128i f16_half_32(const void *from, __m256 factor, __m256 other) {
    __m256 value = turned_8(_mm256_cvtph_ps(_mm_load_si128(from)), factor, other);
    return _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
}

AVX2 INLINE void f16_32(void *to, const void *from, const struct factors_8 *by, bool stream) {
    const __m128i *in = from;
    __m128i low = f16_half_32(in, by->low, by->other);
    store_32(to, _mm256_setr_m128i(low, f16_half_32(in + 1, by->high, by->other)), stream);
}

// To nearest even, in the upper half of each word; numbers alone, so that NaN need no care.
AVX2 INLINE __m256i rounded_8(__m256 value) {
    __m256i bits = _mm256_castps_si256(value);
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
}

// Words as they lie: even and odd elements apart.
AVX2 INLINE void bf16_32(void *to, const void *from, const struct factors_8 *by, bool stream) {
    __m256i words = _mm256_load_si256(from), high = _mm256_set1_epi32((int)0xffff0000u);
    __m256 even = _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
    __m256 odd = _mm256_castsi256_ps(_mm256_and_si256(words, high));
    __m256i even_bits = _mm256_srli_epi32(rounded_8(turned_8(even, by->low, by->other)), 16);
    __m256i odd_bits = rounded_8(turned_8(odd, by->high, by->other));
    store_32(to, _mm256_blend_epi16(even_bits, odd_bits, 0xaa), stream);
}

// The same for 64 bytes.
struct factors_16 {
    __m512 low, high, other;
};

AVX512 INLINE struct factors_16 factors_16(const struct bench_limit_part *part) {
    __m512 factor = _mm512_set1_ps(part->factor);
    return (struct factors_16){factor, factor, _mm512_set1_ps(part->other)};
}

AVX512 INLINE struct factors_16 read_16(const float *table, const struct factors_16 *all) {
    return (struct factors_16){_mm512_load_ps(table), _mm512_load_ps(table + 16), all->other};
}

AVX512 INLINE __m512 turned_16(__m512 value, __m512 factor, __m512 other) {
    __asm__("" : "+v"(value));
    return _mm512_add_ps(_mm512_mul_ps(value, factor), _mm512_mul_ps(value, other));
}

AVX512 INLINE void store_64(void *to, __m512i value, bool stream) {
    if (stream)
        _mm512_stream_si512(to, value);
    else
        _mm512_store_si512(to, value);
}

AVX512 INLINE void f32_64(void *to, const void *from, const struct factors_16 *by, bool stream) {
    __m512 value = turned_16(_mm512_load_ps(from), by->low, by->other);
    store_64(to, _mm512_castps_si512(value), stream);
}

AVX512 INLINE __m256i f16_half_64(const void *from, __m512 factor, __m512 other) {
    __m512 value = turned_16(_mm512_cvtph_ps(_mm256_load_si256(from)), factor, other);
    return _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
}

AVX512 INLINE void f16_64(void *to, const void *from, const struct factors_16 *by, bool stream) {
    const __m256i *in = from;
    __m512i low = _mm512_castsi256_si512(f16_half_64(in, by->low, by->other));
    store_64(to, _mm512_inserti64x4(low, f16_half_64(in + 1, by->high, by->other), 1), stream);
}

// To nearest even, even and odd elements together: the upper halves, one more where the lower half with the
// upper's last bit is more than a half.
AVX512 INLINE __m512i joined_16(__m512 even, __m512 odd) {
    const __m512i swaps = _mm512_set4_epi32(0x0d0c0f0e, 0x09080b0a, 0x05040706, 0x01000302);
    __m512i e = _mm512_castps_si512(even), o = _mm512_castps_si512(odd), one = _mm512_set1_epi16(1);
    __m512i upper = _mm512_mask_shuffle_epi8(o, 0x3333333333333333u, e, swaps);
    __m512i lower = _mm512_mask_shuffle_epi8(e, 0xccccccccccccccccu, o, swaps);
    __m512i rest = _mm512_ternarylogic_epi32(lower, upper, one, 0xf8); // lower | (upper & one)
    __mmask32 up = _mm512_cmpgt_epu16_mask(rest, _mm512_set1_epi16(INT16_MIN));
    return _mm512_mask_add_epi16(upper, up, upper, one);
}

AVX512 INLINE void bf16_64(void *to, const void *from, const struct factors_16 *by, bool stream) {
    __m512i words = _mm512_load_si512(from), high = _mm512_set1_epi32((int)0xffff0000u);
    __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
    __m512 odd = _mm512_castsi512_ps(_mm512_and_si512(words, high));
    store_64(to, joined_16(turned_16(even, by->low, by->other), turned_16(odd, by->high, by->other)), stream);
}

// A turn is four lines: the rest goes line by line. What is read of the table serves q and k. Nothing that a
// store might change is read again: `part` is a copy.
#define STEP(factors, read, step, size, place, table, has_table, stream)                                     \
    do {                                                                                                     \
        const struct factors by = (has_table) ? read(table, &all) : all;                                     \
        step(to + (place), from + (place), &by, stream);                                                     \
        if (has_table)                                                                                       \
            step(to_k + (place), from_k + (place), &by, stream);                                             \
    } while (0)
#define LOOP(name, attributes, vector, factors, read, step, size, in_place, has_table, stream, ahead)        \
    attributes static void name(const struct bench_limit_part *given) {                                      \
        const struct bench_limit_part part = *given;                                                         \
        char *to = part.to, *to_k = to + part.second;                                                        \
        const char *from = (in_place) ? to : part.from, *from_k = from + part.second;                        \
        const struct factors all = factors(&part);                                                           \
        const uint64_t turn = 4 * BENCH_LINE, width = sizeof(vector);                                        \
        uint64_t i = 0;                                                                                      \
        for (; i + turn <= part.bytes; i += turn) {                                                          \
            const float *table = (has_table) ? bench_limit_factors(&part, i / (size)) : NULL;                \
            for (uint64_t line = 0; (ahead) && line < 4; ++line)                                             \
                BENCH_FETCH(from + i + BENCH_AHEAD + line * BENCH_LINE);                                     \
            for (uint64_t line = 0; (ahead) && (has_table) && line < 4; ++line)                              \
                BENCH_FETCH(from_k + i + BENCH_AHEAD + line * BENCH_LINE);                                   \
            for (uint64_t j = 0; j < turn; j += width)                                                       \
                STEP(factors, read, step, size, i + j, table + j / (size), has_table, stream);               \
        }                                                                                                    \
        for (; i < part.bytes; i += width)                                                                   \
            STEP(factors, read, step, size, i, bench_limit_factors(&part, i / (size)), has_table, stream);   \
        if (stream)                                                                                          \
            _mm_sfence();                                                                                    \
    }
#define LOOPS(name, attributes, vector, factors, read, step, size)                                           \
    LOOP(name##_out, attributes, vector, factors, read, step, size, false, false, false, false)              \
    LOOP(name##_out_table, attributes, vector, factors, read, step, size, false, true, false, false)         \
    LOOP(name##_in, attributes, vector, factors, read, step, size, true, false, false, false)                \
    LOOP(name##_in_table, attributes, vector, factors, read, step, size, true, true, false, false)           \
    LOOP(name##_stream, attributes, vector, factors, read, step, size, false, false, true, false)            \
    LOOP(name##_stream_table, attributes, vector, factors, read, step, size, false, true, true, false)       \
    LOOP(name##_ahead, attributes, vector, factors, read, step, size, true, false, false, true)              \
    LOOP(name##_ahead_table, attributes, vector, factors, read, step, size, true, true, false, true)
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

LOOPS(f32_avx2, AVX2, __m256, factors_8, read_8, f32_32, 4)
LOOPS(f16_avx2, AVX2, __m256, factors_8, read_8, f16_32, 2)
LOOPS(bf16_avx2, AVX2, __m256, factors_8, read_8, bf16_32, 2)
LOOPS(f32_avx512, AVX512, __m512, factors_16, read_16, f32_64, 4)
LOOPS(f16_avx512, AVX512, __m512, factors_16, read_16, f16_64, 2)
LOOPS(bf16_avx512, AVX512, __m512, factors_16, read_16, bf16_64, 2)

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
