// SPDX-License-Identifier: MIT
#include "rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_ROW_NUMBERS UINT64_C(0x7fffffff) // what the kernels' 32-bit indices can reach

static rope2d_status allocate_rows(rope2d_positions *positions) {
    const rope2d_host *host = &positions->device->host;
    uint64_t to_a_token = (uint64_t)positions->batch * positions->pattern.row_axes;
    if (to_a_token > 0 && positions->tokens > MAX_ROW_NUMBERS / to_a_token)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT,
                           "params.tokens is %" PRIu64 " and params.batch %" PRIu32 ", with %" PRIu32
                           " row numbers to a token; the limit of their product is %" PRIu64,
                           positions->tokens, positions->batch, positions->pattern.row_axes, MAX_ROW_NUMBERS);
    positions->row_count = positions->tokens * to_a_token;
    positions->rows = rope2d_allocate(host, positions->row_count + 1, sizeof(*positions->rows));
    if (positions->rows == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %" PRIu64 " row numbers",
                           positions->row_count);
    return ROPE2D_OK;
}

static rope2d_status check_ranges(const rope2d_positions *positions, const rope2d_positions_params *params) {
    const rope2d_host *host = &positions->device->host;
    if (params->unrotated_count > 0 && params->unrotated == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "params.unrotated is NULL; unrotated_count is %" PRIu32,
                           params->unrotated_count);
    for (uint32_t i = 0; i < params->unrotated_count; i++) {
        rope2d_range range = params->unrotated[i];
        if (range.begin > range.end || range.end > positions->tokens)
            return rope2d_fail(host, ROPE2D_ERROR_TOKENS,
                               "params.unrotated[%" PRIu32 "] is %" PRIu64 " to %" PRIu64
                               "; there are %" PRIu64 " tokens",
                               i, range.begin, range.end, positions->tokens);
    }
    return ROPE2D_OK;
}

// Row -1 for the tokens that pass through.
static void mark_unrotated(rope2d_positions *positions, const rope2d_positions_params *params) {
    uint32_t row_axes = positions->pattern.row_axes;
    for (uint32_t b = 0; b < positions->batch && positions->tokens > 0; b++) {
        int32_t *rows = positions->rows + (uint64_t)b * positions->tokens * row_axes;
        for (uint32_t i = 0; i < params->unrotated_count; i++) {
            rope2d_range range = params->unrotated[i];
            for (uint64_t at = range.begin * row_axes; at < range.end * row_axes; at++)
                rows[at] = -1;
        }
    }
}

static rope2d_status check_coordinates(const rope2d_positions *positions, const float *coordinates,
                                       uint64_t at) {
    uint32_t axes = positions->pattern.axes;
    for (uint32_t a = 0; a < axes; a++) {
        if (!isfinite(coordinates[at * axes + a]))
            return rope2d_fail(
                &positions->device->host, ROPE2D_ERROR_COORDINATE,
                "params.coordinates[%" PRIu64 "][%" PRIu64 "][%" PRIu32 "] is %f; it must be finite",
                at / positions->tokens, at % positions->tokens, a, (double)coordinates[at * axes + a]);
    }
    return ROPE2D_OK;
}

// The row numbers of one token, all batch elements counted through.
static rope2d_status number_token(rope2d_positions *positions, const rope2d_positions_params *params,
                                  uint64_t at) {
    const rope2d_host *host = &positions->device->host;
    rope2d_lists *lists = positions->lists;
    uint32_t row_axes = positions->pattern.row_axes;
    int32_t *rows = positions->rows + at * row_axes;
    const float *coordinates = params->coordinates + at * positions->pattern.axes;
    ROPE2D_TRY(check_coordinates(positions, params->coordinates, at));
    if (rows[0] < 0)
        return ROPE2D_OK;
    if (lists->sources != NULL) { // magnitudes of its own, a row of its own
        for (uint32_t a = 0; a < row_axes; a++)
            rows[a] = (int32_t)lists->source_count;
        lists->sources[lists->source_count++] = (uint32_t)at;
        return ROPE2D_OK;
    }
    for (uint32_t a = 0; a < row_axes; a++)
        ROPE2D_TRY(rope2d_merge_add(&lists->of[a], host, coordinates + a, &rows[a]));
    return ROPE2D_OK;
}

static rope2d_status rows_from_coordinates(rope2d_positions *positions,
                                           const rope2d_positions_params *params) {
    uint64_t count = positions->tokens * positions->batch;
    mark_unrotated(positions, params);
    for (uint64_t at = 0; at < count; at++)
        ROPE2D_TRY(number_token(positions, params, at));
    return ROPE2D_OK;
}

static rope2d_status copy_list(rope2d_positions *positions, const rope2d_positions_params *params,
                               uint32_t group) {
    const rope2d_host *host = &positions->device->host;
    rope2d_merge *list = &positions->lists->of[group];
    const float *values = params->lists[group];
    uint32_t count = params->list_counts[group];
    if (count > 0 && values == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL,
                           "params.lists[%" PRIu32 "] is NULL; its list_counts is %" PRIu32, group, count);
    for (uint64_t i = 0; i < (uint64_t)count * list->width; i++) {
        if (!isfinite(values[i]))
            return rope2d_fail(host, ROPE2D_ERROR_COORDINATE,
                               "params.lists[%" PRIu32 "][%" PRIu64 "], axis %" PRIu64
                               ", is %f; it must be finite",
                               group, i / list->width, group + i % list->width, (double)values[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        ROPE2D_TRY(rope2d_merge_append(list, host, values + (uint64_t)i * list->width));
    return ROPE2D_OK;
}

static rope2d_status rows_from_caller(rope2d_positions *positions, const rope2d_positions_params *params) {
    uint32_t row_axes = positions->pattern.row_axes;
    for (uint32_t g = 0; g < positions->lists->groups; g++)
        ROPE2D_TRY(copy_list(positions, params, g));
    for (uint64_t at = 0; at < positions->row_count; at++) {
        uint32_t group = (uint32_t)(at % row_axes);
        int32_t row = params->rows[at];
        if (row >= 0 && (uint32_t)row >= params->list_counts[group])
            return rope2d_fail(&positions->device->host, ROPE2D_ERROR_ROW,
                               "params.rows[%" PRIu64 "][%" PRIu64 "][%" PRIu32 "] is %" PRId32
                               "; params.list_counts[%" PRIu32 "] is %" PRIu32,
                               at / row_axes / positions->tokens, at / row_axes % positions->tokens, group,
                               row, group, params->list_counts[group]);
        positions->rows[at] = row < 0 ? -1 : row;
    }
    mark_unrotated(positions, params);
    return ROPE2D_OK;
}

static rope2d_status check_sources(const rope2d_positions *positions, const rope2d_positions_params *params) {
    const rope2d_host *host = &positions->device->host;
    if (params->rows != NULL && params->coordinates != NULL)
        return rope2d_fail(host, ROPE2D_ERROR_ROW,
                           "params.rows and params.coordinates are both given; the limit is one");
    if (params->rows != NULL && params->magnitudes != NULL)
        return rope2d_fail(host, ROPE2D_ERROR_MAGNITUDE,
                           "params.magnitudes is given with params.rows; magnitudes need coordinates");
    if (positions->pattern.factors > 0 && params->magnitudes != NULL)
        return rope2d_fail(
            host, ROPE2D_ERROR_MAGNITUDE,
            "params.magnitudes is given, and spec.factored is 1; a magnitude for each token needs "
            "spec.factored 0");
    if (positions->tokens > 0 && params->rows == NULL && params->coordinates == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_COORDINATE,
                           "params.coordinates is NULL; there are %" PRIu64 " tokens", positions->tokens);
    // Callers without tokens may have no array of them either.
    const bool has_lists = params->rows != NULL || positions->tokens == 0;
    for (uint32_t g = has_lists ? positions->pattern.row_axes : 0; g < ROPE2D_MAX_AXES; g++) {
        if (params->lists[g] != NULL || params->list_counts[g] != 0)
            return rope2d_fail(host, ROPE2D_ERROR_ROW,
                               "params.lists[%" PRIu32 "] is set, with list_counts %" PRIu32
                               "; params.rows point into %" PRIu32 " lists",
                               g, params->list_counts[g], has_lists ? positions->pattern.row_axes : 0);
    }
    return check_ranges(positions, params);
}

static rope2d_status create_lists(rope2d_positions *positions, const rope2d_positions_params *params) {
    const rope2d_host *host = &positions->device->host;
    rope2d_lists *lists = positions->lists = rope2d_allocate(host, 1, sizeof(*lists));
    if (lists == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for the lists of positions");
    lists->groups = positions->is_axial ? positions->pattern.axes : 1;
    for (uint32_t g = 0; g < lists->groups; g++)
        lists->of[g].width = positions->is_axial ? 1 : positions->pattern.axes;
    if (params->magnitudes == NULL)
        return ROPE2D_OK;
    lists->source_room = positions->tokens * positions->batch + 1;
    lists->sources = rope2d_allocate(host, lists->source_room, sizeof(*lists->sources));
    if (lists->sources == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %" PRIu64 " rows",
                           lists->source_room);
    return ROPE2D_OK;
}

rope2d_status rope2d_rows_create(rope2d_positions *positions, const rope2d_positions_params *params) {
    ROPE2D_TRY(check_sources(positions, params));
    ROPE2D_TRY(allocate_rows(positions));
    ROPE2D_TRY(create_lists(positions, params));
    ROPE2D_TRY(params->rows != NULL ? rows_from_caller(positions, params)
                                    : rows_from_coordinates(positions, params));
    // One row at least, so that a clamped row number always has one.
    positions->table_rows = positions->lists->source_count > 1 ? positions->lists->source_count : 1;
    for (uint32_t g = 0; g < positions->lists->groups; g++) {
        if (positions->lists->of[g].count > positions->table_rows)
            positions->table_rows = positions->lists->of[g].count;
    }
    return ROPE2D_OK;
}

void rope2d_rows_destroy(rope2d_positions *positions) {
    const rope2d_host *host = &positions->device->host;
    rope2d_lists *lists = positions->lists;
    rope2d_release(host, positions->rows, positions->row_count + 1, sizeof(*positions->rows));
    if (lists == NULL)
        return;
    for (uint32_t g = 0; g < lists->groups; g++)
        rope2d_merge_destroy(&lists->of[g], host);
    rope2d_release(host, lists->sources, lists->source_room, sizeof(*lists->sources));
    rope2d_release(host, lists->freqs, lists->freq_count, sizeof(*lists->freqs));
    rope2d_release(host, lists, 1, sizeof(*lists));
}
