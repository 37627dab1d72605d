// SPDX-License-Identifier: MIT
//
// Writes that go past the caches. A line that is written whole is not read first, which saves a third of the
// traffic of a rotation out of place; what it costs is that the line is not in a cache afterwards.
#ifndef ROPE2D_CPU_STREAM_H
#define ROPE2D_CPU_STREAM_H

#include "isa.h"

#define ROPE2D_STREAM_LINE      64
#define ROPE2D_STREAM_ALIGNMENT 16

// Whether this architecture has such writes.
bool rope2d_stream_exists(void);

// Copies `size` bytes to where whole lines go past the caches, and what is left over at both ends does not.
// Wide: with AVX. Unless `ahead` is NULL, lines from there on, which will be read, are asked for meanwhile,
// and with less haste those that come `size` bytes later.
void rope2d_stream(unsigned char *to, const unsigned char *from, size_t size, const unsigned char *ahead,
                   bool is_wide);

// Before another thread may see what was streamed.
void rope2d_stream_end(void);

// Asks for a line that will be read.
static inline void rope2d_fetch(const void *line) {
#if defined(__GNUC__)
    __builtin_prefetch(line);
#else
    (void)line;
#endif
}

// What is almost never so, and stands where it is in nobody's way.
#if defined(__GNUC__)
#define ROPE2D_RARELY(what) __builtin_expect(what, 0)
#else
#define ROPE2D_RARELY(what) (what)
#endif

// The same of all lines from `size` bytes before `end` on, at least one, in order.
static inline void rope2d_fetch_lines(const unsigned char *end, ptrdiff_t size) {
    ptrdiff_t at = -size;
#if defined(__GNUC__) && ROPE2D_X86_64
    // A third of what compilers make of the loop below.
    __asm__ volatile("1:\tprefetcht0 (%1,%0)\n\t"
                     "add $64,%0\n\t"
                     "js 1b"
                     : "+r"(at)
                     : "r"(end)
                     : "cc");
#else
    for (; at < 0; at += ROPE2D_STREAM_LINE)
        rope2d_fetch(end + at);
#endif
}

#endif
