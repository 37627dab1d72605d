// SPDX-License-Identifier: MIT
//
// fp32 in vectors of 512 bits, as turn_all_tmpl.h wants them, for the files that have kernels of AVX-512.
#include <immintrin.h>

#if defined(__GNUC__)
#define TURN_FN __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define OP      static inline __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), always_inline))
#else
#define TURN_FN
#define OP static __forceinline
#endif

#define REAL  __m512
#define WIDTH 16

typedef struct real_entries {
    REAL c, s;
} real_entries;

// Compilers would read what is used twice from memory twice, which the nearest cache has no time for.
OP REAL load(const void *p) {
    REAL v = _mm512_loadu_ps(p);
#if defined(__GNUC__)
    __asm__("" : "+v"(v));
#endif
    return v;
}

OP void store(void *p, REAL v) {
    _mm512_storeu_ps(p, v);
}

OP REAL mul(REAL a, REAL b) {
    return _mm512_mul_ps(a, b);
}

OP REAL add(REAL a, REAL b) {
    return _mm512_add_ps(a, b);
}

OP REAL sub(REAL a, REAL b) {
    return _mm512_sub_ps(a, b);
}

OP REAL swapped(REAL v) {
    return _mm512_permute_ps(v, 0xb1);
}

OP real_entries split(const float *entries) {
    const __m512i cosines = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i sines = _mm512_or_si512(cosines, _mm512_set1_epi32(1));
    const REAL a = load(entries);
    const REAL b = load(entries + 16);
    return (real_entries){_mm512_permutex2var_ps(a, cosines, b), _mm512_permutex2var_ps(a, sines, b)};
}

OP real_entries doubled(const float *entries) {
    const REAL a = load(entries);
    const REAL signs = _mm512_castsi512_ps(_mm512_set1_epi64(INT64_C(0x80000000)));
    return (real_entries){_mm512_moveldup_ps(a), _mm512_xor_ps(_mm512_movehdup_ps(a), signs)};
}
