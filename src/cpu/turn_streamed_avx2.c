// SPDX-License-Identifier: MIT
//
// Written past the caches.
#include "turn_lists.h"

#if ROPE2D_X86_64

#define TARGET "avx2,f16c"
#include "turn_avx2_tmpl.h"

#include "turn_words_avx2_tmpl.h"

#include "turn_pair_tmpl.h"

// By 16 bytes where memory is as the C library aligns it.
OP void streamed(void *p, REAL v) {
    if (((uintptr_t)p & 16) == 0) {
        _mm256_stream_ps(p, v);
        return;
    }
    _mm_stream_ps(p, _mm256_castps256_ps128(v));
    _mm_stream_ps((float *)p + 4, _mm256_extractf128_ps(v, 1));
}

OP void streamed_f16(void *p, REAL v) {
    _mm_stream_si128(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

OP void streamed_words(void *p, WORDS w) {
    streamed(p, _mm256_castsi256_ps(w));
}

#define NAME         half_f32
#define STEP_BYTES   (4 * WIDTH)
#define PAIRS        WIDTH
#define HEADS        1
#define ENTRY        real_entries
#define SPLIT        split
#define READ(i, at)  HALF_READ(load, i, at)
#define WRITE(i, at) HALF_WRITE(streamed, i, at)
#define ASK          HALF_ASK
#include "turn_streamed_tmpl.h"

#define NAME         interleaved_f32
#define STEP_BYTES   (4 * WIDTH)
#define PAIRS        (WIDTH / 2)
#define HEADS        1
#define ENTRY        real_entries
#define SPLIT        doubled
#define READ(i, at)  const REAL x##i = load(in + (at));
#define WRITE(i, at) PAIR_WRITE(streamed, i, at)
#define ASK          PAIR_ASK
#include "turn_streamed_tmpl.h"

#define NAME         half_f16
#define STEP_BYTES   (2 * WIDTH)
#define PAIRS        WIDTH
#define HEADS        2
#define ENTRY        real_entries
#define SPLIT        split
#define READ(i, at)  HALF_READ(load_f16, i, at)
#define WRITE(i, at) HALF_WRITE(streamed_f16, i, at)
#define ASK          HALF_ASK
#include "turn_streamed_tmpl.h"

#define NAME         interleaved_f16
#define STEP_BYTES   (2 * WIDTH)
#define PAIRS        (WIDTH / 2)
#define HEADS        2
#define ENTRY        real_entries
#define SPLIT        doubled
#define READ(i, at)  const REAL x##i = load_f16(in + (at));
#define WRITE(i, at) PAIR_WRITE(streamed_f16, i, at)
#define ASK          PAIR_ASK
#include "turn_streamed_tmpl.h"

#define NAME         half_bf16
#define STEP_BYTES   (4 * HALF_WIDTH)
#define PAIRS        (2 * HALF_WIDTH)
#define HEADS        2
#define ENTRY        even_odd_entries
#define SPLIT        even_odd
#define READ(i, at)  HALF_WORDS_READ(load_words, i, at)
#define WRITE(i, at) HALF_WORDS_WRITE(streamed_words, i, at)
#define ASK          HALF_ASK
#include "turn_streamed_tmpl.h"

#define NAME         interleaved_bf16
#define STEP_BYTES   (4 * HALF_WIDTH)
#define PAIRS        HALF_WIDTH
#define HEADS        1
#define ENTRY        half_entries
#define SPLIT        half_split
#define READ(i, at)  const WORDS x##i = load_words(in + (at));
#define WRITE(i, at) PAIR_WORDS_WRITE(streamed_words, i, at)
#define ASK          PAIR_ASK
#include "turn_streamed_tmpl.h"

const rope2d_turn_kernel rope2d_turn_streamed_avx2[6] = {
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F32, 8, 32, UINT8_MAX, .streams = true, .turn = half_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F16, 8, 16, UINT8_MAX, .streams = true, .turn = half_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 16, 32, UINT8_MAX, .streams = true, .turn = half_bf16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 4, 32, UINT8_MAX, .streams = true,
     .turn = interleaved_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F16, 4, 16, UINT8_MAX, .streams = true,
     .turn = interleaved_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 8, 32, UINT8_MAX, .streams = true,
     .turn = interleaved_bf16},
};

#endif
