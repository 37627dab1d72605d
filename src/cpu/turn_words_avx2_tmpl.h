// SPDX-License-Identifier: MIT
//
// bf16 in vectors of 256 bits, behind turn_avx2_tmpl.h, as turn_bf16_tmpl.h wants them.
#include "turn_words_256_tmpl.h"

#define half_entries real_entries
#define half_split   split
#define half_mul     mul
#define half_add     add
#define half_sub     sub

// As in turn_avx512.c: upper halves, one more where the lower half with the upper's last bit is more than a
// half, by a comparison that knows signed numbers alone.
OP WORDS joined(HALF e, HALF o) {
    const WORDS bits = _mm256_castps_si256(e);
    const WORDS more = _mm256_castps_si256(o);
    const WORDS upper = _mm256_blend_epi16(_mm256_srli_epi32(bits, 16), more, 0xaa);
    const WORDS lower = _mm256_blend_epi16(bits, _mm256_slli_epi32(more, 16), 0xaa);
    const WORDS rest = _mm256_or_si256(lower, _mm256_and_si256(upper, _mm256_set1_epi16(1)));
    const WORDS above = _mm256_xor_si256(rest, _mm256_set1_epi16(INT16_MIN));
    return _mm256_sub_epi16(upper, _mm256_cmpgt_epi16(above, _mm256_setzero_si256()));
}

OP REAL low_doubles(REAL a, REAL b) {
    return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

OP REAL high_doubles(REAL a, REAL b) {
    return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

// The shuffles leave pairs 0 4 8 12 and 2 6 10 14.
OP even_odd_entries even_odd(const float *entries) {
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const REAL a = load(entries);
    const REAL b = load(entries + 8);
    const REAL c = load(entries + 16);
    const REAL d = load(entries + 24);
    const REAL even_1 = low_doubles(a, b);
    const REAL even_2 = low_doubles(c, d);
    const REAL odd_1 = high_doubles(a, b);
    const REAL odd_2 = high_doubles(c, d);
    return (even_odd_entries){_mm256_permutevar8x32_ps(_mm256_shuffle_ps(even_1, even_2, 0x88), order),
                              _mm256_permutevar8x32_ps(_mm256_shuffle_ps(odd_1, odd_2, 0x88), order),
                              _mm256_permutevar8x32_ps(_mm256_shuffle_ps(even_1, even_2, 0xdd), order),
                              _mm256_permutevar8x32_ps(_mm256_shuffle_ps(odd_1, odd_2, 0xdd), order)};
}
