// SPDX-License-Identifier: MIT
#include "bench_arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench_cases.h"
#include "internal.h"

static const uint64_t HUGE_PAGE = (uint64_t)2 << 20, PIECE = (uint64_t)8 << 20;
enum { POISON = 0xa5 };

void bench_arena_free(struct bench_arena *arena) {
    if (arena->memory)
        (void)munmap(arena->memory, (size_t)arena->mapped);
    *arena = (struct bench_arena){0};
}

static bool map(struct bench_arena *arena, uint64_t bytes) {
    void *memory = mmap(NULL, (size_t)(bytes + HUGE_PAGE), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    *arena = (struct bench_arena){.memory = memory, .mapped = bytes + HUGE_PAGE, .bytes = bytes};
    arena->base = arena->memory + (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    return true;
}

bool bench_arena_reserve(struct bench_arena *arena, uint64_t half, uint64_t most) {
    if (2 * half <= arena->bytes)
        return true;
    bench_arena_free(arena);
    uint64_t whole = HUGE_PAGE * (half / HUGE_PAGE + 1) * 2;
    if (!(most / HUGE_PAGE * HUGE_PAGE > whole && map(arena, most / HUGE_PAGE * HUGE_PAGE)) &&
        !map(arena, whole))
        return false;
#ifdef MADV_HUGEPAGE
    (void)madvise(arena->base, (size_t)arena->bytes, MADV_HUGEPAGE); // where there are none, there are none
#endif
    return true;
}

// What each of some threads writes: a piece again and again, or a byte.
struct filling {
    unsigned char *to;
    const unsigned char *piece; // NULL: a byte
    uint64_t bytes;
};

static void fill_part(void *data, uint32_t index) {
    const struct filling *filling = data;
    uint64_t at = index * PIECE, left = filling->bytes - at, bytes = left < PIECE ? left : PIECE;
    if (filling->piece)
        memcpy(filling->to + at, filling->piece, (size_t)bytes);
    else
        memset(filling->to + at, POISON, (size_t)bytes);
}

static void fill(const rope2d_host *host, struct filling filling) {
    rope2d_host resolved = rope2d_host_resolve(host);
    rope2d_parallel(&resolved, (uint32_t)((filling.bytes + PIECE - 1) / PIECE), fill_part, &filling);
}

bool bench_arena_fill(struct bench_arena *arena, rope2d_element element, uint64_t half,
                      const rope2d_host *host) {
    if (arena->element != element)
        arena->filled = 0;
    if (half > arena->filled) {
        unsigned char *piece = malloc((size_t)PIECE);
        if (!piece)
            return false;
        bench_fill(piece, element, 0, PIECE / rope2d_element_size(element));
        fill(host, (struct filling){arena->base, piece, half});
        free(piece);
        arena->filled = half;
        arena->element = element;
    }
    if (half > arena->touched) {
        fill(host, (struct filling){arena->base + arena->bytes - half, NULL, half - arena->touched});
        arena->touched = half;
    }
    // Neither reaches into the other's part.
    uint64_t most = arena->bytes - half;
    arena->filled = arena->filled < most ? arena->filled : most;
    arena->touched = arena->touched < most ? arena->touched : most;
    return true;
}
