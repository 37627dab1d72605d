// SPDX-License-Identifier: MIT
#include "convert.h"

#if ROPE2D_X86_64

CONVERT_FN static void widen(float *to, const unsigned char *from, rope2d_element type, uint32_t count) {
    for (uint32_t at = 0; at < count; at += ROPE2D_CONVERTED)
        _mm256_storeu_ps(to + at, rope2d_widen(from, at, type));
}

CONVERT_FN static void narrow(unsigned char *to, const float *from, rope2d_element type, uint32_t count) {
    for (uint32_t at = 0; at < count; at += ROPE2D_CONVERTED)
        rope2d_narrow(to, at, type, _mm256_loadu_ps(from + at));
}

void rope2d_turn_converted(const rope2d_cpu_job *job, const rope2d_turn *t) {
    _Alignas(ROPE2D_STREAM_LINE) float scratch[ROPE2D_SCRATCH_FLOATS]; // else vectors would be in two lines
    const uint32_t dim = job->plan->pattern.head_dim;
    rope2d_turn part = *t;
    part.in = part.out = (unsigned char *)scratch;
    part.in_inner = part.out_inner = (ptrdiff_t)(dim * sizeof(float));
    part.outer = 1;
    part.fetched = 0;
    for (uint32_t o = 0; o < t->outer; o++, part.tables += t->steps) {
        const unsigned char *from = t->in + (ptrdiff_t)o * t->in_outer;
        unsigned char *to = t->out + (ptrdiff_t)o * t->out_outer;
        for (uint32_t left = t->inner; left > 0; left -= part.inner) {
            const uint32_t room = ROPE2D_SCRATCH_FLOATS / dim;
            part.inner = left < room ? left : room;
            for (uint32_t i = 0; i < part.inner; i++, from += t->in_inner)
                widen(scratch + i * dim, from, job->plan->in, dim);
            job->vector->kernel->turn(&part);
            for (uint32_t i = 0; i < part.inner; i++, to += t->out_inner)
                narrow(to, scratch + i * dim, job->plan->out, dim);
        }
    }
}

#endif
