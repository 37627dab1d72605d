// SPDX-License-Identifier: MIT
#include "preset_cases.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rope2d/rope2d_presets.h"

enum { ROWS = 4, COLUMNS = 6, NAME_SIZE = 64, STREAM_LEARNED = 3000, SEED = 1 };

struct preset_case {
    rope2d_preset *preset;
    rope2d_spec spec;
    float *learned, *coordinates;
    char name[NAME_SIZE];
    struct harness_structure structure;
    struct harness_case what;
};

struct verify_presets {
    uint32_t count;
    struct preset_case *cases;
};

// Frequencies of presets whose model learned them: any will do.
static bool make_learned(struct preset_case *made, const rope2d_preset_info *info) {
    size_t heads = info->heads ? info->heads : 1;
    size_t count = strlen(info->axes) * heads * (info->rotary_dim / 2);
    made->learned = calloc(count + 1, sizeof *made->learned);
    for (size_t i = 0; made->learned && i < count; ++i)
        made->learned[i] = counter_uniform(counter_word(SEED, STREAM_LEARNED, i));
    return made->learned != NULL;
}

// The model's own coordinates. False where only its user knows them, or memory runs out.
static bool make_coordinates(struct preset_case *made) {
    const rope2d_item image = {.kind = ROPE2D_ITEM_IMAGE, .rows = ROWS, .columns = COLUMNS};
    const rope2d_item text = {.kind = ROPE2D_ITEM_TEXT, .tokens = ROWS * COLUMNS};
    rope2d_prompt prompt = {.struct_size = sizeof prompt, .items = &image, .item_count = 1};
    rope2d_tokens tokens = {.struct_size = sizeof tokens};
    if (rope2d_preset_positions(made->preset, &prompt, NULL, &tokens)) {
        prompt.items = &text; // of language models
        if (rope2d_preset_positions(made->preset, &prompt, NULL, &tokens))
            return false;
    }
    made->coordinates = calloc((size_t)tokens.tokens * made->spec.axes + 1, sizeof *made->coordinates);
    tokens.coordinates = made->coordinates;
    if (!made->coordinates || tokens.unrotated_count ||
        rope2d_preset_positions(made->preset, &prompt, NULL, &tokens))
        return false;
    made->what.height = 1;
    made->what.width = (uint32_t)tokens.tokens;
    made->what.given = made->coordinates;
    return true;
}

static bool make_case(struct preset_case *made, const char *name) {
    rope2d_preset_info info = {.struct_size = sizeof info};
    rope2d_preset_params params = {.struct_size = sizeof params, .name = name};
    if (rope2d_preset_get_info(name, NULL, &info) || (info.is_learned && !make_learned(made, &info)))
        return false;
    params.learned = made->learned;
    if (rope2d_preset_create(&params, NULL, &made->preset))
        return false;
    made->spec = rope2d_preset_spec(made->preset);
    uint32_t heads = made->spec.freq_heads > 1 ? made->spec.freq_heads : 2;
    snprintf(made->name, sizeof made->name, "preset/%.50s", name);
    made->structure = (struct harness_structure){.name = made->name, .spec = &made->spec};
    made->what = (struct harness_case){.name = made->name,
                                       .structure = made->name,
                                       .own = &made->structure,
                                       .heads = {heads, made->spec.freq_heads > 1 ? heads : 1},
                                       .height = ROWS,
                                       .width = COLUMNS,
                                       .inputs = COUNTER_BELL};
    if (!make_coordinates(made))
        made->what.coordinates = HARNESS_CENTERS;
    return true;
}

struct verify_presets *verify_presets_make(void) {
    struct verify_presets *presets = calloc(1, sizeof *presets);
    uint32_t count = rope2d_preset_count();
    if (presets)
        presets->cases = calloc(count, sizeof *presets->cases);
    bool good = presets && presets->cases;
    for (; good && presets->count < count; ++presets->count)
        good = make_case(&presets->cases[presets->count], rope2d_preset_name(presets->count));
    if (good)
        return presets;
    verify_presets_free(presets);
    return NULL;
}

void verify_presets_free(struct verify_presets *presets) {
    for (uint32_t i = 0; presets && presets->cases && i < rope2d_preset_count(); ++i) {
        rope2d_preset_destroy(presets->cases[i].preset);
        free(presets->cases[i].learned);
        free(presets->cases[i].coordinates);
    }
    if (presets)
        free(presets->cases);
    free(presets);
}

const struct harness_case *verify_preset_case(const struct verify_presets *presets, uint32_t index) {
    return index < presets->count ? &presets->cases[index].what : NULL;
}
