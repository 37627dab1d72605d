// SPDX-License-Identifier: MIT
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "message.h"
#include "plot.h"
#include "verbs.h"

enum { LARGEST_SIDE = 1024 };

static bool parse_token(const char *text, uint32_t token[2]) {
    char row[16];
    size_t length = 0;
    while (text[length] && text[length] != ',' && length + 1 < sizeof row) {
        row[length] = text[length];
        ++length;
    }
    row[length] = '\0';
    uint64_t numbers[2];
    if (text[length] != ',' || !parse_count(row, 0, UINT32_MAX, &numbers[0]) ||
        !parse_count(text + length + 1, 0, UINT32_MAX, &numbers[1]))
        return false;
    token[0] = (uint32_t)numbers[0];
    token[1] = (uint32_t)numbers[1];
    return true;
}

static int collect(const char *name, const struct plot_request *request, cJSON *data) {
    int kind = word_index(name, plot_kinds);
    if (kind < 0) {
        const char *nearest = nearest_word(name, plot_kinds);
        if (nearest)
            message("there is no picture '%s': did you mean %s?", name, nearest);
        else
            message("there is no picture '%s'; --help lists them", name);
        return STATUS_USAGE;
    }
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(data, object);
    return plot_fill(kind, request, object);
}

static int check_request(const struct verb *verb, int kinds, const char *grid, const char *token,
                         bool needs_kind, struct plot_request *request) {
    if (!parse_grid(grid, &request->rows, &request->columns) || request->rows > LARGEST_SIDE ||
        request->columns > LARGEST_SIDE)
        message("--grid is '%s': must be HEIGHTxWIDTH, each at most %d", grid, LARGEST_SIDE);
    else if (!parse_token(token, request->token))
        message("--token is '%s': must be ROW,COLUMN", token);
    else if (needs_kind && !kinds)
        message("rope2d %s needs a picture; --help lists them", verb->name);
    else
        return STATUS_OK;
    return STATUS_USAGE;
}

int plot_parse(const struct verb *verb, int argc, char **argv, const char **folder, int *format,
               cJSON **data) {
    static const char *const formats[] = {"svg", "png", "both", NULL};
    const char *grid = "64x64", *token = "9,42";
    struct plot_request request = {0};
    const struct option options[] = {
        {.name = "preset",
         .value = "NAME",
         .help = "angles, vectors, heatmap: of this model; default qwen2-vl-vision\n"
                 "decay, axes: of these, with commas between; default all",
         .text = &request.preset},
        {.name = "grid",
         .value = "HxW",
         .help = "tokens of the image; default 64x64. With one axis: W tokens",
         .text = &grid},
        {.name = "token",
         .value = "ROW,COLUMN",
         .help = "the token of angles and vectors; default 9,42",
         .text = &token},
        {.name = folder ? "folder" : NULL,
         .value = "FOLDER",
         .help = "where the pictures go; default here",
         .text = folder},
        {.name = "format",
         .value = "svg|png|both",
         .help = "default svg",
         .choice = format,
         .choices = formats},
        {0},
    };
    *data = NULL;
    int kinds;
    enum options_result parsed = options_parse(verb, options, argc, argv, &kinds);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    int result = check_request(verb, kinds, grid, token, !folder, &request);
    if (result)
        return result;
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < kinds && !result; ++i)
        result = collect(argv[i], &request, array);
    for (int i = 0; !kinds && plot_kinds[i] && !result; ++i)
        result = collect(plot_kinds[i], &request, array);
    if (result)
        cJSON_Delete(array);
    else
        *data = array;
    return result;
}

static int run(int argc, char **argv) {
    cJSON *data;
    int result = plot_parse(&verb_plot_data, argc, argv, NULL, NULL, &data);
    if (!data)
        return result;
    char *text = cJSON_PrintUnformatted(data);
    cJSON_Delete(data);
    if (!text)
        return message_status(ROPE2D_ERROR_HOST_MEMORY, "the JSON");
    puts(text);
    cJSON_free(text);
    return STATUS_OK;
}

const struct verb verb_plot_data = {
    .name = "plot-data",
    .usage = "PICTURE... [OPTIONS]",
    .summary = "print the numbers behind the pictures",
    .description = "An array in JSON with an object for each PICTURE; angles are in radians.\n"
                   "  angles     of each pair of a token\n"
                   "  vectors    where each pair of a token turns (1, 0)\n"
                   "  heatmap    angles of each pair at the tokens (0, 0), (1, 1), (2, 2), ...\n"
                   "  attention  q.k of a probe with itself around a token: axial, mixed, flattened\n"
                   "  decay      q.k of a probe with itself over the distance, for each preset\n"
                   "  axes       which axes turn which pair, for each preset",
    .run = run,
};
