// SPDX-License-Identifier: MIT
#include "preset_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options.h"

enum { MAX_ITEMS = 64, WORD_SIZE = 64 };

// What a preset refuses is what the user wrote.
static int refusal(rope2d_status status) {
    return status == ROPE2D_ERROR_HOST_MEMORY ? STATUS_DEVICE : STATUS_USAGE;
}

int preset_spec_make(const struct apply_request *request, const float *learned, uint32_t heads,
                     struct apply_input *input) {
    rope2d_preset_params params = {
        .struct_size = sizeof params,
        .name = request->preset,
        .flags = request->model_fp32 ? ROPE2D_PRESET_MODEL_FP32 : 0,
        .head_dim = input->job.tensors[0].head_dim,
        .learned = learned,
        .heads = heads,
    };
    rope2d_preset_info info = {.struct_size = sizeof info};
    uint64_t rotary = 0;
    if (rope2d_preset_get_info(request->preset, &message_host, &info))
        return STATUS_USAGE;
    if (request->rotary_dim && !parse_count(request->rotary_dim, 2, ROPE2D_MAX_HEAD_DIM, &rotary)) {
        message("--rotary-dim %s: must be a number from 2 to %d", request->rotary_dim, ROPE2D_MAX_HEAD_DIM);
        return STATUS_USAGE;
    }
    if (request->base && !parse_number(request->base, &params.base)) {
        message("--base %s: must be a number", request->base);
        return STATUS_USAGE;
    }
    params.rotary_dim = (uint32_t)rotary;
    if (info.heads && !learned)
        params.heads = input->job.tensors[0].heads;
    rope2d_status status = rope2d_preset_create(&params, &message_host, &input->preset);
    if (status)
        return refusal(status);
    input->job.spec = rope2d_preset_spec(input->preset);
    input->job.spec.direction = (rope2d_direction)request->direction;
    input->job.spec.factored = request->factored;
    return STATUS_OK;
}

// "14x14" or "4x14x14"
static bool parse_image(const char *text, rope2d_item *item) {
    char front[WORD_SIZE];
    const char *first = strchr(text, 'x');
    const char *second = first ? strchr(first + 1, 'x') : NULL;
    uint64_t frames = 1;
    if (second) {
        size_t length = (size_t)(first - text);
        if (length >= sizeof front)
            return false;
        memcpy(front, text, length);
        front[length] = '\0';
        if (!parse_count(front, 1, 1 << 24, &frames))
            return false;
        text = first + 1;
    }
    item->kind = ROPE2D_ITEM_IMAGE;
    item->frames = (uint32_t)frames;
    return parse_grid(text, &item->rows, &item->columns);
}

static bool parse_item(const char *word, rope2d_item *item) {
    *item = (rope2d_item){.kind = ROPE2D_ITEM_TEXT};
    if (strncmp(word, "image:", 6) == 0)
        return parse_image(word + 6, item);
    if (strncmp(word, "text:", 5) == 0)
        return parse_count(word + 5, 0, UINT32_MAX, &item->tokens);
    item->kind = ROPE2D_ITEM_STILL;
    return strncmp(word, "still:", 6) == 0 && parse_count(word + 6, 0, UINT32_MAX, &item->tokens);
}

static int parse_prompt(const char *option, const char *text, rope2d_item *items, uint32_t *count) {
    for (*count = 0; *text; ++*count) {
        char word[WORD_SIZE];
        size_t length = strcspn(text, ",");
        bool fits = length < sizeof word && *count < MAX_ITEMS;
        if (fits) {
            memcpy(word, text, length);
            word[length] = '\0';
        }
        if (!fits || !parse_item(word, &items[*count])) {
            message("%s: '%.*s' must be still:N, text:N, image:HxW or image:FxHxW, at most %d of them",
                    option, (int)(length < 40 ? length : 40), text, MAX_ITEMS);
            return STATUS_USAGE;
        }
        text += length;
        text += *text == ',';
    }
    return STATUS_OK;
}

// An image between the tokens at both ends that --unrotated has named.
static int surround(const char *text, const struct job_positions *positions, uint64_t tokens,
                    rope2d_item *items, uint32_t *count) {
    rope2d_item image = {0};
    if (!parse_image(text, &image)) {
        message("--grid %s: must be HEIGHTxWIDTH or FRAMESxHEIGHTxWIDTH, such as 24x32", text);
        return STATUS_USAGE;
    }
    uint64_t begin = 0, end = tokens;
    for (uint32_t i = 0; i < positions->unrotated_count; ++i) {
        const rope2d_range *range = &positions->unrotated[i];
        if (range->begin == begin)
            begin = range->end;
        else if (range->end == tokens)
            end = range->begin;
        else {
            message(
                "--unrotated: with --preset and --grid, only first and last tokens; --prompt says the rest");
            return STATUS_USAGE;
        }
    }
    items[0] = (rope2d_item){.kind = ROPE2D_ITEM_STILL, .tokens = begin};
    items[1] = image;
    items[2] = (rope2d_item){.kind = ROPE2D_ITEM_STILL, .tokens = end < begin ? 0 : tokens - end};
    *count = 3;
    return STATUS_OK;
}

static int place(const char *option, const char *text, const rope2d_prompt *prompt, size_t which,
                 struct apply_input *input) {
    const struct job_tensor *tensor = &input->job.tensors[which];
    struct job_positions *positions = &input->job.positions[which];
    rope2d_tokens tokens = {.struct_size = sizeof tokens};
    rope2d_status status = rope2d_preset_positions(input->preset, prompt, &message_host, &tokens);
    if (status)
        return refusal(status);
    if (tokens.tokens != tensor->tokens) {
        message("%s %s: has %" PRIu64 " tokens: must have the %" PRIu64 " of %s", option, text, tokens.tokens,
                tensor->tokens, which ? "k" : "q");
        return STATUS_USAGE;
    }
    free(input->unrotated[which]);
    tokens.coordinates = malloc((size_t)tokens.tokens * input->job.spec.axes * sizeof(float) + 1);
    tokens.unrotated = malloc(tokens.unrotated_count * sizeof *tokens.unrotated + 1);
    input->coordinates[which] = tokens.coordinates;
    input->unrotated[which] = tokens.unrotated;
    if (!tokens.coordinates || !tokens.unrotated) {
        message("no memory for the coordinates");
        return STATUS_DEVICE;
    }
    status = rope2d_preset_positions(input->preset, prompt, &message_host, &tokens);
    *positions = (struct job_positions){tokens.coordinates, 1, tokens.tokens, tokens.unrotated,
                                        tokens.unrotated_count};
    return status ? refusal(status) : STATUS_OK;
}

int preset_positions_make(const char *option, const char *text, bool is_grid, size_t which,
                          struct apply_input *input) {
    rope2d_item items[MAX_ITEMS];
    rope2d_prompt prompt = {.struct_size = sizeof prompt, .items = items};
    int result = is_grid ? surround(text, &input->job.positions[which], input->job.tensors[which].tokens,
                                    items, &prompt.item_count)
                         : parse_prompt(option, text, items, &prompt.item_count);
    return result ? result : place(option, text, &prompt, which, input);
}
