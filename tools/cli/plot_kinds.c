// SPDX-License-Identifier: MIT
//
// A function for each picture.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "plot.h"

// 7 digits are what fp32 has; more would only differ from machine to machine.
static cJSON *make_number(double number) {
    char text[32];
    snprintf(text, sizeof text, "%.7g", number);
    return cJSON_CreateRaw(text);
}

static cJSON *make_numbers(const double *numbers, uint32_t count) {
    cJSON *array = cJSON_CreateArray();
    for (uint32_t i = 0; i < count; ++i)
        cJSON_AddItemToArray(array, make_number(numbers[i]));
    return array;
}

static void add_grid(cJSON *object, const struct plot_request *request) {
    const double grid[] = {request->rows, request->columns};
    cJSON_AddItemToObject(object, "grid", make_numbers(grid, 2));
}

static void add_names(cJSON *object, const struct plot_preset *opened) {
    cJSON_AddStringToObject(object, "preset", opened->info.name);
    cJSON_AddStringToObject(object, "title", opened->info.title);
    cJSON_AddStringToObject(object, "axes", opened->info.axes);
    cJSON_AddItemToObject(object, "head_dim", make_number(opened->info.head_dim));
    cJSON_AddItemToObject(object, "rotary_dim", make_number(opened->info.rotary_dim));
}

static void add_pair_axes(cJSON *object, const struct plot_preset *opened) {
    cJSON *pairs = cJSON_AddArrayToObject(object, "pair_axes");
    for (uint32_t i = 0; i < opened->pairs; ++i) {
        char letters[ROPE2D_MAX_AXES + 1];
        plot_pair_axes(opened, i, letters);
        cJSON_AddItemToArray(pairs, cJSON_CreateString(letters));
    }
}

// ---------------------------------------------------------------------------------------- of one preset

typedef int grid_function(const struct plot_request *, const struct plot_preset *, const float *, cJSON *);

// Opens a preset by name that has angles of its own, and its grid.
static int with_grid(const struct plot_request *request, grid_function *fill, cJSON *object) {
    const char *name = request->preset ? request->preset : "qwen2-vl-vision";
    struct plot_preset opened;
    float *coordinates = NULL;
    int result = plot_preset_open(name, &opened);
    if (!result && plot_preset_obstacle(&opened)) {
        message("%s cannot be drawn: %s", name, plot_preset_obstacle(&opened));
        result = STATUS_USAGE;
    }
    if (!result) {
        coordinates = plot_preset_grid(&opened, request->rows, request->columns);
        result = coordinates ? STATUS_OK : STATUS_USAGE;
    }
    if (!result) {
        add_names(object, &opened);
        add_grid(object, request);
        result = fill(request, &opened, coordinates, object);
    }
    free(coordinates);
    plot_preset_close(&opened);
    return result;
}

// Each pair of a token: its axes, its angle, and where (1, 0) is turned to.
static int token_pairs(const struct plot_request *request, const struct plot_preset *opened,
                       const float *coordinates, cJSON *object) {
    if (request->token[0] >= request->rows || request->token[1] >= request->columns) {
        message("--token %u,%u is outside a grid of %u x %u", request->token[0], request->token[1],
                request->rows, request->columns);
        return STATUS_USAGE;
    }
    size_t number = (size_t)request->token[0] * request->columns + request->token[1];
    const float *place = coordinates + number * opened->axes;
    double at[ROPE2D_MAX_AXES] = {0};
    const double token[] = {request->token[0], request->token[1]};
    for (uint32_t a = 0; a < opened->axes; ++a)
        at[a] = place[a];
    cJSON_AddItemToObject(object, "token", make_numbers(token, 2));
    cJSON_AddItemToObject(object, "coordinates", make_numbers(at, opened->axes));
    cJSON *pairs = cJSON_AddArrayToObject(object, "pairs");
    for (uint32_t i = 0; i < opened->pairs; ++i) {
        char letters[ROPE2D_MAX_AXES + 1];
        plot_pair_axes(opened, i, letters);
        double angle = plot_angle(&opened->spec, place, i);
        cJSON *pair = cJSON_CreateObject();
        cJSON_AddStringToObject(pair, "axes", letters);
        cJSON_AddItemToObject(pair, "radians", make_number(angle));
        cJSON_AddItemToObject(pair, "cos", make_number(cos(angle)));
        cJSON_AddItemToObject(pair, "sin", make_number(sin(angle)));
        cJSON_AddItemToArray(pairs, pair);
    }
    return STATUS_OK;
}

// Angles of every pair at the tokens (n, n).
static int diagonal_angles(const struct plot_request *request, const struct plot_preset *opened,
                           const float *coordinates, cJSON *object) {
    bool is_line = opened->axes == 1;
    uint32_t steps = is_line || request->columns < request->rows ? request->columns : request->rows;
    add_pair_axes(object, opened);
    cJSON *rows = cJSON_AddArrayToObject(object, "radians");
    for (uint32_t n = 0; n < steps; ++n) {
        size_t number = is_line ? n : (size_t)n * request->columns + n;
        cJSON *row = cJSON_CreateArray();
        for (uint32_t i = 0; i < opened->pairs; ++i)
            cJSON_AddItemToArray(
                row, make_number(plot_angle(&opened->spec, coordinates + number * opened->axes, i)));
        cJSON_AddItemToArray(rows, row);
    }
    return STATUS_OK;
}

static int fill_token(const struct plot_request *request, cJSON *object) {
    return with_grid(request, token_pairs, object);
}

static int fill_heatmap(const struct plot_request *request, cJSON *object) {
    return with_grid(request, diagonal_angles, object);
}

// ------------------------------------------------------------------------------------------- attention

enum { SPEEDS = 16, MAP_PAIRS = 2 * SPEEDS, REACH = 16, SIDE = 2 * REACH + 1, MAP_TOKENS = SIDE * SIDE + 1 };
enum map { AXIAL, MIXED, FLATTENED, MAPS };

static void fill_frequencies(enum map map, float freqs[2][MAP_PAIRS]) {
    const double golden_angle = 2.399963229728653; // spreads directions evenly
    for (uint32_t i = 0; i < MAP_PAIRS; ++i) {
        // As RoPE-ViT's axial form: two pairs of each speed.
        float speed = (float)pow(100, -(double)(i % SPEEDS) / SPEEDS);
        double along_x = i < SPEEDS, along_y = 1 - along_x;
        if (map == MIXED) {
            along_x = cos(golden_angle * i);
            along_y = sin(golden_angle * i);
        }
        freqs[0][i] = speed * (float)along_x;
        freqs[1][i] = speed * (float)along_y;
        if (map == FLATTENED)
            freqs[0][i] = (float)pow(100, -(double)i / MAP_PAIRS);
    }
}

static int fill_map(enum map map, cJSON *maps) {
    static const char *const names[] = {"axial", "mixed", "flattened"};
    float freqs[2][MAP_PAIRS];
    float *coordinates = malloc(sizeof *coordinates * MAP_TOKENS * 2);
    double *scores = calloc(MAP_TOKENS, sizeof *scores);
    fill_frequencies(map, freqs);
    rope2d_spec spec = {.struct_size = sizeof spec, .head_dim = 2 * MAP_PAIRS, .freqs = freqs[0]};
    spec.axes = map == FLATTENED ? 1 : 2;
    for (int t = 0; coordinates && t < MAP_TOKENS; ++t) { // the token in the middle, then all
        int number = t ? t - 1 : REACH * SIDE + REACH, row = number / SIDE, column = number % SIDE;
        if (map == FLATTENED) {
            coordinates[t] = (float)number;
        } else {
            coordinates[2 * t] = (float)column;
            coordinates[2 * t + 1] = (float)row;
        }
    }
    int result = coordinates && scores ? plot_scores(&spec, coordinates, MAP_TOKENS, scores)
                                       : message_status(ROPE2D_ERROR_HOST_MEMORY, "attention");
    if (!result) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "name", names[map]);
        cJSON *rows = cJSON_AddArrayToObject(object, "scores");
        for (ptrdiff_t row = 0; row < SIDE; ++row)
            cJSON_AddItemToArray(rows, make_numbers(scores + 1 + row * SIDE, SIDE));
        cJSON_AddItemToArray(maps, object);
    }
    free(coordinates);
    free(scores);
    return result;
}

static int fill_attention(const struct plot_request *request, cJSON *object) {
    (void)request;
    cJSON_AddNumberToObject(object, "reach", REACH);
    cJSON *maps = cJSON_AddArrayToObject(object, "maps");
    int result = STATUS_OK;
    for (int map = 0; map < MAPS && !result; ++map)
        result = fill_map((enum map)map, maps);
    return result;
}

// ------------------------------------------------------------------------------------- of every preset

// The bound of RoFormer's section 3.4.3: the mean of |S_i|, S_i the sum of e^(i angle) of the first i pairs,
// as a part of what it is without a turn.
static double bound_of(const struct plot_preset *opened, const float *from, const float *to) {
    double real = 0, imaginary = 0, sum = 0, most = 0;
    for (uint32_t i = 0; i < opened->pairs; ++i) {
        double angle = plot_angle(&opened->spec, to, i) - plot_angle(&opened->spec, from, i);
        real += cos(angle);
        imaginary += sin(angle);
        sum += hypot(real, imaginary);
        most += i + 1;
    }
    return sum / most;
}

// `steps` tokens from the first of the grid on, each `stride` tokens after the last.
static int fill_direction(const struct plot_preset *opened, const char *name, const float *grid,
                          uint32_t steps, uint32_t stride, cJSON *lines) {
    size_t axes = opened->axes;
    float *coordinates = malloc(sizeof *coordinates * steps * axes);
    double *scores = calloc(steps, sizeof *scores), *bounds = calloc(steps, sizeof *bounds);
    int result = STATUS_DEVICE;
    for (size_t n = 0; coordinates && n < steps; ++n)
        memcpy(coordinates + n * axes, grid + n * stride * axes, axes * sizeof *coordinates);
    if (coordinates && scores && bounds)
        result = plot_scores(&opened->spec, coordinates, steps, scores);
    else
        message("no memory for %u tokens", steps);
    if (!result) {
        for (size_t n = 0; n < steps; ++n)
            bounds[n] = bound_of(opened, coordinates, coordinates + n * axes);
        cJSON *line = cJSON_CreateObject();
        cJSON_AddStringToObject(line, "along", name);
        cJSON_AddItemToObject(line, "scores", make_numbers(scores, steps));
        cJSON_AddItemToObject(line, "bounds", make_numbers(bounds, steps));
        cJSON_AddItemToArray(lines, line);
    }
    free(coordinates);
    free(scores);
    free(bounds);
    return result;
}

static int preset_decay(const struct plot_request *request, const struct plot_preset *opened, cJSON *object) {
    const char *obstacle = plot_preset_obstacle(opened);
    if (obstacle) {
        cJSON_AddStringToObject(object, "without", obstacle);
        return STATUS_OK;
    }
    bool is_line = opened->axes == 1;
    uint32_t rows = is_line ? 1 : request->rows, columns = request->columns;
    float *grid = plot_preset_grid(opened, rows, columns);
    if (!grid)
        return STATUS_USAGE;
    cJSON *lines = cJSON_AddArrayToObject(object, "lines");
    int result = fill_direction(opened, is_line ? "text" : "row", grid, columns, 1, lines);
    if (!is_line && !result)
        result = fill_direction(opened, "column", grid, rows, columns, lines);
    if (!is_line && !result)
        result =
            fill_direction(opened, "diagonal", grid, rows < columns ? rows : columns, columns + 1, lines);
    free(grid);
    return result;
}

static int preset_axes(const struct plot_request *request, const struct plot_preset *opened, cJSON *object) {
    (void)request;
    add_pair_axes(object, opened);
    return STATUS_OK;
}

typedef int preset_function(const struct plot_request *, const struct plot_preset *, cJSON *);

static int fill_preset(const struct plot_request *request, const char *name, preset_function *fill,
                       cJSON *presets) {
    struct plot_preset opened;
    int result = plot_preset_open(name, &opened);
    if (!result) {
        cJSON *item = cJSON_CreateObject();
        add_names(item, &opened);
        result = fill(request, &opened, item);
        cJSON_AddItemToArray(presets, item);
    }
    plot_preset_close(&opened);
    return result;
}

// Those that are named, with commas between, or all.
static int for_presets(const struct plot_request *request, preset_function *fill, cJSON *object) {
    add_grid(object, request);
    cJSON *presets = cJSON_AddArrayToObject(object, "presets");
    int result = STATUS_OK;
    if (!request->preset)
        for (uint32_t i = 0; i < rope2d_preset_count() && !result; ++i)
            result = fill_preset(request, rope2d_preset_name(i), fill, presets);
    for (const char *rest = request->preset; rest && !result;) {
        char name[64];
        const char *comma = strchr(rest, ',');
        size_t length = comma ? (size_t)(comma - rest) : strlen(rest);
        length = length < sizeof name ? length : sizeof name - 1; // too long for any preset's
        memcpy(name, rest, length);
        name[length] = '\0';
        result = fill_preset(request, name, fill, presets);
        rest = comma ? comma + 1 : NULL;
    }
    return result;
}

static int fill_decay(const struct plot_request *request, cJSON *object) {
    return for_presets(request, preset_decay, object);
}

static int fill_axes(const struct plot_request *request, cJSON *object) {
    return for_presets(request, preset_axes, object);
}

const char *const plot_kinds[] = {"angles", "vectors", "heatmap", "attention", "decay", "axes", NULL};

int plot_fill(int kind, const struct plot_request *request, cJSON *object) {
    static int (*const fills[])(const struct plot_request *, cJSON *) = {
        fill_token, fill_token, fill_heatmap, fill_attention, fill_decay, fill_axes};
    cJSON_AddStringToObject(object, "kind", plot_kinds[kind]);
    return fills[kind](request, object);
}
