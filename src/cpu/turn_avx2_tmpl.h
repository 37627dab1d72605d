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

// Lanes of 128 bits hold two entries each.
OP real_entries split(const float *entries) {
    const __m256i order = _mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7);
    const REAL a = load(entries);
    const REAL b = load(entries + 8);
    return (real_entries){_mm256_permutevar8x32_ps(_mm256_shuffle_ps(a, b, 0x88), order),
                          _mm256_permutevar8x32_ps(_mm256_shuffle_ps(a, b, 0xdd), order)};
}

OP real_entries doubled(const float *entries) {
    const REAL a = load(entries);
    const REAL signs = _mm256_setr_ps(-0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f);
    return (real_entries){_mm256_moveldup_ps(a), _mm256_xor_ps(_mm256_movehdup_ps(a), signs)};
}
