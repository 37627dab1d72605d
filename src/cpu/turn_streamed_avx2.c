// SPDX-License-Identifier: MIT
//
// fp32 and binary16, written past the caches. bf16 takes as long to turn as turn_avx2.c's does with a copy.
#include "turn_lists.h"

#if ROPE2D_X86_64

#define TARGET "avx2,f16c"
#include "turn_avx2_tmpl.h"

#include "turn_pair_tmpl.h"

// By 16 bytes, as memory of the C library's is aligned.
OP void streamed(void *p, REAL v) {
    _mm_stream_ps(p, _mm256_castps256_ps128(v));
    _mm_stream_ps((float *)p + 4, _mm256_extractf128_ps(v, 1));
}

OP void streamed_f16(void *p, REAL v) {
    _mm_stream_si128(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

#define NAME         half_f32
#define STEP_BYTES   (4 * WIDTH)
#define ENTRY        real_entries
#define SPLIT        split
#define READ(i, at)  HALF_READ(load, i, at)
#define WRITE(i, at) HALF_WRITE(streamed, i, at)
#include "turn_streamed_tmpl.h"

#define NAME         interleaved_f32
#define STEP_BYTES   (4 * WIDTH)
#define ENTRY        real_entries
#define SPLIT        doubled
#define READ(i, at)  const REAL x##i = load(in + (at));
#define WRITE(i, at) PAIR_WRITE(streamed, i, at)
#include "turn_streamed_tmpl.h"

#define NAME         half_f16
#define STEP_BYTES   (2 * WIDTH)
#define ENTRY        real_entries
#define SPLIT        split
#define READ(i, at)  HALF_READ(load_f16, i, at)
#define WRITE(i, at) HALF_WRITE(streamed_f16, i, at)
#include "turn_streamed_tmpl.h"

#define NAME         interleaved_f16
#define STEP_BYTES   (2 * WIDTH)
#define ENTRY        real_entries
#define SPLIT        doubled
#define READ(i, at)  const REAL x##i = load_f16(in + (at));
#define WRITE(i, at) PAIR_WRITE(streamed_f16, i, at)
#include "turn_streamed_tmpl.h"

const rope2d_turn_kernel rope2d_turn_streamed_avx2[4] = {
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F32, 8, 32, UINT8_MAX, .streams = true, .turn = half_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_HALF, ROPE2D_F16, 8, 16, UINT8_MAX, .streams = true, .turn = half_f16},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 4, 32, UINT8_MAX, .streams = true,
     .turn = interleaved_f32},
    {ROPE2D_ISA_AVX2, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F16, 4, 16, UINT8_MAX, .streams = true,
     .turn = interleaved_f16},
};

#endif
