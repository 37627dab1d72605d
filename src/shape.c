// SPDX-License-Identifier: MIT
//
// Writes the words of shaders/shape.h.
#include "stage.h"

#include <string.h>

static void write_tensor(uint32_t *words, const rope2d_stage_tensor *staged) {
    words[R_HEADS] = staged->tensor->heads;
    words[R_IN_BATCH_STRIDE] = staged->in.batch_stride;
    words[R_IN_TOKEN_STRIDE] = staged->in.token_stride;
    words[R_IN_HEAD_STRIDE] = staged->in.head_stride;
    words[R_OUT_BATCH_STRIDE] = staged->out.batch_stride;
    words[R_OUT_TOKEN_STRIDE] = staged->out.token_stride;
    words[R_OUT_HEAD_STRIDE] = staged->out.head_stride;
}

static void write_range(uint32_t *words, const rope2d_stage_tensor *staged, uint32_t lane_first,
                        uint32_t lanes) {
    words[R_IN_FIRST] = staged->in.first;
    words[R_OUT_FIRST] = staged->out.first;
    words[R_LANE_FIRST] = lane_first;
    words[R_LANES] = lanes;
}

static void write_positions(uint32_t *words, const rope2d_positions *positions, const rope2d_work *work,
                            const rope2d_piece *piece, uint64_t row_base) {
    const rope2d_pattern *pattern = &positions->pattern;
    const bool is_shared = positions->batch == 1;
    const uint64_t token =
        (is_shared ? 0 : piece->batch_first * positions->tokens) + work->first_token + piece->token_first;
    words[R_ROW_FIRST] = (uint32_t)(token * pattern->row_axes - row_base);
    words[R_ROW_BATCH_STRIDE] =
        is_shared || piece->batch == 1 ? 0 : (uint32_t)(positions->tokens * pattern->row_axes);
    words[R_ROW_AXES] = pattern->row_axes;
    words[R_TABLE_ROWS] = positions->table_rows;
    words[R_TABLE_ROW_STRIDE] = positions->table_columns;
    words[R_TABLE_HEAD_STRIDE] = pattern->freq_heads > 1 ? pattern->pairs * pattern->angles : 0;
    words[R_FACTORS] = pattern->factors;
    words[R_TABLE_FACTOR_STRIDE] = pattern->factors == 0 ? 0 : positions->table_columns / pattern->factors;
}

// What r_divide of shaders/vector.h wants, for any dividend of 32 bits (Granlund and Montgomery, "Division by
// invariant integers using multiplication", 1994).
static uint32_t make_divisor(uint32_t divisor, uint32_t *magic) {
    uint32_t log = 1;
    *magic = 1;
    if (divisor < 2)
        return 0;
    while (((uint64_t)1 << log) < divisor)
        log++;
    *magic = (uint32_t)(((((uint64_t)1 << log) - divisor) << 32) / divisor + 1);
    return 1 | (log - 1) << 1;
}

static void write_divisions(uint32_t *words, const rope2d_piece *piece, uint32_t heads) {
    words[R_SPAN] = piece->batch * (piece->tile_tokens > 0 ? 1 : heads);
    words[R_SHIFTS] = make_divisor(heads, &words[R_HEADS_MAGIC]);
    words[R_SHIFTS] |= make_divisor(words[R_SPAN], &words[R_SPAN_MAGIC]) << 8;
}

static void write_tensors(uint32_t *words, const rope2d_plan *plan, const rope2d_piece *piece) {
    const uint32_t size = piece->group_size;
    const uint32_t lane_heads = piece->tile_tokens > 0 ? 1 : rope2d_plan_lane_heads(plan);
    uint32_t first = 0; // invocation, of vectors workgroup
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        uint32_t *tensor = words + R_TENSORS + i * R_TENSOR_WORDS;
        const uint32_t groups = (uint32_t)rope2d_piece_groups(piece, plan, i);
        const uint32_t heads = piece->tensors[i].tensor->heads;
        const uint32_t lanes =
            piece->vector ? groups : piece->batch * piece->tokens * heads * plan->pattern.single.count;
        write_tensor(tensor, &piece->tensors[i]);
        if (piece->vector)
            write_divisions(tensor, piece, (heads + lane_heads - 1) / lane_heads);
        write_range(words + R_RANGE_TENSORS + i * R_RANGE_TENSOR_WORDS, &piece->tensors[i], first, lanes);
        first += piece->vector ? groups : groups * size;
    }
    for (uint32_t i = piece->tensor_count; i < R_MAX_DISPATCH_TENSORS; i++)
        words[R_RANGE_TENSORS + i * R_RANGE_TENSOR_WORDS + R_LANE_FIRST] = UINT32_MAX;
}

void rope2d_shape_write(uint32_t *words, const rope2d_plan *plan, const rope2d_positions *positions,
                        const rope2d_work *work, const rope2d_piece *piece, uint64_t row_base,
                        uint32_t table_fold) {
    const rope2d_units *units = piece->vector ? rope2d_plan_vectors(plan) : &plan->pattern.single;
    memset(words, 0, R_SHAPE_WORDS * sizeof(*words));
    write_positions(words, positions, work, piece, row_base);
    words[R_BATCH] = piece->batch;
    words[R_TOKENS] = piece->tokens;
    words[R_TABLE_FOLD] = table_fold;
    words[R_UNITS] = units->count;
    words[R_PAIR_UNITS] = units->pairs;
    words[R_GROUPS_X] = piece->groups[0];
    words[R_TENSOR_COUNT] = piece->tensor_count;
    if (piece->vector && piece->tile_tokens > 0) {
        const uint32_t row = units->count * piece->head_step;
        words[R_TILE_TOKENS] = piece->tile_tokens;
        words[R_HEAD_STEP] = piece->head_step;
        words[R_UNIT_MAGIC] = ((1u << R_UNIT_SHIFT) - 1 + row) / row;
        words[R_LANE_TOKENS] = piece->lane_tokens;
    } else if (piece->vector) {
        words[R_UNIT_SHIFTS] = make_divisor(units->count, &words[R_UNIT_MAGIC]);
    }
    write_tensors(words, plan, piece);
}
