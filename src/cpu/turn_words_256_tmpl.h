// SPDX-License-Identifier: MIT
//
// bf16 in words of 256 bits, for AVX2's kernels and those of AVX-512 that go by such vectors.

#define HALF       __m256
#define HALF_WIDTH 8
#define WORDS      __m256i

typedef struct even_odd_entries {
    HALF ce, co, se, so;
} even_odd_entries;

OP WORDS load_words(const void *p) {
    return _mm256_loadu_si256(p);
}

OP void store_words(void *p, WORDS w) {
    _mm256_storeu_si256(p, w);
}

OP HALF even(WORDS w) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(w, 16));
}

OP HALF odd(WORDS w) {
    return _mm256_castsi256_ps(_mm256_and_si256(w, _mm256_set1_epi32((int)0xffff0000u)));
}
