// SPDX-License-Identifier: MIT
//
// Has a kernel write where its heads belong, or past the caches, or by way of another type.
#include "apply.h"
#include "convert.h"
#include "stream.h"

#include <string.h>

#define SCRATCH_BYTES (ROPE2D_SCRATCH_FLOATS * sizeof(float))
// Of heads that are streamed, where the next ones are asked for meanwhile; of tensors of one head.
#define PIECE_BYTES     1792
#define PIECE_BYTES_FEW 2560

static void copy_passes(const rope2d_vector *v, const unsigned char *in, unsigned char *out) {
    for (uint32_t i = 0; i < v->pass_count; i++)
        memcpy(out + v->passes[i].first, in + v->passes[i].first, v->passes[i].size);
}

// The kernel turns pairs; what else a head has passes through.
static void turn(const rope2d_vector *v, const rope2d_turn *t, bool in_place) {
    v->kernel->turn(t);
    if (in_place || v->pass_count == 0)
        return;
    for (uint32_t o = 0; o < t->outer; o++)
        for (uint32_t i = 0; i < t->inner; i++)
            copy_passes(v, t->in + (ptrdiff_t)o * t->in_outer + (ptrdiff_t)i * t->in_inner,
                        t->out + (ptrdiff_t)o * t->out_outer + (ptrdiff_t)i * t->out_inner);
}

// Heads with one table into memory that stays in the cache, and from there past it, in the order in which
// they lie: kernels write lo and hi in turns, which would leave lines half written.
static void turn_past_caches(const rope2d_cpu_job *job, const rope2d_turn *t) {
    // What lies in order, by bytes. What takes long to turn has memory wait meanwhile, unless the kernel
    // asks.
    const rope2d_turn_kernel *const kernel = job->vector->kernel;
    const uint32_t piece = kernel->is_few ? PIECE_BYTES_FEW : PIECE_BYTES;
    const bool asks =
        (kernel->element == ROPE2D_F32 || kernel->is_few) && job->head_bytes <= piece && t->in_order;
    const bool is_wide = kernel->isa != ROPE2D_ISA_SSE2;
    // In one page: on AMD's Zen 3 a vector that is written into two takes ten times as long as another.
    // Heads whose parts are no whole vectors took up to half as long again where the stack had them so.
    unsigned char memory[2 * SCRATCH_BYTES];
    unsigned char *const scratch = memory + SCRATCH_BYTES - (uintptr_t)memory % SCRATCH_BYTES;
    const size_t size = job->head_bytes;
    rope2d_turn part = *t;
    part.outer = 1;
    part.out = scratch;
    part.out_inner = (ptrdiff_t)size;
    part.fetched = asks ? 0 : t->fetched; // what follows line by line asks as well: a tenth sooner
    // Pieces as equal as they can be, and where that can be, no line is written by two of them.
    uint32_t room = (uint32_t)((asks ? piece : SCRATCH_BYTES) / size);
    room = (t->inner - 1) / ((t->inner - 1) / room + 1) + 1;
    for (uint32_t whole = room; whole > 0; whole--)
        if (whole * size % ROPE2D_STREAM_LINE == 0) {
            room = whole;
            break;
        }
    for (uint32_t o = 0; o < t->outer; o++, part.tables += t->steps) {
        unsigned char *to = t->out + (ptrdiff_t)o * t->out_outer;
        part.in = t->in + (ptrdiff_t)o * t->in_outer;
        for (uint32_t left = t->inner; left > 0; left -= part.inner) {
            part.inner = left < room ? left : room;
            turn(job->vector, &part, false);
            const bool is_whole = t->out_inner == (ptrdiff_t)size;
            const size_t bytes = is_whole ? part.inner * size : size;
            for (uint32_t i = 0; i < (is_whole ? 1 : part.inner); i++) {
                const unsigned char *in = part.in + (ptrdiff_t)i * t->in_inner;
                rope2d_stream(to + (ptrdiff_t)i * t->out_inner, scratch + i * size, bytes,
                              asks ? in + piece : NULL, is_wide);
            }
            part.in += part.inner * t->in_inner;
            to += part.inner * t->out_inner;
        }
        if (kernel->is_few)
            part.rows += t->row_axes;
    }
}

void rope2d_vector_turn(const rope2d_cpu_job *job, const rope2d_turn *t, bool in_place) {
#if ROPE2D_X86_64
    if (rope2d_cpu_converts(job->plan)) {
        rope2d_turn_converted(job, t);
        return;
    }
#endif
    if (job->streams && !in_place && !job->direct && job->head_bytes <= SCRATCH_BYTES &&
        !job->vector->kernel->streams)
        turn_past_caches(job, t);
    else
        turn(job->vector, t, in_place);
}
