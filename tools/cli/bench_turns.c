// SPDX-License-Identifier: MIT
#include "bench_turns.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench_cases.h"
#include "bench_turn_grid.h"

enum { LINE = 64, FLOATS_OF_LINE = LINE / sizeof(float) };
// Of each tensor as many tokens are staged as fit, so that both and what they come from fit the nearest cache
// but where a token is larger; at least one. And in other ways as many as fit a
// quarter of that, where these are fewer.
enum { STAGE_BYTES = 4096, MOST_TOKEN_BYTES = 24 * 128 * sizeof(float) };

const struct bench_turn_list *bench_turns_here(void) {
    static const struct bench_turn_list *const lists[] = {&bench_turns_avx512, &bench_turns_avx2};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        if (lists[i]->are_here && lists[i]->are_here())
            return lists[i];
    return NULL;
}

static void take(struct bench_turns *turns, int in_place, const struct bench_turn_loop *loop, uint32_t staged,
                 bool asks) {
    const int is_half = loop->pairing == ROPE2D_PAIRING_HALF;
    uint32_t *count = &turns->counts[in_place][is_half];
    if (*count < BENCH_CANDIDATES)
        turns->ways[in_place][is_half][(*count)++] = (struct bench_turn){loop, staged, asks};
}

static uint32_t tokens_in(const struct bench_turns *turns, uint32_t bytes) {
    return turns->token_bytes <= bytes ? bytes / turns->token_bytes : 1;
}

static void take_loops(struct bench_turns *turns, const struct bench_case *what) {
    const struct bench_tower *tower = what->tower;
    const struct bench_turn_list *const list = turns->list;
    const uint32_t many = tokens_in(turns, STAGE_BYTES), few = tokens_in(turns, STAGE_BYTES / 4);
    for (uint32_t i = 0; list && i < list->count; ++i) {
        const struct bench_turn_loop *loop = &list->loops[i];
        if (loop->heads != tower->heads || loop->head_dim != tower->head_dim ||
            loop->element != what->element)
            continue;
        take(turns, 0, loop, 0, false);
        if (loop->store > 0)
            continue;
        take(turns, 1, loop, 0, false);
        if (turns->token_bytes <= MOST_TOKEN_BYTES)
            take(turns, 0, loop, many, false);
        if (turns->token_bytes <= MOST_TOKEN_BYTES &&
            tower->heads > 1) // a single head's loops ask themselves
            take(turns, 0, loop, many, true);
        if (few < many)
            take(turns, 0, loop, few, false);
    }
}

bool bench_turns_create(struct bench_turns *turns, const struct bench_case *what) {
    const struct bench_tower *tower = what->tower;
    const uint64_t columns = bench_columns_of(what->tokens);
    void *memory = NULL;
    *turns = (struct bench_turns){0};
    turns->axes = tower->axes;
    turns->token_bytes = tower->heads * tower->head_dim * rope2d_element_size(what->element);
    turns->list = tower->form == BENCH_AXIAL ? bench_turns_here() : NULL;
    take_loops(turns, what);
    if (turns->counts[1][0] + turns->counts[1][1] == 0)
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
    bench_turn_rows(what, turns->rows);
    bench_turn_table(what, turns->stride, turns->table);
    return true;
}

void bench_turns_destroy(struct bench_turns *turns) {
    free(turns->rows);
    free(turns->table);
    *turns = (struct bench_turns){0};
}

void bench_turn_name(const struct bench_turn *turn, char *name, size_t size) {
    int length = snprintf(name, size, "%s", turn->loop->name);
    if (turn->staged && length >= 0 && (size_t)length < size)
        snprintf(name + length, size - (size_t)length, ", staged by %u%s", turn->staged,
                 turn->asks ? ", asking" : "");
}

// Of all of the part's tensors.
static void run_stage(const struct bench_turns *turns, const struct bench_turn *turn,
                      const struct bench_turn_part *all) {
    _Alignas(LINE) unsigned char stage[BENCH_TENSORS][MOST_TOKEN_BYTES];
    const uint64_t bytes = turns->token_bytes, most = turn->staged;
    for (uint64_t token = all->begin; token < all->end; token += most) {
        const uint64_t count = all->end - token < most ? all->end - token : most;
        struct bench_turn_part part = *all;
        part.rows += token * turns->axes;
        part.begin = 0;
        part.end = count;
        for (uint32_t t = 0; t < part.tensor_count; ++t) {
            part.from[t] += token * bytes;
            part.to[t] = stage[t];
        }
        turn->loop->run(&part);
        for (uint32_t t = 0; t < part.tensor_count; ++t)
            turns->list->stream(all->to[t] + token * bytes, stage[t], (size_t)(count * bytes),
                                turn->asks ? part.from[t] + count * bytes : NULL);
    }
    turns->list->stream_end();
}

void bench_turns_run(const struct bench_turns *turns, const struct bench_turn *turn,
                     const unsigned char *const from[BENCH_TENSORS], unsigned char *const to[BENCH_TENSORS],
                     uint64_t begin, uint64_t end) {
    struct bench_turn_part part = {
        .from = {from[0], from[1]},
        .to = {to[0], to[1]},
        .tensor_count = turn->loop->by_tensors ? 1 : BENCH_TENSORS,
        .rows = turns->rows,
        .table = turns->table,
        .stride = turns->stride,
        .begin = begin,
        .end = end,
    };
    for (uint32_t t = 0; t < BENCH_TENSORS; t += part.tensor_count) {
        part.from[0] = from[t];
        part.to[0] = to[t];
        if (turn->staged)
            run_stage(turns, turn, &part);
        else
            turn->loop->run(&part);
    }
}
