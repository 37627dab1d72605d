// SPDX-License-Identifier: MIT
//
// The vector kernels of the CPU: each turns heads by the (cos, sin) of a row of the table, with the bits of
// shaders/core.h, from one 16- or 32-bit type to the same. Each is listed once, at the end of
// its turn_*.c; dispatch and tests go by these lists.
//
// A kernel goes in steps of `pairs` pairs, whole vectors only. Where the last step of a run is not full it
// begins earlier and does some pairs twice: a block reads its last two steps before it writes either. Or,
// where a run is two steps and a half, as 40 pairs are of 16, the halves of two heads are one step.
#ifndef ROPE2D_CPU_TURN_H
#define ROPE2D_CPU_TURN_H

#include "stream.h"

// Of a head. More would need more room on the stack of a task.
#define ROPE2D_TURN_MOST_PAIRS 256

// Consecutive steps of a run of pairs, whose cosines and sines stay in registers over the heads of a token.
// Bytes count from the head's first channel.
typedef struct rope2d_block {
    uint32_t first;   // byte of the first pair's lo
    int32_t distance; // bytes from lo to hi, which may lie before it; unused by interleaved kernels
    uint32_t last;    // bytes from the first step to the last
    uint32_t steps;   // 1 to the kernel's block_steps, or as many as there are
    uint32_t axis;    // for few heads: whose row turns it, and from which fp32 of that on
    uint32_t entries;
    int32_t ahead;  // bytes to the end of the lines that it asks for, of the head `ahead` bytes from this one
    bool is_shared; // three steps, the last one half this head's, half the next one's
} rope2d_block;

// The rows of the table, or of a head's part of it.
typedef struct rope2d_rows {
    const float *first;
    size_t stride; // in fp32
    uint32_t last;
} rope2d_rows;

static inline const float *rope2d_row_at(const rope2d_rows *table, int32_t row) {
    return table->first + ((uint32_t)row < table->last ? (uint32_t)row : table->last) * table->stride;
}

// `outer` tables, each of which turns `inner` heads. Strides are in bytes.
typedef struct rope2d_turn {
    const unsigned char *in; // channel 0 of the first head
    unsigned char *out;
    const float *const *tables; // [outer][steps]: (cos, sin) of a step's pairs
    // A kernel for few heads goes by row numbers. To find the tables of some tokens first, and then turn
    // them, takes a twentieth to a fifth of the time of single heads, in which vectors have no work.
    const int32_t *rows; // [outer][row_axes], none negative
    uint32_t row_axes;
    rope2d_rows table;
    ptrdiff_t in_inner;
    ptrdiff_t out_inner;
    ptrdiff_t in_outer;
    ptrdiff_t out_outer;
    uint32_t inner;
    uint32_t outer;
    uint32_t group; // heads that a block turns before the next block turns them, at least 1
    const rope2d_block *blocks;
    uint32_t block_count;
    uint32_t steps; // of all blocks; for few heads 0
    // Where the heads of a second tensor follow: how many, and how far they are from the first's end. A group
    // is then all heads of both, or divides the first's and is no more than the second's.
    uint32_t second;
    ptrdiff_t in_jump;
    ptrdiff_t out_jump;
    // Bytes that each block asks for while it turns a head, of a head that is `ahead` bytes from this one; 0:
    // none. A kernel whose steps ask, ASK of turn_tmpl.h, only looks whether it is 0, and then asks for what
    // it reads; and for few heads, ASKED_BYTES, and one head alone each step asks, whatever it is.
    ptrdiff_t fetched; // whole lines
    ptrdiff_t ahead;
    bool in_order; // what is asked for is what follows, some bytes later
    bool direct;   // a kernel that may_stream writes past the caches
    bool follows;  // a kernel for few heads asks step by step, or goes head by head, where they are two
} rope2d_turn;

typedef void rope2d_turn_fn(const rope2d_turn *turn);

typedef enum rope2d_kernel_pairing {
    ROPE2D_KERNEL_HALF,       // lo and hi in runs of their own
    ROPE2D_KERNEL_INTERLEAVED // hi beside lo
} rope2d_kernel_pairing;

typedef struct rope2d_turn_kernel {
    uint8_t isa;         // rope2d_isa
    uint8_t pairing;     // rope2d_kernel_pairing
    uint8_t element;     // rope2d_element
    uint8_t pairs;       // of a step, the least that a run must have
    uint8_t bytes;       // from a step to the next
    uint8_t block_steps; // at most
    uint8_t lengths;     // bit i: it knows blocks of block_steps - i; 0: all up to block_steps
    bool shares : 1;     // knows blocks that are shared
    bool is_few : 1;  // turn_few_tmpl.h's: `inner` is 1 or 2, a block is all steps that one axis turns, and
                      // none overlap. It finds tables itself, by `rows` of rope2d_turn: all heads have one,
                      // and it is no product
    bool alone : 1;   // such a kernel turns a head alone, and not that one twice: it is taken for one, too
    bool is_past : 1; // past a thread's own caches such a kernel is better than the wider one, on AMD's
                      // processors: f32's halves, by a quarter, where they are a tenth slower in those caches
    bool streams : 1; // turn_streamed_tmpl.h's: out of place alone, to addresses that are multiples of
                      // ROPE2D_STREAM_ALIGNMENT, in whole steps, without a second tensor
    bool may_stream : 1; // writes past the caches where rope2d_turn says so: to heads that begin at multiples
                         // of ROPE2D_STREAM_LINE, and steps at multiples of `bytes`
    rope2d_turn_fn *turn;
} rope2d_turn_kernel;

// Of rope2d_turn_kernel.lengths.
#define ROPE2D_LENGTH(fewer) (1u << (fewer))

#define ROPE2D_KERNEL_NAME 32
// As in "half_f32_few_avx512", in tests, in the bench and in what a plan says of itself.
void rope2d_turn_kernel_name(const rope2d_turn_kernel *kernel, char name[ROPE2D_KERNEL_NAME]);

// The kernels of this architecture, widest first, those that this processor lacks too; NULL past the last.
const rope2d_turn_kernel *rope2d_turn_kernel_at(uint32_t index);

#endif
