// SPDX-License-Identifier: MIT
#include "bench_turns.h"

#include <stdlib.h>
#include <string.h>

#include "bench_cases.h"

enum { LINE = 64, FLOATS_OF_LINE = LINE / sizeof(float) };

const struct bench_turn_list *bench_turns_here(void) {
    static const struct bench_turn_list *const lists[] = {&bench_turns_avx512, &bench_turns_avx2};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        if (lists[i]->are_here && lists[i]->are_here())
            return lists[i];
    return NULL;
}

static void take_loops(struct bench_turns *turns, const struct bench_case *what) {
    const struct bench_tower *tower = what->tower;
    const struct bench_turn_list *list = tower->form == BENCH_AXIAL ? bench_turns_here() : NULL;
    for (uint32_t i = 0; list && i < list->count; ++i) {
        const struct bench_turn_loop *loop = &list->loops[i];
        uint32_t *count = &turns->counts[loop->pairing == ROPE2D_PAIRING_HALF];
        if (loop->heads == tower->heads && loop->head_dim == tower->head_dim &&
            loop->element == what->element && *count < BENCH_CANDIDATES)
            turns->loops[loop->pairing == ROPE2D_PAIRING_HALF][(*count)++] = loop;
    }
}

// As the library's positions of a grid are: the last two axes have the line and the column.
static void fill_rows(struct bench_turns *turns, const struct bench_case *what, uint64_t columns) {
    const uint32_t axes = what->tower->axes;
    for (uint64_t token = 0; token < what->tokens; ++token) {
        int32_t *row = turns->rows + token * axes;
        memset(row, 0, axes * sizeof *row);
        row[axes - 2] = (int32_t)(token / columns);
        row[axes - 1] = (int32_t)(token % columns);
    }
}

bool bench_turns_create(struct bench_turns *turns, const struct bench_case *what) {
    const struct bench_tower *tower = what->tower;
    const uint64_t columns = bench_columns_of(what->tokens);
    void *memory = NULL;
    *turns = (struct bench_turns){0};
    take_loops(turns, what);
    if (turns->counts[0] + turns->counts[1] == 0)
        return true;
    turns->stride = (tower->head_dim + FLOATS_OF_LINE - 1) / FLOATS_OF_LINE * FLOATS_OF_LINE;
    turns->floats = turns->stride * columns;
    turns->rows = malloc((size_t)what->tokens * tower->axes * sizeof *turns->rows);
    if (posix_memalign(&memory, LINE, turns->floats * sizeof(float)) == 0)
        turns->table = memory;
    if (!turns->rows || !turns->table) {
        bench_turns_destroy(turns);
        return false;
    }
    fill_rows(turns, what, columns);
    for (size_t i = 0; i < turns->floats; ++i)
        turns->table[i] = i % 2 == 0 ? -1.0f : 0.0f;
    return true;
}

void bench_turns_destroy(struct bench_turns *turns) {
    free(turns->rows);
    free(turns->table);
    *turns = (struct bench_turns){0};
}

void bench_turns_run(const struct bench_turns *turns, rope2d_pairing pairing, uint32_t variant,
                     unsigned char *const tensors[BENCH_TENSORS], uint64_t begin, uint64_t end) {
    const struct bench_turn_loop *loop = turns->loops[pairing == ROPE2D_PAIRING_HALF][variant];
    struct bench_turn_part part = {
        .tensors = {tensors[0], tensors[1]},
        .tensor_count = BENCH_TENSORS,
        .rows = turns->rows,
        .table = turns->table,
        .stride = turns->stride,
        .begin = begin,
        .end = end,
    };
    if (loop->by_tensors) {
        part.tensor_count = 1;
        loop->run(&part);
        part.tensors[0] = tensors[1];
    }
    loop->run(&part);
}
