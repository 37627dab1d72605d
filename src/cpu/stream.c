// SPDX-License-Identifier: MIT
#include "stream.h"

#include <string.h>

#if ROPE2D_X86_64

#include <immintrin.h>

#if defined(__GNUC__)
#define AVX_FN __attribute__((target("avx")))
#else
#define AVX_FN
#endif

bool rope2d_stream_exists(void) {
    return true;
}

static void lines(unsigned char *to, const unsigned char *from, size_t size) {
    for (size_t at = 0; at < size; at += 16)
        _mm_stream_si128((void *)(to + at), _mm_loadu_si128((const void *)(from + at)));
}

AVX_FN static void wide_lines(unsigned char *to, const unsigned char *from, size_t size,
                              const unsigned char *ahead) {
    for (size_t at = 0; at < size; at += ROPE2D_STREAM_LINE) {
        if (ahead) {
            _mm_prefetch((const char *)ahead + at, _MM_HINT_T0);
            _mm_prefetch((const char *)ahead + size + at, _MM_HINT_T1);
        }
        const __m256i a = _mm256_loadu_si256((const void *)(from + at));
        const __m256i b = _mm256_loadu_si256((const void *)(from + at + 32));
        _mm256_stream_si256((void *)(to + at), a);
        _mm256_stream_si256((void *)(to + at + 32), b);
    }
}

void rope2d_stream(unsigned char *to, const unsigned char *from, size_t size, const unsigned char *ahead,
                   bool is_wide) {
    const size_t before = (ROPE2D_STREAM_LINE - (uintptr_t)to % ROPE2D_STREAM_LINE) % ROPE2D_STREAM_LINE;
    if (size < before + ROPE2D_STREAM_LINE) {
        memcpy(to, from, size);
        return;
    }
    const size_t whole = (size - before) / ROPE2D_STREAM_LINE * ROPE2D_STREAM_LINE;
    const size_t after = before + whole;
    memcpy(to, from, before);
    if (is_wide)
        wide_lines(to + before, from + before, whole, ahead);
    else
        lines(to + before, from + before, whole);
    memcpy(to + after, from + after, size - after);
}

void rope2d_stream_end(void) {
    _mm_sfence();
}

#else

bool rope2d_stream_exists(void) {
    return false;
}

void rope2d_stream(unsigned char *to, const unsigned char *from, size_t size, const unsigned char *ahead,
                   bool is_wide) {
    (void)ahead;
    (void)is_wide;
    memcpy(to, from, size);
}

void rope2d_stream_end(void) {
}

#endif
