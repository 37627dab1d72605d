// SPDX-License-Identifier: MIT
#include "table.h"

#include "elementary.h"
#include "rows.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MAX_ENTRIES  UINT64_C(0x7fffffff) // what the kernels' 32-bit indices can reach
#define MAX_TASKS    64
#define TASK_ENTRIES 4096 // below this a second thread costs more than it brings
#define NO_ENTRY     UINT64_MAX

typedef struct table_task {
    uint64_t overflow; // the first entry whose angle is not finite
    uint64_t rows_copied;
} table_task;

typedef struct table_work {
    const rope2d_positions *positions;
    const rope2d_positions_params *params;
    const rope2d_positions *known; // whose rows are copied; NULL: none
    double magnitude;              // of the spec
    uint32_t tasks;
    table_task results[MAX_TASKS];
} table_work;

// One group's part of a row: its coordinates on the axes from `axis` on.
typedef struct table_row {
    const float *coordinates; // NULL: the group's list is shorter
    const float *known;       // the same row, computed before; NULL: none
    const float *magnitudes;  // [pairs]; NULL: none
    uint32_t axis;
    uint32_t axes;
} table_row;

static double angle_double(const float *coordinates, uint32_t axes, const float *freqs, uint64_t stride) {
    double sum = 0;
    for (uint32_t a = 0; a < axes; a++) {
        double product = (double)coordinates[a] * (double)freqs[a * stride];
        sum = sum + product;
    }
    return sum;
}

static double angle_fp32(const float *coordinates, uint32_t axes, const float *freqs, uint64_t stride) {
    float sum = 0;
    for (uint32_t a = 0; a < axes; a++) {
        float freq = freqs[a * stride];
        if (freq == 0)
            continue;
        float product = coordinates[a] * freq;
        sum = sum + product;
    }
    return (double)sum;
}

// `at` counts through heads and pairs.
static double take_angle(const table_work *work, const float *freqs, const table_row *row, uint64_t at) {
    const rope2d_pattern *pattern = &work->positions->pattern;
    uint64_t stride = (uint64_t)pattern->freq_heads * pattern->pairs;
    freqs += row->axis * stride + at;
    if (work->params->spec->angles == ROPE2D_ANGLES_FP32)
        return angle_fp32(row->coordinates, row->axes, freqs, stride);
    return angle_double(row->coordinates, row->axes, freqs, stride);
}

static void write_single(float *entry, rope2d_direction direction, double angle, double magnitude) {
    double sine;
    double cosine;
    rope2d_sincos(angle, &sine, &cosine);
    if (direction == ROPE2D_INVERSE) {
        entry[0] = (float)(cosine / magnitude);
        entry[1] = (float)(-sine / magnitude);
    } else {
        entry[0] = (float)(cosine * magnitude);
        entry[1] = (float)((direction == ROPE2D_TRANSPOSE ? -sine : sine) * magnitude);
    }
}

// Transposing [c_lo -s_lo; s_hi c_hi] swaps the two sines and their signs.
static void write_both(float *entry, rope2d_direction direction, const double *angles, double magnitude) {
    write_single(entry, ROPE2D_FORWARD, angles[0], magnitude);
    write_single(entry + 2, ROPE2D_FORWARD, angles[1], magnitude);
    if (direction == ROPE2D_TRANSPOSE) {
        float sine = entry[1];
        entry[1] = -entry[3];
        entry[3] = -sine;
    }
}

// False when an angle is not finite.
static bool write_pair(const table_work *work, const table_row *row, uint64_t at, uint32_t pair,
                       float *entry) {
    const rope2d_spec *spec = work->params->spec;
    // A product of factors has the magnitude once.
    double magnitude = work->positions->pattern.factors > 0 && row->axis > 0 ? 1 : work->magnitude;
    if (row->magnitudes != NULL)
        magnitude = magnitude * (double)row->magnitudes[pair];
    double angles[2] = {take_angle(work, spec->freqs, row, at), 0};
    if (spec->freqs_hi != NULL)
        angles[1] = take_angle(work, spec->freqs_hi, row, at);
    if (!isfinite(angles[0]) || !isfinite(angles[1]))
        return false;
    if (spec->freqs_hi != NULL)
        write_both(entry, spec->direction, angles, magnitude);
    else
        write_single(entry, spec->direction, angles[0], magnitude);
    return true;
}

static table_row find_row(const table_work *work, uint32_t group, uint32_t number) {
    const rope2d_positions *positions = work->positions;
    const rope2d_lists *lists = positions->lists;
    const rope2d_merge *list = &lists->of[group];
    table_row row = {.axis = positions->is_axial ? group : 0, .axes = list->width};
    if (lists->sources != NULL) {
        if (number >= lists->source_count)
            return row;
        uint64_t source = lists->sources[number];
        row.coordinates = work->params->coordinates + source * positions->pattern.axes;
        row.magnitudes = work->params->magnitudes + source * positions->pattern.pairs;
    } else if (number < list->count) {
        row.coordinates = list->keys + (size_t)number * list->width;
        int32_t known =
            work->known == NULL ? -1 : rope2d_merge_find(&work->known->lists->of[group], row.coordinates);
        if (known >= 0)
            row.known = work->known->table + (uint64_t)known * positions->table_columns * 2;
    }
    return row;
}

// Entry `at` of a group's part of row `number`, through heads and pairs.
static void write_entry(const table_work *work, const table_row *row, uint64_t column, uint64_t at,
                        uint32_t number, table_task *result) {
    const rope2d_positions *positions = work->positions;
    const rope2d_pattern *pattern = &positions->pattern;
    uint64_t floats = (uint64_t)pattern->angles * 2;
    float *entry = positions->table + ((uint64_t)number * positions->table_columns + column) * 2;
    if (row->known != NULL) {
        memcpy(entry, row->known + column * 2, (size_t)floats * sizeof(*entry));
    } else if (row->coordinates == NULL) {
        for (uint64_t i = 0; i < floats; i++)
            entry[i] = i % 2 == 0 ? 1.0f : 0.0f;
    } else if (!write_pair(work, row, at, (uint32_t)(at % pattern->pairs), entry) &&
               result->overflow == NO_ENTRY) {
        result->overflow = (uint64_t)number * positions->table_columns + column;
    }
}

static void write_row(const table_work *work, uint32_t number, table_task *result) {
    const rope2d_positions *positions = work->positions;
    const rope2d_pattern *pattern = &positions->pattern;
    table_row rows[ROPE2D_MAX_AXES] = {{0}};
    for (uint32_t g = 0; g < positions->lists->groups; g++) {
        rows[g] = find_row(work, g, number);
        result->rows_copied += rows[g].known != NULL;
    }
    uint64_t entries = (uint64_t)pattern->freq_heads * pattern->pairs;
    uint32_t factors = pattern->factors == 0 ? 1 : pattern->factors;
    for (uint64_t column = 0; column < factors * entries; column++) {
        uint64_t at = column % entries;
        uint32_t group = (uint32_t)(column / entries);
        if (pattern->factors == 0 && positions->is_axial)
            group = pattern->axis[at % pattern->pairs];
        write_entry(work, &rows[group], column * pattern->angles, at, number, result);
    }
}

static void write_rows(void *data, uint32_t index) {
    table_work *work = data;
    rope2d_control control = rope2d_control_enter();
    uint64_t rows = work->positions->table_rows;
    table_task result = {.overflow = NO_ENTRY};
    uint32_t end = (uint32_t)(rows * (index + 1) / work->tasks);
    for (uint32_t number = (uint32_t)(rows * index / work->tasks); number < end; number++)
        write_row(work, number, &result);
    work->results[index] = result;
    rope2d_control_leave(control);
}

static rope2d_status report_overflow(const table_work *work, uint64_t entry) {
    const rope2d_positions *positions = work->positions;
    const rope2d_pattern *pattern = &positions->pattern;
    uint64_t entries = (uint64_t)pattern->freq_heads * pattern->pairs;
    uint64_t column = entry % positions->table_columns / pattern->angles;
    uint64_t at = column % entries;
    uint32_t pair = (uint32_t)(at % pattern->pairs);
    uint32_t group = (uint32_t)(column / entries);
    if (pattern->factors == 0 && positions->is_axial)
        group = pattern->axis[pair];
    table_row row = find_row(work, group, (uint32_t)(entry / positions->table_columns));
    if (row.coordinates == NULL) // past its list: no angle
        return ROPE2D_OK;
    uint32_t axis = 0;
    for (uint32_t axes = row.axes; axes > 0; axes--) { // the first that takes the sum out of range
        row.axes = axes;
        bool lo_is_finite = isfinite(take_angle(work, work->params->spec->freqs, &row, at));
        const float *freqs_hi = work->params->spec->freqs_hi;
        if (!lo_is_finite || (freqs_hi != NULL && !isfinite(take_angle(work, freqs_hi, &row, at))))
            axis = axes - 1;
    }
    return rope2d_fail(&positions->device->host, ROPE2D_ERROR_COORDINATE,
                       "params.coordinates: %g on axis %" PRIu32 " takes the fp32 angle of head %" PRIu64
                       ", pair %" PRIu32 " past the limit %g",
                       (double)row.coordinates[axis], row.axis + axis, at / pattern->pairs, pair,
                       (double)FLT_MAX);
}

// Whether a table can hold m, or what R(-angle) / m makes of it.
static bool fits(rope2d_direction direction, double magnitude) {
    return fabs(direction == ROPE2D_INVERSE ? 1 / magnitude : magnitude) <= (double)FLT_MAX;
}

static rope2d_status check_magnitudes(const table_work *work) {
    const rope2d_positions *positions = work->positions;
    const rope2d_host *host = &positions->device->host;
    const rope2d_direction direction = work->params->spec->direction;
    const uint32_t pairs = positions->pattern.pairs;
    if (!fits(direction, work->magnitude))
        return rope2d_fail(host, ROPE2D_ERROR_MAGNITUDE,
                           "spec.magnitude is %g, whose inverse is past the limit %g", work->magnitude,
                           (double)FLT_MAX);
    for (uint32_t i = 0; i < positions->lists->source_count; i++) {
        uint64_t source = positions->lists->sources[i];
        const float *magnitudes = work->params->magnitudes + source * pairs;
        for (uint32_t pair = 0; pair < pairs; pair++) {
            double magnitude = work->magnitude * (double)magnitudes[pair];
            if (!fits(direction, magnitude))
                return rope2d_fail(host, ROPE2D_ERROR_MAGNITUDE,
                                   "params.magnitudes[%" PRIu64 "][%" PRIu64 "][%" PRIu32
                                   "] is %g; with spec.magnitude %g it %s past the limit %g or no number",
                                   source / positions->tokens, source % positions->tokens, pair,
                                   (double)magnitudes[pair], work->magnitude,
                                   direction == ROPE2D_INVERSE ? "has an inverse" : "is", (double)FLT_MAX);
        }
    }
    return ROPE2D_OK;
}

static bool floats_equal(const float *a, const float *b, uint64_t count) {
    return count == 0 || memcmp(a, b, (size_t)count * sizeof(*a)) == 0;
}

// Keeps the spec's numbers, and finds out whether those of grown_from are the same.
static rope2d_status take_numbers(rope2d_positions *positions, const rope2d_spec *spec,
                                  const rope2d_positions *from) {
    const rope2d_host *host = &positions->device->host;
    const rope2d_pattern *pattern = &positions->pattern;
    rope2d_lists *lists = positions->lists;
    uint64_t to_a_table = (uint64_t)pattern->axes * pattern->freq_heads * pattern->pairs;
    lists->magnitude = spec->magnitude;
    lists->direction = spec->direction;
    lists->angles = spec->angles;
    lists->freq_count = to_a_table * pattern->angles;
    if (lists->freq_count > 0) {
        lists->freqs = rope2d_allocate(host, lists->freq_count, sizeof(*lists->freqs));
        if (lists->freqs == NULL)
            return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %" PRIu64 " frequencies",
                               lists->freq_count);
        memcpy(lists->freqs, spec->freqs, (size_t)to_a_table * sizeof(*lists->freqs));
        if (spec->freqs_hi != NULL)
            memcpy(lists->freqs + to_a_table, spec->freqs_hi, (size_t)to_a_table * sizeof(*lists->freqs));
    }
    if (from == NULL)
        return ROPE2D_OK;
    if (from->device != positions->device)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "params.grown_from is of another device");
    if (!rope2d_pattern_equal(pattern, &from->pattern) || lists->direction != from->lists->direction ||
        lists->angles != from->lists->angles ||
        !floats_equal(&lists->magnitude, &from->lists->magnitude, 1) ||
        !floats_equal(lists->freqs, from->lists->freqs, lists->freq_count))
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "params.grown_from is of another spec");
    return ROPE2D_OK;
}

static rope2d_status allocate_table(rope2d_positions *positions) {
    const rope2d_host *host = &positions->device->host;
    const rope2d_pattern *pattern = &positions->pattern;
    uint32_t factors = pattern->factors == 0 ? 1 : pattern->factors;
    positions->table_columns = factors * pattern->freq_heads * pattern->pairs * pattern->angles;
    uint64_t entries = (uint64_t)positions->table_rows * positions->table_columns;
    if (entries > MAX_ENTRIES)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT,
                           "params.coordinates make %" PRIu32 " rows of %" PRIu32 " (cos, sin): %" PRIu64
                           " entries; the limit is %" PRIu64,
                           positions->table_rows, positions->table_columns, entries, MAX_ENTRIES);
    positions->table_entries = entries;
    positions->table = rope2d_allocate(host, entries + 1, 2 * sizeof(*positions->table));
    if (positions->table == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for a table of %" PRIu64 " entries",
                           entries);
    return ROPE2D_OK;
}

static uint32_t count_tasks(const rope2d_positions *positions) {
    uint64_t tasks = positions->table_entries / TASK_ENTRIES;
    uint64_t most = 4 * (uint64_t)rope2d_threads(&positions->device->host);
    if (tasks > most)
        tasks = most;
    if (tasks > MAX_TASKS)
        tasks = MAX_TASKS;
    if (tasks > positions->table_rows)
        tasks = positions->table_rows;
    return tasks == 0 ? 1 : (uint32_t)tasks;
}

rope2d_status rope2d_table_create(rope2d_positions *positions, const rope2d_positions_params *params) {
    const rope2d_spec *spec = params->spec;
    const rope2d_positions *from = params->grown_from;
    ROPE2D_TRY(take_numbers(positions, spec, from));
    table_work work = {.positions = positions, .params = params};
    work.magnitude = spec->magnitude == 0 ? 1 : (double)spec->magnitude;
    ROPE2D_TRY(check_magnitudes(&work));
    ROPE2D_TRY(allocate_table(positions));
    // Rows with magnitudes of their own have no equals.
    if (from != NULL && from->lists->sources == NULL)
        work.known = from;
    work.tasks = count_tasks(positions);
    rope2d_parallel(&positions->device->host, work.tasks, write_rows, &work);
    for (uint32_t i = 0; i < work.tasks; i++) {
        if (work.results[i].overflow != NO_ENTRY)
            return report_overflow(&work, work.results[i].overflow);
        positions->lists->rows_copied += work.results[i].rows_copied;
    }
    return ROPE2D_OK;
}

void rope2d_table_destroy(rope2d_positions *positions) {
    rope2d_release(&positions->device->host, positions->table, positions->table_entries + 1,
                   2 * sizeof(*positions->table));
}
