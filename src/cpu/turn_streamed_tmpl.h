// SPDX-License-Identifier: MIT
//
// The loops of one kernel that writes past the caches what its heads become, line by line, in the order in
// which they lie: blocks that keep some steps' cosines and sines for all heads would come back to lines half
// written. All of a token are laid out once, in the nearest cache. The file that includes this defines
// TURN_FN, and NAME, STEP_BYTES, PAIRS, ENTRY, SPLIT, READ, WRITE and ASK as in turn_tmpl.h, and
//
//     HEADS   1, or 2: of two heads each step takes what it turns by once, where loading it costs much; more
//             would leave more lines open than processors join the parts of

#if HEADS == 2
#define FOR_HEADS(first, second) first second
#define HEADS_OF(left)           ((left) > 1 ? 2 : 1)
#else
#define FOR_HEADS(first, second) first
#define HEADS_OF(left)           1
#endif

TURN_FN static void NAME(const rope2d_turn *turn) {
    const rope2d_block *const end = turn->blocks + turn->block_count;
    const float *const *table = turn->tables;
    const unsigned char *outer_in = turn->in;
    unsigned char *outer_out = turn->out;
    // Each step asks, for some lines twice. Where nothing is asked for, it is what is read next.
    const ptrdiff_t asked = turn->fetched != 0 ? turn->ahead : 0;
    ENTRY entries[ROPE2D_TURN_MOST_PAIRS / PAIRS];
    for (uint32_t o = turn->outer; o > 0; o--) {
        const unsigned char *head_in = outer_in;
        unsigned char *head_out = outer_out;
        for (uint32_t i = 0; i < turn->steps; i++)
            entries[i] = SPLIT(*table++);
        for (uint32_t left = turn->inner; left > 0; left -= HEADS_OF(left)) {
            const ENTRY *entry = entries;
            // A last head without a second is both.
            FOR_HEADS(, const ptrdiff_t other_in = left > 1 ? turn->in_inner : 0;)
            FOR_HEADS(, const ptrdiff_t other_out = left > 1 ? turn->out_inner : 0;)
            for (const rope2d_block *block = turn->blocks; block < end; block++) {
                const unsigned char *in = head_in + block->first;
                unsigned char *out = head_out + block->first;
                const unsigned char *in_hi = in + block->distance;
                unsigned char *out_hi = out + block->distance;
                (void)in_hi;
                (void)out_hi;
                for (uint32_t steps = block->steps; steps > 0; steps--) {
                    const ENTRY e0 = *entry++;
                    FOR_HEADS(ASK(asked), ASK(asked + other_in))
                    FOR_HEADS(READ(0, 0), const ENTRY e1 = e0; READ(1, other_in))
                    FOR_HEADS(WRITE(0, 0), WRITE(1, other_out))
                    in += STEP_BYTES;
                    out += STEP_BYTES;
                    in_hi += STEP_BYTES;
                    out_hi += STEP_BYTES;
                }
            }
            head_in += HEADS * turn->in_inner;
            head_out += HEADS * turn->out_inner;
        }
        outer_in += turn->in_outer;
        outer_out += turn->out_outer;
    }
}

#undef FOR_HEADS
#undef HEADS_OF
#undef HEADS
#undef PAIRS
#undef NAME
#undef STEP_BYTES
#undef ENTRY
#undef SPLIT
#undef READ
#undef WRITE
#undef ASK
