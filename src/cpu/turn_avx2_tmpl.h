// SPDX-License-Identifier: MIT
//
// fp32 in vectors of 256 bits, and binary16, as turn_all_tmpl.h and turn_f16_tmpl.h want them, for the files
// that have kernels of such vectors. TARGET: the instruction sets.
#include <immintrin.h>

#if defined(__GNUC__)
#define TURN_FN __attribute__((target(TARGET)))
#define OP      static inline __attribute__((target(TARGET), always_inline))
#else
#define TURN_FN
#define OP static __forceinline
#endif

#define REAL  __m256
#define WIDTH 8

typedef struct real_entries {
    REAL c, s;
} real_entries;

OP REAL load(const void *p) {
    return _mm256_loadu_ps(p);
}

OP void store(void *p, REAL v) {
    _mm256_storeu_ps(p, v);
}

OP REAL mul(REAL a, REAL b) {
    return _mm256_mul_ps(a, b);
}

OP REAL add(REAL a, REAL b) {
    return _mm256_add_ps(a, b);
}

OP REAL sub(REAL a, REAL b) {
    return _mm256_sub_ps(a, b);
}

OP REAL swapped(REAL v) {
    return _mm256_permute_ps(v, 0xb1);
}

// The processor's conversions differ from core.h's in nothing that is left to see: a signalling NaN becomes
// quiet here, where a product would make it so.
OP REAL load_f16(const void *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(p));
}

OP void store_f16(void *p, REAL v) {
    _mm_storeu_si128(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

// Two entries, and two from `apart` on: shuffles of lanes of 128 bits leave numbers in order then. From
// memory the second lane takes no shuffle of its own.
OP REAL two_and_two(const float *entries, size_t apart) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(entries)), _mm_loadu_ps(entries + apart),
                                1);
}

OP real_entries split(const float *entries) {
    const REAL a = two_and_two(entries, 8);
    const REAL b = two_and_two(entries + 4, 8);
    return (real_entries){_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd)};
}

OP real_entries doubled(const float *entries) {
    const REAL a = load(entries);
    const REAL signs = _mm256_setr_ps(-0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f);
    return (real_entries){_mm256_moveldup_ps(a), _mm256_xor_ps(_mm256_movehdup_ps(a), signs)};
}
