// SPDX-License-Identifier: MIT
//
// A copy that does not copy, or a limit that leaves elements out, is no baseline: the first and the last MiB
// of what a move writes is looked at, of whole heads.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"
#include "bench_kinds.h"
#include "bench_run.h"
#include "bench_turn_grid.h"
#include "message.h"

static const uint64_t PIECE_BYTES = (uint64_t)1 << 20;
enum { POISON = 0x5a };

struct piece {
    uint64_t first, count; // elements
    uint64_t at, bytes;
    unsigned char *expected, *found;
};

static int prepare(struct bench_engine *engine, uint32_t set, const struct piece *piece) {
    memset(piece->found, POISON, (size_t)piece->bytes);
    int result = engine->ops->write(engine, set, BENCH_OUT, piece->at, piece->bytes, piece->found);
    bench_fill(piece->expected, engine->what->element, piece->first, piece->count);
    return result ? result
                  : engine->ops->write(engine, set, BENCH_IN, piece->at, piece->bytes, piece->expected);
}

// A scale multiplies f32 whatever the type, a limit what the elements are, both by -1.
static void expect(enum bench_move move, const struct bench_case *what, const struct piece *piece) {
    bool is_wide = move == BENCH_SCALE || what->element == ROPE2D_F32;
    uint64_t step = is_wide ? 4 : 2;
    if (bench_is_turn(move)) {
        bench_turn_expect(what, bench_turn_pairing(move), piece->first, piece->count, piece->expected);
        return;
    }
    if (move == BENCH_DRIVER_COPY || move == BENCH_COPY)
        return;
    for (uint64_t at = step - 1; at < piece->bytes; at += step)
        piece->expected[at] ^= 0x80; // little-endian, as every device is
}

static int compare(struct bench_engine *engine, enum bench_move move, uint32_t set, const struct piece *piece,
                   char *why, size_t why_size) {
    bool in_place = bench_is_in_place(move);
    bench_fill(piece->expected, engine->what->element, piece->first, piece->count);
    expect(move, engine->what, piece);
    int result = engine->ops->read(engine, set, in_place ? BENCH_IN : BENCH_OUT, piece->at, piece->bytes,
                                   piece->found);
    for (uint64_t i = 0; i < piece->bytes && !result; ++i)
        if (piece->found[i] != piece->expected[i]) {
            snprintf(why, why_size, "byte %" PRIu64 " is not what it should be", piece->at + i);
            break;
        }
    return result;
}

int bench_check_move(struct bench_engine *engine, enum bench_move move, uint32_t variant, uint32_t set,
                     char *why, size_t why_size) {
    uint32_t size = rope2d_element_size(engine->what->element), head = engine->what->tower->head_dim * size;
    uint64_t most = PIECE_BYTES / head * head; // of whole heads
    uint64_t bytes = engine->bytes < most ? engine->bytes : most, last = engine->bytes - bytes;
    unsigned char *room = malloc((size_t)(2 * bytes));
    struct piece pieces[2] = {{0, bytes / size, 0, bytes, room, room ? room + bytes : NULL}};
    struct bench_sample sample;
    int result = room ? prepare(engine, set, &pieces[0]) : STATUS_DEVICE;
    pieces[1] = pieces[0];
    pieces[1].first = last / size;
    pieces[1].at = last;
    if (!result)
        result = prepare(engine, set, &pieces[1]);
    if (!result)
        result = engine->ops->move(engine, move, variant, set, &sample);
    for (int i = 0; i < 2 && !result && !*why; ++i)
        result = compare(engine, move, set, &pieces[i], why, why_size);
    free(room);
    return result;
}
