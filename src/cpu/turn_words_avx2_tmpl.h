// SPDX-License-Identifier: MIT
//
// bf16 in vectors of 256 bits, behind turn_avx2_tmpl.h, as turn_bf16_tmpl.h wants them.
#include "turn_words_256_tmpl.h"

#define half_entries real_entries
#define half_split   split
#define half_mul     mul
#define half_add     add
#define half_sub     sub

// Upper halves, one more where the lower half, less one where the upper is even, is a half at least.
OP WORDS joined(HALF e, HALF o) {
    const WORDS bits = _mm256_castps_si256(e);
    const WORDS more = _mm256_castps_si256(o);
    const WORDS upper = _mm256_blend_epi16(_mm256_srli_epi32(bits, 16), more, 0xaa);
    const WORDS lower = _mm256_blend_epi16(bits, _mm256_slli_epi32(more, 16), 0xaa);
    const WORDS is_even = _mm256_andnot_si256(upper, _mm256_set1_epi16(1));
    return _mm256_add_epi16(upper, _mm256_srli_epi16(_mm256_subs_epu16(lower, is_even), 15));
}

OP REAL low_doubles(REAL a, REAL b) {
    return _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

OP REAL high_doubles(REAL a, REAL b) {
    return _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(a), _mm256_castps_pd(b)));
}

OP even_odd_entries even_odd(const float *entries) {
    const REAL a = two_and_two(entries, 16);
    const REAL b = two_and_two(entries + 4, 16);
    const REAL c = two_and_two(entries + 8, 16);
    const REAL d = two_and_two(entries + 12, 16);
    const REAL even_1 = low_doubles(a, b);
    const REAL even_2 = low_doubles(c, d);
    const REAL odd_1 = high_doubles(a, b);
    const REAL odd_2 = high_doubles(c, d);
    return (even_odd_entries){_mm256_shuffle_ps(even_1, even_2, 0x88), _mm256_shuffle_ps(odd_1, odd_2, 0x88),
                              _mm256_shuffle_ps(even_1, even_2, 0xdd), _mm256_shuffle_ps(odd_1, odd_2, 0xdd)};
}
