// SPDX-License-Identifier: MIT
//
// bf16 in vectors of 512 bits, behind turn_avx512_tmpl.h, as turn_bf16_tmpl.h wants them, but for
// store_words().

#define HALF         REAL
#define HALF_WIDTH   WIDTH
#define WORDS        __m512i
#define half_entries real_entries
#define half_split   split
#define half_mul     mul
#define half_add     add
#define half_sub     sub

typedef struct even_odd_entries {
    REAL ce, co, se, so;
} even_odd_entries;

OP WORDS load_words(const void *p) {
    return _mm512_loadu_si512(p);
}

// `direct`: past the caches.
OP void store_words_where(void *p, WORDS w, bool direct) {
    if (direct)
        _mm512_stream_si512(p, w);
    else
        _mm512_storeu_si512(p, w);
}

OP REAL even(WORDS w) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(w, 16));
}

OP REAL odd(WORDS w) {
    return _mm512_castsi512_ps(_mm512_and_si512(w, _mm512_set1_epi32((int)0xffff0000u)));
}

// As in turn_avx512.c.
OP WORDS joined(REAL e, REAL o) {
    const WORDS ones = _mm512_set1_epi16(1);
    const WORDS bits = _mm512_castps_si512(e);
    const WORDS more = _mm512_castps_si512(o);
    const WORDS swaps = _mm512_set4_epi32(0x0d0c0f0e, 0x09080b0a, 0x05040706, 0x01000302);
    const WORDS lower = _mm512_mask_shuffle_epi8(bits, 0xccccccccccccccccu, more, swaps);
    const WORDS upper = _mm512_mask_shuffle_epi8(more, 0x3333333333333333u, bits, swaps);
    const WORDS rest = _mm512_ternarylogic_epi32(lower, upper, ones, 0xf8); // lower | (upper & 1)
    const __mmask32 up = _mm512_cmpgt_epu16_mask(rest, _mm512_set1_epi16(INT16_MIN));
    return _mm512_mask_add_epi16(upper, up, upper, ones);
}

// Of 32 pairs.
OP even_odd_entries even_odd(const float *entries) {
    const __m512i cosines = _mm512_setr_epi32(0, 4, 8, 12, 2, 6, 10, 14, 16, 20, 24, 28, 18, 22, 26, 30);
    const __m512i sines = _mm512_or_si512(cosines, _mm512_set1_epi32(1));
    const __m512d a = _mm512_castps_pd(load(entries));
    const __m512d b = _mm512_castps_pd(load(entries + 16));
    const __m512d c = _mm512_castps_pd(load(entries + 32));
    const __m512d d = _mm512_castps_pd(load(entries + 48));
    const REAL e = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
    const REAL f = _mm512_castpd_ps(_mm512_unpacklo_pd(c, d));
    const REAL g = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    const REAL h = _mm512_castpd_ps(_mm512_unpackhi_pd(c, d));
    return (even_odd_entries){_mm512_permutex2var_ps(e, cosines, f), _mm512_permutex2var_ps(g, cosines, h),
                              _mm512_permutex2var_ps(e, sines, f), _mm512_permutex2var_ps(g, sines, h)};
}
