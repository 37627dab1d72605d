// SPDX-License-Identifier: MIT
#include "stream.h"

#include <string.h>

#if ROPE2D_X86_64

#include <emmintrin.h>

bool rope2d_stream_exists(void) {
    return true;
}

void rope2d_stream(unsigned char *to, const unsigned char *from, size_t size) {
    const size_t before = (ROPE2D_STREAM_LINE - (uintptr_t)to % ROPE2D_STREAM_LINE) % ROPE2D_STREAM_LINE;
    if (size < before + ROPE2D_STREAM_LINE) {
        memcpy(to, from, size);
        return;
    }
    memcpy(to, from, before);
    size_t at = before;
    for (; at + ROPE2D_STREAM_LINE <= size; at += ROPE2D_STREAM_LINE) {
        const __m128i a = _mm_loadu_si128((const void *)(from + at));
        const __m128i b = _mm_loadu_si128((const void *)(from + at + 16));
        const __m128i c = _mm_loadu_si128((const void *)(from + at + 32));
        const __m128i d = _mm_loadu_si128((const void *)(from + at + 48));
        _mm_stream_si128((void *)(to + at), a);
        _mm_stream_si128((void *)(to + at + 16), b);
        _mm_stream_si128((void *)(to + at + 32), c);
        _mm_stream_si128((void *)(to + at + 48), d);
    }
    memcpy(to + at, from + at, size - at);
}

void rope2d_stream_end(void) {
    _mm_sfence();
}

#else

bool rope2d_stream_exists(void) {
    return false;
}

void rope2d_stream(unsigned char *to, const unsigned char *from, size_t size) {
    memcpy(to, from, size);
}

void rope2d_stream_end(void) {
}

#endif
