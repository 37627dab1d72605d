// SPDX-License-Identifier: MIT
//
// The loops of one kernel that writes past the caches what its heads become, line by line, in the order in
// which they lie. Two heads at a time take a step's cosines and sines, which are read anew for the next two:
// blocks that keep them would come back to lines half written. The file that includes this defines TURN_FN,
// NAME, STEP_BYTES, ENTRY, SPLIT, READ and WRITE as in turn_tmpl.h.

TURN_FN static void NAME(const rope2d_turn *turn) {
    const rope2d_block *const end = turn->blocks + turn->block_count;
    const float *const *first_table = turn->tables;
    const unsigned char *outer_in = turn->in;
    unsigned char *outer_out = turn->out;
    for (uint32_t o = turn->outer; o > 0; o--) {
        const unsigned char *head_in = outer_in;
        unsigned char *head_out = outer_out;
        for (uint32_t left = turn->inner; left > 0; left -= left > 1 ? 2 : 1) {
            const float *const *table = first_table;
            // A last head without a second is both.
            const ptrdiff_t other_in = left > 1 ? turn->in_inner : 0;
            const ptrdiff_t other_out = left > 1 ? turn->out_inner : 0;
            for (const rope2d_block *block = turn->blocks; block < end; block++) {
                const unsigned char *in = head_in + block->first;
                unsigned char *out = head_out + block->first;
                const unsigned char *in_hi = in + block->distance;
                unsigned char *out_hi = out + block->distance;
                (void)in_hi;
                (void)out_hi;
                if (turn->fetched != 0) {
                    const unsigned char *const ahead = in + turn->ahead + block->ahead;
                    rope2d_fetch_lines(ahead, turn->fetched);
                    rope2d_fetch_lines(ahead + other_in, turn->fetched);
                }
                for (uint32_t steps = block->steps; steps > 0; steps--) {
                    const ENTRY e0 = SPLIT(*table++);
                    const ENTRY e1 = e0;
                    READ(0, 0)
                    READ(1, other_in)
                    WRITE(0, 0)
                    WRITE(1, other_out)
                    in += STEP_BYTES;
                    out += STEP_BYTES;
                    in_hi += STEP_BYTES;
                    out_hi += STEP_BYTES;
                }
            }
            head_in += 2 * turn->in_inner;
            head_out += 2 * turn->out_inner;
        }
        first_table += turn->steps;
        outer_in += turn->in_outer;
        outer_out += turn->out_outer;
    }
}

#undef NAME
#undef STEP_BYTES
#undef ENTRY
#undef SPLIT
#undef READ
#undef WRITE
