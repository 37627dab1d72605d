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

// What all sets of buffers to read together should hold.
static uint64_t wanted_bytes(const struct bench_engine *engine) {
    return engine->info.is_software ? 4 * engine->machine->last_cache : GPU_CACHE;
}

static uint32_t choose_sets(const struct bench_engine *engine, const struct bench_case *what) {
    uint64_t bytes = bench_bytes(what), sets = wanted_bytes(engine) / bytes + 1;
    return what->in_cache ? 1 : sets < engine->ops->most_sets ? (uint32_t)sets : engine->ops->most_sets;
}

bool bench_memory_fits(const struct bench_run *run, const struct bench_case *what, char *why,
                       size_t why_size) {
    const struct bench_engine *engine = &run->engine;
    uint64_t bytes = bench_bytes(what), all = bytes * BENCH_BUFFERS * choose_sets(engine, what);
    uint64_t room = run->results->machine.free_memory / 10 * 7;
    if (!engine->info.is_software)
        room = engine->info.memory_bytes / 10 * 8;
    else if (engine->info.backend != ROPE2D_BACKEND_CPU && room > engine->info.memory_bytes)
        room = engine->info.memory_bytes;
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

static int fill_piece(struct bench_engine *engine, const struct bench_case *what, uint32_t first_set,
                      uint32_t sets, unsigned char *piece) {
    uint32_t size = rope2d_element_size(what->element);
    int result = STATUS_OK;
    for (uint64_t at = 0; at < engine->bytes && !result; at += PIECE_BYTES) {
        uint64_t bytes = engine->bytes - at < PIECE_BYTES ? engine->bytes - at : PIECE_BYTES;
        bench_fill(piece, what->element, at / size, bytes / size);
        for (uint32_t set = first_set; set < first_set + sets && !result; ++set)
            result = engine->ops->write(engine, set, BENCH_IN, at, bytes, piece);
        memset(piece, POISON, (size_t)bytes);
        for (uint32_t set = first_set; set < first_set + sets && !result; ++set)
            result = engine->ops->write(engine, set, BENCH_OUT, at, bytes, piece);
    }
    return result;
}

static int fill(struct bench_engine *engine, const struct bench_case *what, uint32_t first_set,
                uint32_t sets) {
    unsigned char *piece = malloc((size_t)PIECE_BYTES);
    if (!piece) {
        message("no memory for %" PRIu64 " bytes of random numbers", PIECE_BYTES);
        return STATUS_DEVICE;
    }
    int result = fill_piece(engine, what, first_set, sets, piece);
    free(piece);
    return result;
}

int bench_memory_fill(struct bench_engine *engine, const struct bench_case *what, uint32_t set) {
    return fill(engine, what, set, 1);
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
    return result ? result : fill(engine, what, 0, engine->sets);
}
