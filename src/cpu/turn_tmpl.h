// SPDX-License-Identifier: MIT
//
// The loops of one kernel, for every instruction set. The file that includes this defines
//
//     TURN_FN           how a function of the instruction set begins
//     NAME              of the kernel's function
//     STEP_BYTES        from a step's first byte to the next step's
//     STEP_PAIRS        of a step
//     ENTRIES(i, at)    declares what step i keeps in registers of the (cos, sin) of its pairs, from `at` on
//     READ(i, at)       declares what step i reads from byte `at` of in on
//     WRITE(i, at)      turns it and writes it at byte `at` of out on
//
// with `in`, `out` and `distance` (from lo to hi) in sight. All names end in the number of the step.

#define TABLE(i)      ENTRIES(i, table + 2 * (size_t)(i)*STEP_PAIRS)
#define TABLE_LAST(i) ENTRIES(i, table + last_entry)
#define STEP(i)                                                                                              \
    READ(i, (size_t)(i)*STEP_BYTES)                                                                          \
    WRITE(i, (size_t)(i)*STEP_BYTES)
// The last step may overlap the one before.
#define LAST_TWO(i, j)                                                                                       \
    READ(i, (size_t)(i)*STEP_BYTES)                                                                          \
    READ(j, last)                                                                                            \
    WRITE(i, (size_t)(i)*STEP_BYTES)                                                                         \
    WRITE(j, last)
#define HEADS(steps)                                                                                         \
    for (uint32_t n = heads; n > 0; n--) {                                                                   \
        steps in += in_inner;                                                                                \
        out += out_inner;                                                                                    \
    }                                                                                                        \
    break;

TURN_FN static void NAME(const rope2d_turn *turn) {
    // Else they would be read again after every store.
    const ptrdiff_t in_inner = turn->in_inner;
    const ptrdiff_t out_inner = turn->out_inner;
    uint32_t head = 0;
    for (uint32_t o = 0; o < turn->outer; o += head == 0) {
        const uint32_t heads = turn->inner - head < turn->group ? turn->inner - head : turn->group;
        for (uint32_t b = 0; b < turn->block_count; b++) {
            const rope2d_block *block = &turn->blocks[b];
            const float *table = turn->tables[o * turn->block_count + b];
            const size_t distance = block->distance;
            const size_t last = block->last;
            const size_t last_entry = 2 * (size_t)block->last_pair;
            const unsigned char *in =
                turn->in + (ptrdiff_t)o * turn->in_outer + (ptrdiff_t)head * in_inner + block->first;
            unsigned char *out =
                turn->out + (ptrdiff_t)o * turn->out_outer + (ptrdiff_t)head * out_inner + block->first;
            (void)distance;
            switch (block->steps) {
            case 1: {
                TABLE_LAST(0)
                HEADS(READ(0, last) WRITE(0, last))
            }
            case 2: {
                TABLE(0)
                TABLE_LAST(1)
                HEADS(LAST_TWO(0, 1))
            }
            case 3: {
                TABLE(0)
                TABLE(1)
                TABLE_LAST(2)
                HEADS(STEP(0) LAST_TWO(1, 2))
            }
            case 4: {
                TABLE(0)
                TABLE(1)
                TABLE(2)
                TABLE_LAST(3)
                HEADS(STEP(0) STEP(1) LAST_TWO(2, 3))
            }
            default: {
                TABLE(0)
                TABLE(1)
                TABLE(2)
                TABLE(3)
                TABLE_LAST(4)
                HEADS(STEP(0) STEP(1) STEP(2) LAST_TWO(3, 4))
            }
            }
        }
        head = head + heads < turn->inner ? head + heads : 0;
    }
}

#undef TABLE
#undef TABLE_LAST
#undef STEP
#undef LAST_TWO
#undef HEADS
#undef NAME
#undef STEP_BYTES
#undef STEP_PAIRS
#undef ENTRIES
#undef READ
#undef WRITE
