// SPDX-License-Identifier: MIT
//
// Presets as what can be drawn: which axis turns a pair, where the tokens of an image are, and how q.k of a
// probe falls with distance.
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "plot.h"

int plot_preset_open(const char *name, struct plot_preset *opened) {
    *opened = (struct plot_preset){.info = {.struct_size = sizeof opened->info}};
    rope2d_status status = rope2d_preset_get_info(name, &message_host, &opened->info);
    if (status != ROPE2D_OK)
        return STATUS_USAGE; // the log names the nearest
    rope2d_preset_params params = {.struct_size = sizeof params, .name = name};
    float *ones = NULL;
    if (opened->info.is_learned) {
        size_t heads = opened->info.heads ? opened->info.heads : 1;
        size_t count = strlen(opened->info.axes) * heads * opened->info.head_dim / 2;
        ones = malloc(count * sizeof *ones);
        if (!ones)
            return message_status(ROPE2D_ERROR_HOST_MEMORY, name);
        for (size_t i = 0; i < count; ++i)
            ones[i] = 1;
        params.learned = ones;
    }
    status = rope2d_preset_create(&params, &message_host, &opened->preset);
    free(ones);
    if (status != ROPE2D_OK)
        return message_status(status, name);
    opened->spec = rope2d_preset_spec(opened->preset);
    opened->axes = opened->spec.axes;
    opened->heads = opened->spec.freq_heads ? opened->spec.freq_heads : 1;
    opened->pairs = rope2d_spec_pairs(&opened->spec);
    return STATUS_OK;
}

void plot_preset_close(struct plot_preset *opened) {
    rope2d_preset_destroy(opened->preset);
    *opened = (struct plot_preset){0};
}

const char *plot_preset_obstacle(const struct plot_preset *opened) {
    return opened->info.is_learned ? "frequencies are learned: the caller's" : NULL;
}

// In the order of rows, whatever order the model has.
static float *sort_tokens(const rope2d_tokens *tokens, uint32_t axes) {
    float *sorted = malloc((tokens->tokens * axes + 1) * sizeof *sorted);
    if (!sorted)
        message("no memory for %llu tokens", (unsigned long long)tokens->tokens);
    for (uint64_t t = 0; sorted && t < tokens->tokens; ++t)
        memcpy(sorted + tokens->order[t] * axes, tokens->coordinates + t * axes, axes * sizeof *sorted);
    return sorted;
}

static bool place(const struct plot_preset *opened, const rope2d_item *item, rope2d_tokens *tokens) {
    rope2d_prompt prompt = {.struct_size = sizeof prompt, .items = item, .item_count = 1};
    rope2d_status status = rope2d_preset_positions(opened->preset, &prompt, &message_host, tokens);
    if (status != ROPE2D_OK)
        message_status(status, opened->info.name);
    return status == ROPE2D_OK;
}

static float *place_counted(const struct plot_preset *opened, const rope2d_item *item,
                            rope2d_tokens *tokens) {
    float *sorted = NULL;
    tokens->coordinates = malloc((tokens->tokens * opened->axes + 1) * sizeof *tokens->coordinates);
    tokens->order = malloc((tokens->tokens + 1) * sizeof *tokens->order);
    tokens->unrotated = malloc((tokens->unrotated_count + 1U) * sizeof *tokens->unrotated);
    tokens->run_ends = malloc((tokens->runs + 1) * sizeof *tokens->run_ends);
    if (!tokens->coordinates || !tokens->order || !tokens->unrotated || !tokens->run_ends)
        message("no memory for %llu tokens", (unsigned long long)tokens->tokens);
    else if (place(opened, item, tokens))
        sorted = sort_tokens(tokens, opened->axes);
    free(tokens->coordinates);
    free(tokens->order);
    free(tokens->unrotated);
    free(tokens->run_ends);
    return sorted;
}

float *plot_preset_grid(const struct plot_preset *opened, uint32_t rows, uint32_t columns) {
    const uint64_t wanted = (uint64_t)rows * columns;
    rope2d_item item = {.kind = ROPE2D_ITEM_IMAGE, .rows = rows, .columns = columns};
    if (opened->axes == 1)
        item = (rope2d_item){.kind = ROPE2D_ITEM_TEXT, .tokens = wanted};
    rope2d_tokens tokens = {.struct_size = sizeof tokens};
    if (!place(opened, &item, &tokens))
        return NULL;
    if (tokens.tokens * 4 == wanted) { // 2 x 2 patches become one token
        item.rows *= 2;
        item.columns *= 2;
        tokens = (rope2d_tokens){.struct_size = sizeof tokens};
        if (!place(opened, &item, &tokens))
            return NULL;
    }
    if (tokens.tokens != wanted) {
        message("%s makes %llu tokens of a grid of %u x %u", opened->info.name,
                (unsigned long long)tokens.tokens, rows, columns);
        return NULL;
    }
    return place_counted(opened, &item, &tokens);
}

static double frequency_of(const rope2d_spec *spec, uint32_t axis, uint32_t pair) {
    size_t heads = spec->freq_heads ? spec->freq_heads : 1, pairs = rope2d_spec_pairs(spec);
    return spec->freqs[axis * heads * pairs + pair];
}

void plot_pair_axes(const struct plot_preset *opened, uint32_t pair, char *letters) {
    size_t length = 0;
    for (uint32_t a = 0; a < opened->axes; ++a)
        if (frequency_of(&opened->spec, a, pair) != 0)
            letters[length++] = opened->info.axes[a];
    letters[length] = '\0';
}

double plot_angle(const rope2d_spec *spec, const float *coordinates, uint32_t pair) {
    double angle = 0;
    for (uint32_t a = 0; a < spec->axes; ++a)
        angle += coordinates[a] * frequency_of(spec, a, pair);
    return angle;
}

static rope2d_status rotate(const rope2d_spec *spec, const float *coordinates, uint32_t tokens,
                            float *probes) {
    rope2d_device *device = NULL;
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    uint32_t heads = spec->freq_heads ? spec->freq_heads : 1;
    rope2d_device_params cpu = {.struct_size = sizeof cpu, .host = &message_host};
    rope2d_positions_params where = {
        .struct_size = sizeof where, .spec = spec, .tokens = tokens, .coordinates = coordinates};
    rope2d_plan_params types = {.struct_size = sizeof types, .spec = spec, .flags = ROPE2D_PLAN_NO_SELF_TEST};
    rope2d_tensor tensor = {.heads = heads};
    tensor.in =
        rope2d_view_contiguous(probes, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, tokens, heads, spec->head_dim);
    rope2d_apply_params apply = {
        .struct_size = sizeof apply, .batch = 1, .tokens = tokens, .tensor_count = 1, .tensors = &tensor};
    rope2d_status status = rope2d_device_create(&cpu, &device);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(device, &where, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(device, &types, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_apply(plan, positions, &apply);
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    rope2d_device_destroy(device);
    return status;
}

int plot_scores(const rope2d_spec *spec, const float *coordinates, uint32_t tokens, double *scores) {
    size_t heads = spec->freq_heads ? spec->freq_heads : 1, rotated = 2 * (size_t)rope2d_spec_pairs(spec);
    size_t length = heads * spec->head_dim;
    float *probes = calloc(tokens * length + 1, sizeof *probes);
    if (!probes)
        return message_status(ROPE2D_ERROR_HOST_MEMORY, "probes");
    for (size_t vector = 0; vector < tokens * heads; ++vector)
        for (size_t c = 0; c < rotated; ++c)
            probes[vector * spec->head_dim + spec->rotary_begin + c] = 1;
    rope2d_status status = rotate(spec, coordinates, tokens, probes);
    for (size_t t = 0; t < tokens; ++t) {
        double sum = 0;
        for (size_t c = 0; c < length; ++c)
            sum += (double)probes[c] * probes[t * length + c];
        scores[t] = sum / (double)(rotated * heads);
    }
    free(probes);
    return status == ROPE2D_OK ? STATUS_OK : message_status(status, "probes");
}
