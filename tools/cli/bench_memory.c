// SPDX-License-Identifier: MIT
//
// Sets of buffers, so many that a set has left every cache when its turn comes again.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "bench_run.h"
#include "message.h"

// A GPU's driver does not tell how large its caches are: more than any has.
static const uint64_t GPU_CACHE = (uint64_t)256 << 20;
static const uint64_t PIECE_BYTES = (uint64_t)8 << 20;
enum { POISON = 0xa5 };

// Real GPUs have a limit for allocations.
enum { MOST_GPU_SETS = 256 };

// A processor tells the size of one of its last caches, and may have several. What one core has written is
// slower to come from its cache to another core than from memory. So as many as there are processors, where
// they are small.
static const uint64_t MOST_LAST_CACHES = (uint64_t)256 << 20;

static uint64_t last_caches(const struct bench_machine *machine) {
    uint64_t all = machine->last_cache * (machine->processors > 1 ? machine->processors : 1);
    uint64_t most = machine->last_cache > MOST_LAST_CACHES ? machine->last_cache : MOST_LAST_CACHES;
    return all < most ? all : most;
}

// What all sets of buffers to read together should hold, and those to write as well. Software devices often
// say that they have 2 GiB: there both together hold four times the last caches.
static uint64_t wanted_bytes(const struct bench_engine *engine) {
    uint64_t cache = last_caches(engine->machine);
    return !engine->info.is_software                    ? GPU_CACHE
           : engine->info.backend == ROPE2D_BACKEND_CPU ? 4 * cache
                                                        : 2 * cache;
}

// A quick look's: where the caches are larger, its rows say so.
static const uint64_t QUICK_BYTES = (uint64_t)256 << 20;

// The least on a CPU otherwise. Two threads of a processor that told of 32 MiB had 0.5 to 0.6 of the scale in
// f16 with 256 MiB, and with this 0.6 to 0.8, as one thread has: what one has written was in its caches when
// the other's turn came.
static const uint64_t LEAST_CPU_BYTES = (uint64_t)1 << 30;

static uint64_t room_of(const struct bench_engine *engine) {
    uint64_t room = engine->machine->free_memory / 10 * 7;
    if (!engine->info.is_software)
        return engine->info.memory_bytes / 10 * 8;
    bool is_less = engine->info.backend != ROPE2D_BACKEND_CPU && room > engine->info.memory_bytes;
    return is_less ? engine->info.memory_bytes : room;
}

// As many as no cache holds, and no more than there is room for, but one.
static uint32_t choose_sets(const struct bench_engine *engine, const struct bench_case *what) {
    uint64_t bytes = bench_bytes(what), wanted = wanted_bytes(engine);
    if (engine->is_quick && wanted > QUICK_BYTES)
        wanted = QUICK_BYTES;
    else if (!engine->is_quick && engine->info.backend == ROPE2D_BACKEND_CPU && wanted < LEAST_CPU_BYTES)
        wanted = LEAST_CPU_BYTES;
    uint64_t sets = wanted / bytes + 1;
    uint64_t most = room_of(engine) / (BENCH_BUFFERS * bytes), limit = engine->ops->most_sets;
    if (!engine->info.is_software && limit > MOST_GPU_SETS)
        limit = MOST_GPU_SETS;
    most = most < limit ? most : limit;
    most = most > 0 ? most : 1;
    return what->in_cache ? 1 : (uint32_t)(sets < most ? sets : most);
}

bool bench_memory_fits(const struct bench_run *run, const struct bench_case *what, char *why,
                       size_t why_size) {
    const struct bench_engine *engine = &run->engine;
    uint64_t bytes = bench_bytes(what), all = bytes * BENCH_BUFFERS, room = room_of(engine);
    if (bytes > engine->ops->most_bytes(engine))
        snprintf(why, why_size, "a buffer of %.1f GiB is larger than the device's largest",
                 (double)bytes / (1 << 30));
    else if (all > room)
        snprintf(why, why_size, "%.1f GiB are needed and %.1f free", (double)all / (1 << 30),
                 (double)room / (1 << 30));
    else
        return true;
    return false;
}

// `has_out`: into what is written as well.
static int fill_piece(struct bench_engine *engine, const struct bench_case *what, uint32_t first_set,
                      uint32_t sets, bool has_out, unsigned char *piece) {
    uint32_t size = rope2d_element_size(what->element);
    int result = STATUS_OK;
    for (uint64_t at = 0; at < engine->bytes && !result; at += PIECE_BYTES) {
        uint64_t bytes = engine->bytes - at < PIECE_BYTES ? engine->bytes - at : PIECE_BYTES;
        bench_fill(piece, what->element, at / size, bytes / size);
        for (uint32_t set = first_set; set < first_set + sets && !result; ++set)
            result = engine->ops->write(engine, set, BENCH_IN, at, bytes, piece);
        memset(piece, POISON, (size_t)bytes);
        for (uint32_t set = first_set; has_out && set < first_set + sets && !result; ++set)
            result = engine->ops->write(engine, set, BENCH_OUT, at, bytes, piece);
    }
    return result;
}

static int fill(struct bench_engine *engine, const struct bench_case *what, uint32_t first_set, uint32_t sets,
                bool has_out) {
    unsigned char *piece = malloc((size_t)PIECE_BYTES);
    if (!piece) {
        message("no memory for %" PRIu64 " bytes of random numbers", PIECE_BYTES);
        return STATUS_DEVICE;
    }
    int result = fill_piece(engine, what, first_set, sets, has_out, piece);
    free(piece);
    return result;
}

int bench_memory_fill(struct bench_engine *engine, const struct bench_case *what, uint32_t set,
                      bool has_out) {
    return fill(engine, what, set, 1, has_out);
}

int bench_memory_create(struct bench_run *run, const struct bench_case *what, struct bench_group *group) {
    struct bench_engine *engine = &run->engine;
    engine->what = what;
    engine->bytes = bench_bytes(what);
    engine->table_floats = bench_table_floats(what);
    engine->sets = choose_sets(engine, what);
    group->bytes = engine->bytes;
    group->sets = engine->sets;
    group->past_caches = !what->in_cache && engine->sets * engine->bytes >= wanted_bytes(engine);
    int result = engine->ops->memory_create(engine);
    if (!result)
        result = engine->ops->fill ? engine->ops->fill(engine) : fill(engine, what, 0, engine->sets, true);
    return result;
}
