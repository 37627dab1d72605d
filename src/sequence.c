// SPDX-License-Identifier: MIT
//
// The coordinates of a sequence of grids, lines and tokens that do not rotate.
#include "places.h"

#include <stdio.h>

#define MAX_TOKENS ((uint64_t)1 << 31)

static bool is_finite(double x) {
    return x - x == 0;
}

static uint32_t or_one(uint32_t x) {
    return x == 0 ? 1 : x;
}

static rope2d_status check_grid(const rope2d_segment *segment, uint32_t index, uint32_t axes,
                                const rope2d_host *host) {
    if ((uint32_t)segment->order >= ROPE2D_ORDER_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "segments[%u].order is %d: no such order", index,
                           (int)segment->order);
    bool is_merged = segment->order == ROPE2D_ORDER_BLOCKS || segment->order == ROPE2D_ORDER_WINDOWS;
    uint32_t merge = segment->merge == 0 ? 2 : segment->merge;
    if (is_merged && (segment->rows % merge != 0 || segment->columns % merge != 0))
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS,
                           "segments[%u] has %u rows and %u columns: blocks of merge = %u must divide both",
                           index, segment->rows, segment->columns, merge);
    if (segment->order == ROPE2D_ORDER_WINDOWS && segment->window == 0)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS, "segments[%u].window is 0: this order needs one",
                           index);
    for (uint32_t a = 0; a < axes; a++) {
        char name[48];
        (void)snprintf(name, sizeof name, "segments[%u].axis[%u]", index, a);
        ROPE2D_TRY(rope2d_axis_check(&segment->axis[a], name, host));
    }
    return ROPE2D_OK;
}

// Tokens of a segment, or above MAX_TOKENS when there are too many.
static uint64_t count_tokens(const rope2d_segment *segment) {
    if (segment->kind != ROPE2D_SEGMENT_GRID)
        return segment->tokens;
    const uint64_t factors[] = {segment->rows, segment->columns, or_one(segment->frames),
                                or_one(segment->repeat)};
    uint64_t tokens = 1;
    for (size_t i = 0; i < 4; i++) // factors are below 2^32 and the product so far at most 2^31
        tokens = tokens > MAX_TOKENS && factors[i] != 0 ? MAX_TOKENS + 1 : tokens * factors[i];
    return tokens;
}

static uint64_t count_runs(const rope2d_segment *segment) {
    if (segment->kind != ROPE2D_SEGMENT_GRID)
        return segment->tokens != 0;
    return rope2d_frame_runs(segment) * or_one(segment->frames) * or_one(segment->repeat);
}

static rope2d_status check_segment(const rope2d_segment *segment, uint32_t index, uint32_t axes,
                                   const rope2d_host *host) {
    if ((uint32_t)segment->kind >= ROPE2D_SEGMENT_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "segments[%u].kind is %d: no such kind", index,
                           (int)segment->kind);
    for (uint32_t a = 0; a < axes; a++)
        if (!is_finite(segment->origin[a]) || !is_finite(segment->step[a]))
            return rope2d_fail(host, ROPE2D_ERROR_COORDINATE,
                               "segments[%u].origin[%u] or step[%u] is NaN or infinite", index, a, a);
    if (segment->kind == ROPE2D_SEGMENT_GRID)
        ROPE2D_TRY(check_grid(segment, index, axes, host));
    return ROPE2D_OK;
}

// What a call will write.
typedef struct counts {
    uint64_t tokens, runs;
    uint32_t ranges;
} counts;

static rope2d_status count(const rope2d_segment *segments, uint32_t segment_count, uint32_t axes,
                           const rope2d_host *host, counts *total) {
    bool was_still = false;
    for (uint32_t s = 0; s < segment_count; s++) {
        const rope2d_segment *segment = &segments[s];
        ROPE2D_TRY(check_segment(segment, s, axes, host));
        uint64_t tokens = count_tokens(segment);
        if (tokens > MAX_TOKENS || total->tokens + tokens > MAX_TOKENS)
            return rope2d_fail(host, ROPE2D_ERROR_TOKENS, "segments[%u] brings more than 2^31 tokens", s);
        if (tokens == 0)
            continue;
        bool is_still = segment->kind == ROPE2D_SEGMENT_STILL;
        total->ranges += is_still && !was_still;
        was_still = is_still;
        total->tokens += tokens;
        total->runs += count_runs(segment);
    }
    return ROPE2D_OK;
}

static rope2d_status check_room(const rope2d_tokens *tokens, const counts *total, const rope2d_host *host) {
    if ((tokens->coordinates != NULL || tokens->order != NULL) && tokens->tokens < total->tokens)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS, "tokens.tokens is %llu; %llu are needed",
                           (unsigned long long)tokens->tokens, (unsigned long long)total->tokens);
    if (tokens->unrotated != NULL && tokens->unrotated_count < total->ranges)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS, "tokens.unrotated_count is %u; %u are needed",
                           tokens->unrotated_count, total->ranges);
    if (tokens->run_ends != NULL && tokens->runs < total->runs)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS, "tokens.runs is %llu; %llu are needed",
                           (unsigned long long)tokens->runs, (unsigned long long)total->runs);
    return ROPE2D_OK;
}

typedef struct writer {
    const rope2d_segment *segment;
    const rope2d_tokens *out;
    uint32_t axes;
    uint32_t frame;
    double origin[ROPE2D_MAX_AXES];
    double largest; // coordinate so far; -1 before the first
    uint64_t token; // next
    uint64_t run;
} writer;

static void write_coordinate(writer *to, uint32_t axis, double place) {
    to->largest = place > to->largest ? place : to->largest;
    if (to->out->coordinates != NULL)
        to->out->coordinates[to->token * to->axes + axis] = (float)place;
}

static void end_run(writer *to) {
    to->run++;
    if (to->out->run_ends != NULL)
        to->out->run_ends[to->run] = to->token;
}

static void write_cell(void *data, uint32_t row, uint32_t column, bool is_run_end) {
    writer *to = data;
    const rope2d_segment *segment = to->segment;
    const uint32_t numbers[] = {0, to->frame, row, column};
    const uint32_t sizes[] = {1, or_one(segment->frames), segment->rows, segment->columns};
    for (uint32_t a = 0; a < to->axes; a++) {
        const rope2d_axis *axis = &segment->axis[a];
        double place = 0;
        if (axis->counter != ROPE2D_COUNT_NOTHING)
            place = rope2d_axis_place(axis, numbers[axis->counter], sizes[axis->counter], segment->rows,
                                      segment->columns);
        write_coordinate(to, a, to->origin[a] + place);
    }
    if (to->out->order != NULL)
        to->out->order[to->token] = ((uint64_t)to->frame * segment->rows + row) * segment->columns + column;
    to->token++;
    if (is_run_end)
        end_run(to);
}

static void write_grid(writer *to) {
    for (uint32_t r = 0; r < or_one(to->segment->repeat); r++)
        for (to->frame = 0; to->frame < or_one(to->segment->frames); to->frame++)
            rope2d_visit_frame(to->segment, write_cell, to);
}

static void write_line(writer *to) {
    for (uint64_t i = 0; i < to->segment->tokens; i++) {
        bool is_still = to->segment->kind == ROPE2D_SEGMENT_STILL;
        for (uint32_t a = 0; a < to->axes; a++) {
            if (!is_still)
                write_coordinate(to, a, to->origin[a] + to->segment->step[a] * (double)i);
            else if (to->out->coordinates != NULL)
                to->out->coordinates[to->token * to->axes + a] = 0;
        }
        if (to->out->order != NULL)
            to->out->order[to->token] = i;
        to->token++;
    }
    if (to->segment->tokens != 0)
        end_run(to);
}

static void write_ranges(const rope2d_segment *segments, uint32_t segment_count, rope2d_range *ranges) {
    uint64_t token = 0;
    uint32_t written = 0;
    for (uint32_t s = 0; s < segment_count; s++) {
        uint64_t tokens = count_tokens(&segments[s]);
        if (segments[s].kind == ROPE2D_SEGMENT_STILL && tokens != 0) {
            if (written != 0 && ranges[written - 1].end == token)
                ranges[written - 1].end += tokens;
            else
                ranges[written++] = (rope2d_range){token, token + tokens};
        }
        token += tokens;
    }
}

static void write_all(const rope2d_segment *segments, uint32_t segment_count, uint32_t axes,
                      const rope2d_tokens *out) {
    writer to = {.out = out, .axes = axes, .largest = -1};
    // Who only counts waits for no token.
    const bool walks = out->coordinates != NULL || out->order != NULL || out->run_ends != NULL;
    rope2d_control control = rope2d_control_enter();
    if (out->run_ends != NULL)
        out->run_ends[0] = 0;
    for (uint32_t s = 0; walks && s < segment_count; s++) {
        to.segment = &segments[s];
        for (uint32_t a = 0; a < axes; a++)
            to.origin[a] = segments[s].origin[a] + (segments[s].follows ? to.largest + 1 : 0);
        if (segments[s].kind == ROPE2D_SEGMENT_GRID && segments[s].rows != 0 && segments[s].columns != 0)
            write_grid(&to);
        else if (segments[s].kind != ROPE2D_SEGMENT_GRID)
            write_line(&to);
    }
    if (out->unrotated != NULL)
        write_ranges(segments, segment_count, out->unrotated);
    rope2d_control_leave(control);
}

rope2d_status rope2d_sequence(const rope2d_segment *segments, uint32_t segment_count, uint32_t axes,
                              const rope2d_host *host, rope2d_tokens *tokens) {
    ROPE2D_TRY(rope2d_host_check(host));
    if (tokens == NULL || (segments == NULL && segment_count != 0))
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "%s is NULL", tokens == NULL ? "tokens" : "segments");
    ROPE2D_TRY(rope2d_check_struct_size(host, "tokens", tokens->struct_size, sizeof *tokens));
    if (axes == 0 || axes > ROPE2D_MAX_AXES)
        return rope2d_fail(host, ROPE2D_ERROR_AXES, "axes is %u; must be 1 to %u", axes, ROPE2D_MAX_AXES);
    counts total = {0};
    ROPE2D_TRY(count(segments, segment_count, axes, host, &total));
    ROPE2D_TRY(check_room(tokens, &total, host));
    write_all(segments, segment_count, axes, tokens);
    tokens->tokens = total.tokens;
    tokens->unrotated_count = total.ranges;
    tokens->runs = total.runs;
    return ROPE2D_OK;
}
