// SPDX-License-Identifier: MIT
//
// What the bench's own kernels do, on every API: the order in which meson.build lists Vulkan's modules.
#ifndef ROPE2D_CLI_BENCH_KINDS_H
#define ROPE2D_CLI_BENCH_KINDS_H

#include "bench_engine.h"

enum bench_kind {
    BENCH_KIND_COPY,
    BENCH_KIND_SCALE,
    BENCH_KIND_F32,
    BENCH_KIND_F16,
    BENCH_KIND_F16_CONVERTER, // by the device's own conversion
    BENCH_KIND_BF16,
    BENCH_KIND_TABLES, // the last four again, each with a table
    BENCH_KINDS_COUNT = BENCH_KIND_TABLES + 4
};

static inline bool bench_is_limit(enum bench_move move) {
    return move == BENCH_LIMIT_IN || move == BENCH_LIMIT_OUT;
}

static inline bool bench_is_turn(enum bench_move move) {
    return move >= BENCH_TURN_INTERLEAVED && move <= BENCH_TURN_OUT_HALF;
}

static inline rope2d_pairing bench_turn_pairing(enum bench_move move) {
    bool is_half = move == BENCH_TURN_HALF || move == BENCH_TURN_OUT_HALF;
    return is_half ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED;
}

// Then k goes with q: what is read of the table serves both.
static inline bool bench_reads_table(const struct bench_engine *engine, enum bench_move move) {
    return bench_is_limit(move) && engine->table_floats > 0;
}

static inline bool bench_is_in_place(enum bench_move move) {
    return move == BENCH_SCALE || move == BENCH_LIMIT_IN || move == BENCH_TURN_INTERLEAVED ||
           move == BENCH_TURN_HALF;
}

// Of `shapes` each that a kernel has, how many variants: f16's limits have all of them once more. None is a
// tower's own turn.
static inline uint32_t bench_kind_variants(const struct bench_engine *engine, enum bench_move move,
                                           uint32_t shapes) {
    bool has_two = bench_is_limit(move) && engine->what->element == ROPE2D_F16;
    if (bench_is_turn(move))
        return 0;
    return move == BENCH_DRIVER_COPY ? 1 : has_two ? 2 * shapes : shapes;
}

static inline uint32_t bench_kind_of(const struct bench_engine *engine, enum bench_move move,
                                     bool is_converter) {
    static const enum bench_kind limits[] = {BENCH_KIND_F32, BENCH_KIND_F16, BENCH_KIND_BF16};
    if (!bench_is_limit(move))
        return move == BENCH_SCALE ? BENCH_KIND_SCALE : BENCH_KIND_COPY;
    uint32_t kind = is_converter ? BENCH_KIND_F16_CONVERTER : limits[engine->what->element];
    return engine->table_floats ? kind + BENCH_KIND_TABLES - BENCH_KIND_F32 : kind;
}

#endif
