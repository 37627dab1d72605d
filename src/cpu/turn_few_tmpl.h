// SPDX-License-Identifier: MIT
//
// The loops of one kernel for few heads, a part of turn_tmpl.h: where a table turns one head or two, keeping
// it in registers over a block's steps costs more than it saves. Both take one step after the other, and but
// for turn->follows are read before either is written: a head alone is both, but where a kernel has a loop
// for it. What comes `ahead` is asked for block by block or, where ASKED_BYTES is there, step by step, in the
// order in which it lies: so much of a head, a line at most. Where turn->fetched is 0, these ask for what
// lies behind the block, which mostly is next.

// Where a block's cosines and sines begin, in the row of its axis. What the table is stays in memory: in
// registers it would leave too few, and gcc then moves some to vectors' and back.
#define ENTRIES(block) (rope2d_row_at(&turn->table, numbers[(block)->axis]) + (block)->entries)

// A block's steps.
#define STEPS_OF(turn_step)                                                                                  \
    for (uint32_t left = block->steps; left > 0; left--) {                                                   \
        const ENTRY e0 = SPLIT(entries);                                                                     \
        turn_step;                                                                                           \
        NEXT(STEP_BYTES, STEP_BYTES)                                                                         \
        entries += 2 * (PAIRS);                                                                              \
    }
#define SECOND const ENTRY e1 = e0;
#define AHEAD  const unsigned char *ahead = in + turn->ahead + block->ahead - turn->fetched
// Every token, block by block.
#define BLOCKS(ask, turn_steps)                                                                              \
    for (uint32_t o = turn->outer; o > 0; o--) {                                                             \
        for (const rope2d_block *block = turn->blocks; block < end; block++) {                               \
            const float *entries = ENTRIES(block);                                                           \
            const unsigned char *in = outer_in + block->first;                                               \
            unsigned char *out = outer_out + block->first;                                                   \
            const unsigned char *in_hi = in + block->distance;                                               \
            unsigned char *out_hi = out + block->distance;                                                   \
            (void)in_hi;                                                                                     \
            (void)out_hi;                                                                                    \
            ask;                                                                                             \
            turn_steps                                                                                       \
        }                                                                                                    \
        numbers += turn->row_axes;                                                                           \
        outer_in += turn->in_outer;                                                                          \
        outer_out += turn->out_outer;                                                                        \
    }

TURN_FN static void NAME(const rope2d_turn *turn) {
    const ptrdiff_t other_in = turn->inner > 1 ? turn->in_inner : 0;
    const ptrdiff_t other_out = turn->inner > 1 ? turn->out_inner : 0;
    const rope2d_block *const end = turn->blocks + turn->block_count;
    const bool direct = turn->direct; // for WRITE
    (void)direct;
    const int32_t *numbers = turn->rows;
    const unsigned char *outer_in = turn->in;
    unsigned char *outer_out = turn->out;
#if FOLLOWS == HALVES_FOLLOW
    // A processor keeps up with lines of lo, of hi, and of both again where they were asked for in the order
    // in which they lie, each twice (once: a twelfth slower), and one head is written before the other is
    // read.
    if (ROPE2D_RARELY(turn->inner == 1)) {
        BLOCKS(AHEAD, STEPS_OF({
                   rope2d_fetch(ahead);
                   rope2d_fetch(ahead + ROPE2D_STREAM_LINE);
                   ahead += 2 * STEP_BYTES;
                   READ(0, 0)
                   WRITE(0, 0)
               }))
        return;
    }
    if (ROPE2D_RARELY(turn->follows)) {
        BLOCKS(AHEAD, STEPS_OF({
                   SECOND
                   rope2d_fetch(ahead);
                   rope2d_fetch(ahead + ROPE2D_STREAM_LINE);
                   rope2d_fetch(ahead + other_in);
                   rope2d_fetch(ahead + other_in + ROPE2D_STREAM_LINE);
                   ahead += 2 * STEP_BYTES;
                   READ(0, 0)
                   WRITE(0, 0)
                   READ(1, other_in)
                   WRITE(1, other_out)
               }))
        return;
    }
#elif FOLLOWS == PAIRS_FOLLOW
    // A processor keeps up with one head after the other, each read in order.
    if (ROPE2D_RARELY(turn->follows || turn->inner == 1)) {
        for (uint32_t o = turn->outer; o > 0; o--) {
            for (uint32_t n = 0; n < turn->inner; n++) {
                for (uint32_t b = 0; b < turn->block_count; b++) {
                    const rope2d_block *const block = &turn->blocks[b];
                    const unsigned char *in = outer_in + (n > 0 ? other_in : 0) + block->first;
                    unsigned char *out = outer_out + (n > 0 ? other_out : 0) + block->first;
                    const float *entries = ENTRIES(block);
                    for (uint32_t left = block->steps; left > 0; left--) {
                        const ENTRY e0 = SPLIT(entries);
                        rope2d_fetch(in + turn->ahead);
                        READ(0, 0)
                        WRITE(0, 0)
                        in += STEP_BYTES;
                        out += STEP_BYTES;
                        entries += 2 * (PAIRS);
                    }
                }
            }
            numbers += turn->row_axes;
            outer_in += turn->in_outer;
            outer_out += turn->out_outer;
        }
        return;
    }
#endif
#ifdef ASKED_BYTES
    BLOCKS(AHEAD, if (IS_ALONE) STEPS_OF({
               rope2d_fetch(ahead);
               ahead += ASKED_BYTES;
               READ(0, 0)
               WRITE(0, 0)
           }) else STEPS_OF({
               SECOND
               rope2d_fetch(ahead);
               rope2d_fetch(ahead + other_in);
               ahead += ASKED_BYTES;
               READ(0, 0)
               READ(1, other_in)
               WRITE(0, 0)
               WRITE(1, other_out)
           }))
#else
    BLOCKS(
        if (ROPE2D_RARELY(turn->fetched != 0)) {
            const unsigned char *const ahead = in + turn->ahead + block->ahead;
            rope2d_fetch_lines(ahead, turn->fetched);
            rope2d_fetch_lines(ahead + other_in, turn->fetched);
        },
        STEPS_OF(SECOND READ(0, 0) READ(1, other_in) WRITE(0, 0) WRITE(1, other_out)))
#endif
}

#undef AHEAD
#undef STEPS_OF
#undef SECOND
#undef BLOCKS
#undef ENTRIES
