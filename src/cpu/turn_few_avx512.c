// SPDX-License-Identifier: MIT
#include "turn_lists.h"

#if ROPE2D_X86_64

#include "turn_avx512_tmpl.h"

#include "turn_words_avx512_tmpl.h"

#define IS_FEW     1
#define HAS_F16    1
#define HAS_AHEAD  1
#define HAS_SHARED 0

// As in turn_avx2.c.
OP REAL load_f16(const void *p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(p));
}

OP void store_f16_where(void *p, REAL v, bool direct) {
    const __m256i numbers = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    if (direct)
        _mm256_stream_si256(p, numbers);
    else
        _mm256_storeu_si256(p, numbers);
}

// `direct` is a kernel's own.
#define store_f16(p, v)   store_f16_where(p, v, direct)
#define store_words(p, w) store_words_where(p, w, direct)

#include "turn_all_tmpl.h"

const rope2d_turn_kernel rope2d_turn_few_avx512[6] = {
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_HALF, ROPE2D_F32, 16, 64, UINT8_MAX, .is_few = true, .turn = half_f32},
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_HALF, ROPE2D_F16, 16, 32, UINT8_MAX, .is_few = true, .may_stream = true,
     .turn = half_f16},
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_HALF, ROPE2D_BF16, 32, 64, UINT8_MAX, .is_few = true,
     .may_stream = true, .turn = half_bf16},
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F32, 8, 64, UINT8_MAX, .is_few = true,
     .alone = true, .turn = interleaved_f32},
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_F16, 8, 32, UINT8_MAX, .is_few = true,
     .alone = true, .may_stream = true, .turn = interleaved_f16},
    {ROPE2D_ISA_AVX512, ROPE2D_KERNEL_INTERLEAVED, ROPE2D_BF16, 16, 64, UINT8_MAX, .is_few = true,
     .may_stream = true, .turn = interleaved_bf16},
};

#endif
