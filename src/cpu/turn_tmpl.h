// SPDX-License-Identifier: MIT
//
// The loops of one kernel, for every instruction set. The file that includes this defines
//
//     TURN_FN           how a function of the instruction set begins
//     NAME              of the kernel's function
//     STEP_BYTES        from a step's first byte to the next step's
//     HAS_AHEAD         1 where it asks for heads ahead, else 0
//     IS_FEW            1 for few heads: then the loops are turn_few_tmpl.h's, without STEPS
//     FOLLOWS           where such a kernel knows turn->follows: HALVES_FOLLOW, of steps of half a line of
//                       lo and half a line of hi, or PAIRS_FOLLOW, of pairs side by side
//     ASKED_BYTES       where it is there, how many bytes of a head such a kernel's step asks for ahead, a
//                       line at most; else those of a block are asked for before it is turned
//     IS_ALONE          where it is there, with ASKED_BYTES, when such a kernel turns one head, which without
//                       FOLLOWS it turns twice otherwise
//     STEPS             how many steps' cosines and sines it keeps, mostly as registers have room for
//     LEAST_STEPS       where it is there, the kernel knows some numbers of steps alone: with LEAST_STEPS and
//                       STEPS 4 and 4, or 8 and 8, this one; 6 and 8 these; 8 and 11 8, 10 and 11
//     PAIRS             of a step
//     ENTRY, SPLIT(at)  what a step keeps in registers of the (cos, sin) of its pairs, from `at` on, and how
//     READ(i, at)       declares what step i reads from byte `at` of in on
//     WRITE(i, at)      turns it and writes it at byte `at` of out on
//     READS_FIRST       where it is there, all steps of a head and block are read before any is written
//     ASK(at)           asks for what is read from byte `at` on. Where it is there, each step asks for its
//                       own lines of a head ahead; else those of all are asked for before a head is turned
//
// and where it knows shared blocks, with the pairs of half a step:
//
//     ENTRIES_SHARED(at)              what such a step keeps in registers
//     READ_SHARED(i, at, before)      of the head `before` bytes before, and of this one
//     WRITE_SHARED(i, at, before)
//
// with `in` and `out`, and `in_hi` and `out_hi` for hi, in sight. All names end in the number of the step.

#define HALVES_FOLLOW 1
#define PAIRS_FOLLOW  2
#ifndef FOLLOWS
#define FOLLOWS 0
#endif
#ifndef LEAST_STEPS
#define LEAST_STEPS 1
#endif
#define TABLE(i)                                                                                             \
    ENTRY e##i = e0;                                                                                         \
    if ((i) < LEAST_STEPS || steps > (i))                                                                    \
        e##i = SPLIT(table[i]);
// Else compilers make a way of its own to each case, with all that is read before.
#if defined(__GNUC__)
#define UNKNOWN(number) __asm__("" : "+r"(number));
#else
#define UNKNOWN(number)
#endif
// Of steps that begin in one line the first. Where nothing is asked for, it is the line that is read next.
#ifdef ASK
#define ASK_STEP(i)                                                                                          \
    if ((i)*STEP_BYTES % ROPE2D_STREAM_LINE < STEP_BYTES) {                                                  \
        ASK(asked + (i)*STEP_BYTES)                                                                          \
    }
#else
#define ASK_STEP(i)
#endif
#define READ_ONE(i)                                                                                          \
    ASK_STEP(i)                                                                                              \
    READ(i, (size_t)(i)*STEP_BYTES)
#define WRITE_ONE(i) WRITE(i, (size_t)(i)*STEP_BYTES)
#define STEP(i)      READ_ONE(i) WRITE_ONE(i)
// The last step may overlap the one before.
#define READ_TWO(i, j)                                                                                       \
    ASK_STEP(i)                                                                                              \
    ASK_STEP(j)                                                                                              \
    READ(i, (size_t)(i)*STEP_BYTES)                                                                          \
    READ(j, last)
#define WRITE_TWO(i, j) WRITE_ONE(i) WRITE(j, last)
#define LAST_TWO(i, j)  READ_TWO(i, j) WRITE_TWO(i, j)
// A head's steps, the last two together.
#define STEPS_2(one, two)  two(0, 1)
#define STEPS_3(one, two)  one(0) two(1, 2)
#define STEPS_4(one, two)  one(0) one(1) two(2, 3)
#define STEPS_5(one, two)  one(0) one(1) one(2) two(3, 4)
#define STEPS_6(one, two)  one(0) one(1) one(2) one(3) two(4, 5)
#define STEPS_7(one, two)  one(0) one(1) one(2) one(3) one(4) two(5, 6)
#define STEPS_8(one, two)  one(0) one(1) one(2) one(3) one(4) one(5) two(6, 7)
#define STEPS_10(one, two) one(0) one(1) one(2) one(3) one(4) one(5) one(6) one(7) two(8, 9)
#define STEPS_11(one, two) one(0) one(1) one(2) one(3) one(4) one(5) one(6) one(7) one(8) two(9, 10)
// The second of two heads does it for both, a last one without a second for itself twice.
#define TAILS(i)                                                                                             \
    if ((heads - rest - n) % 2 == 1 || rest + n == 1) {                                                      \
        const ptrdiff_t other = (heads - rest - n) % 2;                                                      \
        READ_SHARED(i, (size_t)(i)*STEP_BYTES, other *in_inner)                                              \
        WRITE_SHARED(i, (size_t)(i)*STEP_BYTES, other *out_inner)                                            \
    }
#define NEXT(in_by, out_by)                                                                                  \
    in += (in_by);                                                                                           \
    out += (out_by);                                                                                         \
    in_hi += (in_by);                                                                                        \
    out_hi += (out_by);
// From n to 1, which are some.
#define HEADS(steps)                                                                                         \
    do {                                                                                                     \
        steps NEXT(in_inner, out_inner)                                                                      \
    } while (--n > 0);
#ifdef READS_FIRST
#define HEADS_BY(all) HEADS(all(READ_ONE, READ_TWO) all(WRITE_ONE, WRITE_TWO))
#else
#define HEADS_BY(all) HEADS(all(STEP, LAST_TWO))
#endif

#ifndef IS_ALONE
#define IS_ALONE false
#endif

#if IS_FEW
#include "turn_few_tmpl.h"
#else
TURN_FN static void NAME(const rope2d_turn *turn) {
    // Else they would be read again after every store.
    const ptrdiff_t in_inner = turn->in_inner;
    const ptrdiff_t out_inner = turn->out_inner;
    const uint32_t second = turn->second;
#ifdef ASK
    const ptrdiff_t asked = turn->fetched != 0 ? turn->ahead : 0;
#endif
    const rope2d_block *const end = turn->blocks + turn->block_count;
    const float *const *table = turn->tables;
    const unsigned char *outer_in = turn->in;
    unsigned char *outer_out = turn->out;
    const unsigned char *group_in = outer_in;
    unsigned char *group_out = outer_out;
    uint32_t left = turn->inner;
    for (uint32_t o = turn->outer; o > 0;) {
        const uint32_t heads = left < turn->group ? left : turn->group;
        for (const rope2d_block *block = turn->blocks; block < end; table += block++->steps) {
            const size_t last = block->last;
            const unsigned char *in = group_in + block->first;
            unsigned char *out = group_out + block->first;
            // Pointers of their own: a distance that a compiler does not know takes longer to add.
            const unsigned char *in_hi = in + block->distance;
            unsigned char *out_hi = out + block->distance;
            (void)in_hi;
            (void)out_hi;
            // Once for all numbers of steps, of which each has loops of its own.
            uint32_t steps = block->steps;
            ENTRY e0 = SPLIT(table[0]);
            TABLE(1)
#if STEPS > 2
            ENTRY e2 = e0;
#ifdef ENTRIES_SHARED
            const bool is_shared = block->is_shared;
            if (is_shared)
                e2 = ENTRIES_SHARED(table[2]);
            else
#endif
                if (steps > 2)
                e2 = SPLIT(table[2]);
#endif
#if STEPS > 3
            TABLE(3)
#endif
#if STEPS > 4
            TABLE(4)
#endif
#if STEPS > 5
            TABLE(5)
#endif
#if STEPS > 6
            TABLE(6)
            TABLE(7)
#endif
#if STEPS > 8
            TABLE(8)
            TABLE(9)
            TABLE(10)
#endif
            // All heads of a tensor, in loops that do nothing else: each instruction counts there, also where
            // memory is waited for. Where lines are asked for before a head, a head at a time.
            for (uint32_t rest = heads; rest > 0;) {
                uint32_t n = rest > second ? rest - second : rest;
#if HAS_AHEAD && !defined(ASK)
                if (ROPE2D_RARELY(turn->fetched != 0)) {
                    rope2d_fetch_lines(in + turn->ahead + block->ahead, turn->fetched);
                    n = 1;
                }
#endif
                rest -= n;
                UNKNOWN(steps)
                switch (steps) {
#if LEAST_STEPS <= 2
                case 1: // twice the same: heads so small are rare, and a loop of their own takes room
                case 2:
                    HEADS_BY(STEPS_2)
                    break;
#endif
#if STEPS > 2 && LEAST_STEPS <= 1
                case 3:
#ifdef ENTRIES_SHARED
                    if (is_shared) {
                        HEADS(STEP(0) STEP(1) TAILS(2))
                        break;
                    }
#endif
                    HEADS_BY(STEPS_3)
                    break;
#endif
#if STEPS > 3 && LEAST_STEPS <= 4
                case 4:
                    HEADS_BY(STEPS_4)
                    break;
#endif
#if STEPS > 4 && LEAST_STEPS <= 1
                case 5:
                    HEADS_BY(STEPS_5)
                    break;
#endif
#if STEPS > 5 && LEAST_STEPS <= 6
                case 6:
                    HEADS_BY(STEPS_6)
                    break;
#endif
#if STEPS > 7
#if LEAST_STEPS <= 1
                case 7:
                    HEADS_BY(STEPS_7)
                    break;
#endif
                case 8:
                    HEADS_BY(STEPS_8)
                    break;
#if STEPS > 8
                case 10:
                    HEADS_BY(STEPS_10)
                    break;
                case 11:
                    HEADS_BY(STEPS_11)
                    break;
#endif
#endif
                }
                if (rest == second) {
                    NEXT(turn->in_jump, turn->out_jump)
                }
            }
        }
        left -= heads;
        if (left > 0) {
            table -= turn->steps;
            group_in += (ptrdiff_t)heads * in_inner;
            group_out += (ptrdiff_t)heads * out_inner;
            if (left == second) {
                group_in += turn->in_jump;
                group_out += turn->out_jump;
            }
        } else {
            left = turn->inner;
            group_in = outer_in += turn->in_outer;
            group_out = outer_out += turn->out_outer;
            o--;
        }
    }
}
#endif

#undef TABLE
#undef UNKNOWN
#undef ASK_STEP
#undef ASK
#undef READ_ONE
#undef READ_TWO
#undef WRITE_ONE
#undef WRITE_TWO
#undef STEP
#undef LAST_TWO
#undef STEPS_2
#undef STEPS_3
#undef STEPS_4
#undef STEPS_5
#undef STEPS_6
#undef STEPS_7
#undef STEPS_8
#undef STEPS_10
#undef STEPS_11
#undef TAILS
#undef NEXT
#undef HEADS
#undef HEADS_BY
#undef READS_FIRST
#undef NAME
#undef STEP_BYTES
#undef STEPS
#undef LEAST_STEPS
#undef PAIRS
#undef ENTRY
#undef SPLIT
#undef FOLLOWS
#undef IS_ALONE
#undef ASKED_BYTES
#undef HALVES_FOLLOW
#undef PAIRS_FOLLOW
#undef READ
#undef WRITE
#undef ENTRIES_SHARED
#undef READ_SHARED
#undef WRITE_SHARED
