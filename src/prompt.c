// SPDX-License-Identifier: MIT
//
// What a model is given - images, text, tokens that stand still - as segments by the rules of its preset.
#include "places.h"
#include "preset_shape.h"

#include <string.h>

typedef struct prompt_state {
    const preset_shape *shape;
    const rope2d_prompt *prompt;
    uint64_t text; // tokens of text so far
    uint32_t images;
} prompt_state;

static uint32_t cell_of(const preset_row *row) {
    return row->cell == 0 ? 1 : row->cell;
}

static uint64_t count_text(const rope2d_prompt *prompt) {
    uint64_t tokens = 0;
    for (uint32_t i = 0; i < prompt->item_count; i++)
        if (prompt->items[i].kind == ROPE2D_ITEM_TEXT)
            tokens += prompt->items[i].tokens;
    return tokens;
}

// Half the longer side of the largest image.
static uint32_t half_side(const rope2d_prompt *prompt) {
    uint32_t half = 0;
    for (uint32_t i = 0; i < prompt->item_count; i++) {
        const rope2d_item *item = &prompt->items[i];
        uint32_t side = item->rows > item->columns ? item->rows : item->columns;
        if (item->kind == ROPE2D_ITEM_IMAGE && side / 2 > half)
            half = side / 2;
    }
    return half;
}

// To the nearest integer, ties to even, as Python rounds; from 2^53 on all are, and what is no number is
// refused later.
static double round_even(double x) {
    if (!(x < 9007199254740992.0 && x > -9007199254740992.0))
        return x;
    double down = (double)(int64_t)x;
    double rest = x - down;
    bool is_up = rest > 0.5 || (rest == 0.5 && (int64_t)down % 2 != 0);
    return is_up ? down + 1 : down;
}

// The image as large as fits into the base, centred: HunyuanDiT's get_fill_resize_and_crop.
static void crop(rope2d_axis *axis, double rows, double columns, double base_rows, double base_columns) {
    if (rows == 0 || columns == 0)
        return; // no tokens
    bool is_tall = rows / columns > base_rows / base_columns;
    double height = is_tall ? base_rows : round_even(base_columns / columns * rows);
    double width = is_tall ? round_even(base_rows / rows * columns) : base_columns;
    bool is_row = axis->counter == ROPE2D_COUNT_ROW;
    axis->begin = round_even((is_row ? base_rows - height : base_columns - width) / 2);
    axis->end = axis->begin + (is_row ? height : width);
}

static rope2d_axis make_axis(const prompt_state *state, uint32_t a, const rope2d_item *item) {
    const preset_row *row = state->shape->row;
    const rope2d_prompt *prompt = state->prompt;
    char letter = row->axes[a];
    const preset_place *place = letter == 't' ? &row->time : &row->space;
    const double parts = place->parts == 0 ? 1 : place->parts;
    const double offset = place->offset / parts;
    const double scale = place->scale / parts;
    rope2d_axis axis = {
        .counter = letter == 't'   ? ROPE2D_COUNT_FRAME
                   : letter == 'y' ? ROPE2D_COUNT_ROW
                   : letter == 'x' ? ROPE2D_COUNT_COLUMN
                                   : ROPE2D_COUNT_NOTHING,
        .rule = place->rule,
        .offset = prompt->has_offset ? prompt->offset[a] : offset,
        .scale = prompt->scale[a] != 0 ? prompt->scale[a] : scale,
        .reference = prompt->reference[a] != 0 ? prompt->reference[a] : place->reference,
        .normalise = prompt->normalise,
        .is_fp32 = state->shape->is_fp32 && row->fp32 == FP32_LINSPACE,
    };
    if (letter == 't') {
        axis.is_whole = (row->places & PLACE_WHOLE_FRAMES) != 0;
        if (item->frame_step != 0) {
            axis.offset = scale != 0 && !prompt->has_offset ? offset / scale * item->frame_step : axis.offset;
            axis.scale = item->frame_step;
        }
    }
    return axis;
}

static double reference_of(const prompt_state *state, char letter) {
    const preset_row *row = state->shape->row;
    for (uint32_t a = 0; a < state->shape->axes; a++)
        if (row->axes[a] == letter && state->prompt->reference[a] != 0)
            return state->prompt->reference[a];
    return row->space.reference;
}

static void place_image(prompt_state *state, const rope2d_item *item, rope2d_segment *segment) {
    const preset_row *row = state->shape->row;
    const rope2d_prompt *prompt = state->prompt;
    *segment = (rope2d_segment){
        .kind = ROPE2D_SEGMENT_GRID,
        .frames = item->frames,
        .rows = item->rows / cell_of(row),
        .columns = item->columns / cell_of(row),
        .repeat = item->repeat,
        .order = row->order,
        .merge = prompt->merge != 0 && row->cell == 0 ? prompt->merge : row->merge,
        .window = prompt->window != 0 ? prompt->window : row->window,
        .follows = row->text == TEXT_ALL,
    };
    for (uint32_t a = 0; a < state->shape->axes; a++) {
        segment->axis[a] = make_axis(state, a, item);
        if (segment->axis[a].rule == ROPE2D_RULE_CROP)
            crop(&segment->axis[a], item->rows, item->columns, reference_of(state, 'y'),
                 reference_of(state, 'x'));
        segment->origin[a] = item->offset[a];
        if (row->axes[a] == 't' && (row->places & PLACE_IMAGE_ON_T) != 0)
            segment->origin[a] += state->images;
    }
    if (row->text == TEXT_FIRST)
        segment->origin[0] += (double)(row->first + count_text(prompt));
    state->images++;
}

static void place_text(prompt_state *state, const rope2d_item *item, rope2d_segment *segment) {
    const preset_row *row = state->shape->row;
    uint32_t axes = state->shape->axes;
    segment->kind = row->text == TEXT_STILL ? ROPE2D_SEGMENT_STILL : ROPE2D_SEGMENT_LINE;
    segment->tokens = item->tokens;
    segment->follows = row->text == TEXT_ALL;
    for (uint32_t a = 0; a < axes; a++) {
        bool counts = row->text == TEXT_ALL || row->text == TEXT_BESIDE ||
                      (row->text == TEXT_FIRST && a == 0) || (row->text == TEXT_LAST && a + 1 == axes);
        segment->origin[a] = item->offset[a];
        segment->step[a] = counts;
        if (counts && row->text != TEXT_ALL)
            segment->origin[a] += (double)(state->text + row->first);
        if (row->text == TEXT_BESIDE)
            segment->origin[a] += half_side(state->prompt);
    }
    state->text += item->tokens;
}

static rope2d_status check_item(const preset_row *row, const rope2d_item *item, uint32_t index,
                                const rope2d_host *host) {
    if ((uint32_t)item->kind >= ROPE2D_ITEM_COUNT)
        return rope2d_fail(host, ROPE2D_ERROR_ENUM, "prompt.items[%u].kind is %d: no such kind", index,
                           (int)item->kind);
    if (item->kind == ROPE2D_ITEM_TEXT && row->text == TEXT_NONE)
        return rope2d_fail(host, ROPE2D_ERROR_UNSUPPORTED, "prompt.items[%u] is text: %s takes none", index,
                           rope2d_preset_row_name(row));
    if (item->kind != ROPE2D_ITEM_IMAGE)
        return ROPE2D_OK;
    if ((row->places & PLACE_UNKNOWN) != 0 || strcmp(row->axes, "t") == 0)
        return rope2d_fail(host, ROPE2D_ERROR_UNSUPPORTED,
                           "prompt.items[%u] is an image: the coordinates of %s are no image's", index,
                           rope2d_preset_row_name(row));
    if (item->rows % cell_of(row) != 0 || item->columns % cell_of(row) != 0)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS,
                           "prompt.items[%u] has %u rows and %u columns: %s merges blocks of %u", index,
                           item->rows, item->columns, rope2d_preset_row_name(row), cell_of(row));
    if (strchr(row->axes, 't') == NULL && item->frames > 1 && row->order == ROPE2D_ORDER_ROWS)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS, "prompt.items[%u] has %u frames: %s takes images",
                           index, item->frames, rope2d_preset_row_name(row));
    return ROPE2D_OK;
}

static rope2d_status check_prompt(const preset_shape *shape, const rope2d_prompt *prompt,
                                  const rope2d_host *host) {
    ROPE2D_TRY(rope2d_check_struct_size(host, "prompt", prompt->struct_size, sizeof *prompt));
    if (prompt->items == NULL && prompt->item_count != 0)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "prompt.items is NULL");
    for (uint32_t a = 0; a < ROPE2D_MAX_AXES; a++)
        if (prompt->reference[a] < 0 || prompt->reference[a] > 1e9)
            return rope2d_fail(host, ROPE2D_ERROR_COORDINATE, "prompt.reference[%u] is %g; must be 0 to 1e9",
                               a, prompt->reference[a]);
    for (uint32_t i = 0; i < prompt->item_count; i++)
        ROPE2D_TRY(check_item(shape->row, &prompt->items[i], i, host));
    return ROPE2D_OK;
}

rope2d_status rope2d_preset_positions(const rope2d_preset *preset, const rope2d_prompt *prompt,
                                      const rope2d_host *host, rope2d_tokens *tokens) {
    ROPE2D_TRY(rope2d_host_check(host));
    if (preset == NULL || prompt == NULL || tokens == NULL)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "%s is NULL",
                           preset == NULL   ? "preset"
                           : prompt == NULL ? "prompt"
                                            : "tokens");
    ROPE2D_TRY(check_prompt(&preset->shape, prompt, host));
    rope2d_host resolved = rope2d_host_resolve(host);
    rope2d_segment *segments = rope2d_allocate(&resolved, prompt->item_count, sizeof *segments);
    if (segments == NULL && prompt->item_count != 0)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "no memory for %u segments", prompt->item_count);
    rope2d_control control = rope2d_control_enter();
    prompt_state state = {.shape = &preset->shape, .prompt = prompt};
    for (uint32_t i = 0; i < prompt->item_count; i++) {
        const rope2d_item *item = &prompt->items[i];
        if (item->kind == ROPE2D_ITEM_IMAGE)
            place_image(&state, item, &segments[i]);
        else if (item->kind == ROPE2D_ITEM_TEXT)
            place_text(&state, item, &segments[i]);
        else
            segments[i] = (rope2d_segment){.kind = ROPE2D_SEGMENT_STILL, .tokens = item->tokens};
    }
    rope2d_control_leave(control);
    rope2d_status status = rope2d_sequence(segments, prompt->item_count, preset->shape.axes, host, tokens);
    rope2d_release(&resolved, segments, prompt->item_count, sizeof *segments);
    return status;
}
