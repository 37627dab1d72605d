// SPDX-License-Identifier: MIT
// Presets that no golden case proves, against their sources' formulas: frequencies and coordinates to the
// last bit of fp32, and the rotation of a head on the CPU. What callers may change, scaling, and refusals.
#include "check.h"
#include "last_line.h"
#include "rope2d/rope2d_presets.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEAD_DIM 256

static struct last_line logged;
static const rope2d_host host = {.struct_size = sizeof(host), .user = &logged, .log = last_line_keep};

static void verdict(bool good, const char *name, const char *what, double detail) {
    CHECK(good, "%-20s %s %g %s", name, what, detail, logged.text);
}

static rope2d_preset *make(rope2d_preset_params params) {
    rope2d_preset *preset = NULL;
    params.struct_size = sizeof(params);
    logged.text[0] = '\0';
    (void)rope2d_preset_create(&params, &host, &preset);
    return preset;
}

// ---------------------------------------------------------------------------------------- refusals

static void refuses(rope2d_preset_params params, rope2d_status wants, const char *what) {
    rope2d_preset *preset = (rope2d_preset *)&params; // must become NULL
    params.struct_size = params.struct_size == 0 ? sizeof(params) : params.struct_size;
    logged.text[0] = '\0';
    rope2d_status is = rope2d_preset_create(&params, &host, &preset);
    if (is != wants)
        printf("     %s, not %s\n", rope2d_status_name(is), rope2d_status_name(wants));
    verdict(is == wants && preset == NULL && logged.text[0] != '\0', params.name == NULL ? "" : params.name,
            what, is);
    if (is == ROPE2D_OK)
        rope2d_preset_destroy(preset);
}

static void refuses_scaling(const char *name, rope2d_scaling first, rope2d_scaling second,
                            rope2d_status wants) {
    rope2d_preset_params params = {.name = name, .scaling = {first, second}};
    refuses(params, wants, "scaling");
}

static void try_refusals(void) {
    const float some[64] = {0};
    static float broken[24 * 3 * 64];
    broken[5] = NAN;
    refuses((rope2d_preset_params){.name = NULL}, ROPE2D_ERROR_NULL, "no name");
    refuses((rope2d_preset_params){.name = "su", .struct_size = 8}, ROPE2D_ERROR_STRUCT_SIZE, "size");
    refuses((rope2d_preset_params){.name = "su", .flags = 2}, ROPE2D_ERROR_ENUM, "flags");
    refuses((rope2d_preset_params){.name = "su", .head_dim = 5000}, ROPE2D_ERROR_HEAD_DIM, "head_dim");
    refuses((rope2d_preset_params){.name = "su", .head_dim = 63}, ROPE2D_ERROR_ROTARY_RANGE, "odd head");
    refuses((rope2d_preset_params){.name = "su", .rotary_dim = 66}, ROPE2D_ERROR_ROTARY_RANGE, "rotary_dim");
    refuses((rope2d_preset_params){.name = "v-jepa-2", .head_dim = 80}, ROPE2D_ERROR_ROTARY_RANGE,
            "third of 75");
    refuses((rope2d_preset_params){.name = "su", .heads = 2}, ROPE2D_ERROR_HEADS, "shared");
    refuses((rope2d_preset_params){.name = "ltx-video", .heads = 70000}, ROPE2D_ERROR_HEADS, "many");
    refuses((rope2d_preset_params){.name = "su", .axis_pairs = {8, 8}}, ROPE2D_ERROR_AXES, "too few pairs");
    refuses((rope2d_preset_params){.name = "su", .axis_pairs = {16, 16, 1}}, ROPE2D_ERROR_AXES, "third axis");
    refuses((rope2d_preset_params){.name = "kimi-vl", .axis_pairs = {20, 16}}, ROPE2D_ERROR_AXES,
            "alternating");
    refuses((rope2d_preset_params){.name = "su", .axis_pairs = {UINT32_MAX, 33}}, ROPE2D_ERROR_AXES,
            "overflow");
    refuses((rope2d_preset_params){.name = "flux.1", .head_dim = 66}, ROPE2D_ERROR_AXES,
            "parts that do not fit");
    refuses((rope2d_preset_params){.name = "su", .base = 1}, ROPE2D_ERROR_FREQUENCY, "base 1");
    refuses((rope2d_preset_params){.name = "su", .base = NAN}, ROPE2D_ERROR_FREQUENCY, "base NaN");
    refuses((rope2d_preset_params){.name = "su", .max_frequency = 9}, ROPE2D_ERROR_FREQUENCY,
            "max_frequency");
    refuses((rope2d_preset_params){.name = "timm-pixel", .base = 9}, ROPE2D_ERROR_FREQUENCY, "base");
    refuses((rope2d_preset_params){.name = "su", .min_period = 1, .max_period = 2}, ROPE2D_ERROR_FREQUENCY,
            "periods");
    refuses((rope2d_preset_params){.name = "dinov3", .min_period = 2, .max_period = 1},
            ROPE2D_ERROR_FREQUENCY, "swapped");
    refuses((rope2d_preset_params){.name = "su", .learned = some}, ROPE2D_ERROR_FREQUENCY, "not learned");
    refuses((rope2d_preset_params){.name = "mochi"}, ROPE2D_ERROR_FREQUENCY, "learned");
    refuses((rope2d_preset_params){.name = "mochi", .learned = broken}, ROPE2D_ERROR_FREQUENCY,
            "NaN learned");
    const rope2d_scaling ntk = {.law = ROPE2D_LAW_NTK, .factor = 2}, none = {.law = ROPE2D_LAW_NONE};
    const rope2d_scaling yarn = {.law = ROPE2D_LAW_YARN, .factor = 2, .original_length = 14};
    const rope2d_scaling other = {.law = ROPE2D_LAW_YARN, .factor = 3, .original_length = 14};
    refuses_scaling("dinov3", ntk, none, ROPE2D_ERROR_UNSUPPORTED);
    refuses_scaling("llama", none, ntk, ROPE2D_ERROR_AXES);
    refuses_scaling("su", yarn, other, ROPE2D_ERROR_MAGNITUDE);
    refuses_scaling("su", (rope2d_scaling){.law = ROPE2D_LAW_COUNT}, none, ROPE2D_ERROR_ENUM);
    rope2d_preset *preset = NULL;
    verdict(rope2d_preset_create(NULL, &host, &preset) == ROPE2D_ERROR_NULL, "create", "no params", 0);
    rope2d_preset_destroy(NULL);
    verdict(rope2d_preset_spec(NULL).struct_size == 0, "spec", "of nothing", 0);
}

static void suggests(const char *wrong, const char *right) {
    rope2d_preset_info info = {.struct_size = sizeof(info)};
    logged.text[0] = '\0';
    bool refused = rope2d_preset_get_info(wrong, &host, &info) == ROPE2D_ERROR_ENUM;
    char wants[64];
    (void)snprintf(wants, sizeof(wants), "did you mean %s", right);
    verdict(refused && strstr(logged.text, wants) != NULL, wrong, right, 0);
}

// The line that a refusal logs has these words.
static void names(rope2d_preset_params params, const char *words) {
    rope2d_preset *preset = make(params);
    verdict(preset == NULL && strstr(logged.text, words) != NULL, params.name, words, 0);
    rope2d_preset_destroy(preset);
}

static void try_words(void) {
    names((rope2d_preset_params){.name = "su", .rotary_dim = 66}, "params.rotary_dim is 66");
    names((rope2d_preset_params){.name = "su", .rotary_dim = 7}, "params.rotary_dim is 7");
    names((rope2d_preset_params){.name = "nope"}, "there are");
    names((rope2d_preset_params){.name = ""}, "there are");
    names((rope2d_preset_params){.name = "qwen2vl"}, "did you mean qwen2-vl?");
}

static void refuses_prompt(const char *name, rope2d_item item, rope2d_status wants, const char *what) {
    rope2d_preset *preset = make((rope2d_preset_params){.name = name});
    const rope2d_prompt prompt = {.struct_size = sizeof(prompt), .items = &item, .item_count = 1};
    rope2d_tokens tokens = {.struct_size = sizeof(tokens)};
    rope2d_status is = rope2d_preset_positions(preset, &prompt, &host, &tokens);
    verdict(is == wants && logged.text[0] != '\0', name, what, is);
    rope2d_preset_destroy(preset);
}

static void try_prompts(void) {
    const rope2d_item text = {.kind = ROPE2D_ITEM_TEXT, .tokens = 3};
    const rope2d_item image = {.rows = 3, .columns = 4};
    refuses_prompt("dinov3", text, ROPE2D_ERROR_UNSUPPORTED, "text");
    refuses_prompt("llama", image, ROPE2D_ERROR_UNSUPPORTED, "image");
    refuses_prompt("qwen2-vl", image, ROPE2D_ERROR_TOKENS, "odd rows");
    refuses_prompt("qwen2-vl-vision", image, ROPE2D_ERROR_TOKENS, "odd rows");
    refuses_prompt("dinov3", (rope2d_item){.frames = 2, .rows = 3, .columns = 3}, ROPE2D_ERROR_TOKENS,
                   "frames");
    refuses_prompt("su", (rope2d_item){.kind = ROPE2D_ITEM_COUNT}, ROPE2D_ERROR_ENUM, "kind");
    refuses_prompt("su", (rope2d_item){.rows = 2, .columns = 2, .offset = {NAN}}, ROPE2D_ERROR_COORDINATE,
                   "offset");
    rope2d_preset *preset = make((rope2d_preset_params){.name = "su"});
    rope2d_tokens tokens = {.struct_size = sizeof(tokens)};
    rope2d_prompt prompt = {.struct_size = sizeof(prompt), .item_count = 1};
    verdict(rope2d_preset_positions(NULL, &prompt, &host, &tokens) == ROPE2D_ERROR_NULL, "prompt",
            "no preset", 0);
    verdict(rope2d_preset_positions(preset, NULL, &host, &tokens) == ROPE2D_ERROR_NULL, "prompt", "none", 0);
    verdict(rope2d_preset_positions(preset, &prompt, &host, NULL) == ROPE2D_ERROR_NULL, "prompt", "no tokens",
            0);
    verdict(rope2d_preset_positions(preset, &prompt, &host, &tokens) == ROPE2D_ERROR_NULL, "prompt",
            "no items", 0);
    prompt = (rope2d_prompt){.struct_size = 3};
    verdict(rope2d_preset_positions(preset, &prompt, &host, &tokens) == ROPE2D_ERROR_STRUCT_SIZE, "prompt",
            "size", 0);
    prompt = (rope2d_prompt){.struct_size = sizeof(prompt)};
    verdict(rope2d_preset_positions(preset, &prompt, &host, &tokens) == ROPE2D_OK && tokens.tokens == 0,
            "prompt", "empty", 0);
    for (int i = 0; i < 3; i++) {
        const double wrong[3] = {-1, 1.1e9, INFINITY};
        prompt.reference[1] = wrong[i];
        verdict(rope2d_preset_positions(preset, &prompt, &host, &tokens) == ROPE2D_ERROR_COORDINATE &&
                    strstr(logged.text, "prompt.reference[1]") != NULL,
                "prompt", "reference", i);
    }
    rope2d_preset_destroy(preset);
}

// ------------------------------------------------------------------------------------------ memory

struct memory {
    int left, held;
};

static void *give(void *user, size_t size, size_t alignment) {
    struct memory *memory = user;
    if (memory->left-- <= 0)
        return NULL;
    memory->held++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void take(void *user, void *memory, size_t size) {
    (void)size;
    ((struct memory *)user)->held--;
    free(memory);
}

static void try_memory(void) {
    for (int left = 0; left < 4; left++) {
        struct memory memory = {.left = left};
        const rope2d_host lender = {
            .struct_size = sizeof(lender), .user = &memory, .allocate = give, .release = take};
        const rope2d_preset_params params = {.struct_size = sizeof(params), .name = "v-jepa-2"};
        rope2d_preset *preset = NULL;
        rope2d_status status = rope2d_preset_create(&params, &lender, &preset);
        verdict(left >= 3 ? status == ROPE2D_OK : status == ROPE2D_ERROR_HOST_MEMORY, "memory", "runs out",
                left);
        rope2d_preset_destroy(preset);
        verdict(memory.held == 0, "memory", "given back", memory.held);
    }
}

int main(void) {
    try_refusals();
    suggests("qwen2vl", "qwen2-vl");
    suggests("DINOv3", "dinov3");
    suggests("flux1", "flux.1");
    suggests("gemma4-vison", "gemma-4-vision");
    suggests("a name that is far longer than every other name of a preset, and than what is looked at", "");
    try_words();
    try_prompts();
    try_memory();
    return check_finish();
}
