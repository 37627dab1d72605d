// SPDX-License-Identifier: MIT
// Presets that no golden case proves, against their sources' formulas: frequencies and coordinates to the
// last bit of fp32, and the rotation of a head on the CPU. What callers may change.
#include "check.h"
#include "last_line.h"
#include "counter.h"
#include "preset_formulas.h"
#include "rope2d/rope2d_presets.h"

#include <fenv.h>
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

static double distance(float is, long double wants) { // ulp of fp32
    int exponent = 0;
    (void)frexpl(wants, &exponent);
    return (double)(fabsl((long double)is - wants) / ldexpl(1, exponent - 24));
}

static rope2d_preset *make(rope2d_preset_params params) {
    rope2d_preset *preset = NULL;
    params.struct_size = sizeof(params);
    logged.text[0] = '\0';
    (void)rope2d_preset_create(&params, &host, &preset);
    return preset;
}

// -------------------------------------------------------------------------------- against formulas

static void try_frequencies(const struct formula *formula, const rope2d_spec *spec) {
    double worst = 0;
    bool right_axes = spec->head_dim == formula->head_dim && spec->pairs == formula->pairs &&
                      spec->freq_heads == formula->heads && spec->axes == formula->axes;
    for (uint32_t h = 0; h < formula->heads && right_axes; h++)
        for (uint32_t i = 0; i < formula->pairs; i++) {
            struct formula_pair pair = formula->pair(h, i);
            for (uint32_t a = 0; a < formula->axes; a++) {
                float is = spec->freqs[((size_t)a * formula->heads + h) * formula->pairs + i];
                if ((int)a != pair.axis)
                    right_axes = right_axes && is == 0;
                else
                    worst = fmax(worst, distance(is, pair.frequency));
            }
        }
    verdict(right_axes, formula->name, "shape and axes of pairs", spec->pairs);
    verdict(worst <= 0.5001, formula->name, "frequencies, ulp", worst);
}

static uint32_t make_items(const struct formula_sizes *sizes, rope2d_item *items) {
    uint32_t count = 0;
    if (sizes->still != 0)
        items[count++] = (rope2d_item){.kind = ROPE2D_ITEM_STILL, .tokens = sizes->still};
    if (sizes->text != 0)
        items[count++] = (rope2d_item){.kind = ROPE2D_ITEM_TEXT, .tokens = sizes->text};
    if (sizes->rows != 0)
        items[count++] =
            (rope2d_item){.frames = sizes->frames, .rows = sizes->rows, .columns = sizes->columns};
    return count;
}

static void try_places(const struct formula *formula, const rope2d_tokens *tokens) {
    double worst = 0;
    bool right_ranges = tokens->unrotated_count == (formula->sizes.still != 0);
    for (uint32_t t = 0; t < tokens->tokens; t++) {
        long double at[4] = {0};
        bool turns = formula->place(&formula->sizes, t, at) != 0;
        bool is_still =
            tokens->unrotated_count != 0 && t >= tokens->unrotated[0].begin && t < tokens->unrotated[0].end;
        right_ranges = right_ranges && turns != is_still;
        for (uint32_t a = 0; a < formula->axes; a++)
            worst = fmax(worst, at[a] == 0 ? fabs((double)tokens->coordinates[t * formula->axes + a])
                                           : distance(tokens->coordinates[t * formula->axes + a], at[a]));
    }
    verdict(right_ranges, formula->name, "ranges", tokens->unrotated_count);
    verdict(worst <= 0.5001, formula->name, "coordinates, ulp", worst);
}

static long double angle_of(const rope2d_spec *spec, const rope2d_tokens *tokens, uint32_t token,
                            uint32_t head, struct formula_pair pair, uint32_t i) {
    if (pair.axis < 0)
        return 0;
    size_t at = ((size_t)pair.axis * spec->freq_heads + head % spec->freq_heads) * spec->pairs + i;
    return (long double)tokens->coordinates[token * spec->axes + (uint32_t)pair.axis] * spec->freqs[at];
}

// [tokens][heads][head_dim] rotated by the library, against cosines and sines of the same numbers.
static void try_rotation(const struct formula *formula, rope2d_device *device, const rope2d_spec *spec,
                         const rope2d_tokens *tokens) {
    uint32_t heads = formula->heads;
    size_t count = (size_t)tokens->tokens * heads * formula->head_dim;
    float *in = calloc(count, sizeof(float)), *out = calloc(count, sizeof(float));
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    counter_fill(in, COUNTER_F32, COUNTER_BELL, 7, 0, 0, count);
    const rope2d_plan_params how = {.struct_size = sizeof(how), .spec = spec};
    const rope2d_positions_params where = {.struct_size = sizeof(where),
                                           .spec = spec,
                                           .tokens = tokens->tokens,
                                           .coordinates = tokens->coordinates,
                                           .unrotated = tokens->unrotated,
                                           .unrotated_count = tokens->unrotated_count};
    rope2d_tensor tensor = {.heads = heads,
                            .in = rope2d_view_contiguous(in, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1,
                                                         tokens->tokens, heads, formula->head_dim)};
    tensor.out = tensor.in;
    tensor.out.base = out;
    const rope2d_apply_params what = {.struct_size = sizeof(what),
                                      .batch = 1,
                                      .tokens = tokens->tokens,
                                      .tensor_count = 1,
                                      .tensors = &tensor};
    bool done = rope2d_plan_create(device, &how, &plan) == ROPE2D_OK &&
                rope2d_positions_create(device, &where, &positions) == ROPE2D_OK &&
                rope2d_apply(plan, positions, &what) == ROPE2D_OK;
    double worst = done ? 0 : INFINITY;
    for (uint32_t t = 0; t < tokens->tokens && done; t++)
        for (uint32_t h = 0; h < heads; h++) {
            const float *x = in + ((size_t)t * heads + h) * formula->head_dim;
            const float *y = out + ((size_t)t * heads + h) * formula->head_dim;
            double wants[MAX_HEAD_DIM];
            for (uint32_t c = 0; c < formula->head_dim; c++)
                wants[c] = x[c];
            for (uint32_t i = 0; i < formula->pairs; i++) {
                struct formula_pair pair = formula->pair(h, i);
                long double angle = angle_of(spec, tokens, t, h, pair, i);
                wants[pair.lo] = (double)(cosl(angle) * x[pair.lo] - sinl(angle) * x[pair.hi]);
                wants[pair.hi] = (double)(sinl(angle) * x[pair.lo] + cosl(angle) * x[pair.hi]);
            }
            for (uint32_t c = 0; c < formula->head_dim; c++)
                worst = fmax(worst, fabs(wants[c] - y[c]));
        }
    verdict(worst < 2e-6, formula->name, "rotation", worst);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    free(in);
    free(out);
}

static void try_formula(const struct formula *formula, rope2d_device *device) {
    rope2d_preset *preset = make((rope2d_preset_params){.name = formula->name});
    rope2d_spec spec = rope2d_preset_spec(preset);
    verdict(preset != NULL, formula->name, "made", 0);
    if (preset == NULL)
        return;
    rope2d_item items[3];
    const rope2d_prompt prompt = {
        .struct_size = sizeof(prompt), .items = items, .item_count = make_items(&formula->sizes, items)};
    float coordinates[1024];
    rope2d_range ranges[4];
    rope2d_tokens tokens = {.struct_size = sizeof(tokens),
                            .tokens = 1024 / formula->axes,
                            .coordinates = coordinates,
                            .unrotated = ranges,
                            .unrotated_count = 4};
    bool placed = rope2d_preset_positions(preset, &prompt, &host, &tokens) == ROPE2D_OK;
    verdict(placed, formula->name, "placed", 0);
    try_frequencies(formula, &spec);
    if (placed) {
        try_places(formula, &tokens);
        try_rotation(formula, device, &spec, &tokens);
    }
    rope2d_preset_destroy(preset);
}

// Every preset is proven by a golden case, or has a formula here, or is learned.
static void try_all_named(rope2d_device *device) {
    for (size_t i = 0; i < preset_formula_count; i++)
        try_formula(&preset_formulas[i], device);
    for (uint32_t i = 0; i < rope2d_preset_count(); i++) {
        rope2d_preset_info info = {.struct_size = sizeof(info)};
        verdict(rope2d_preset_get_info(rope2d_preset_name(i), &host, &info) == ROPE2D_OK, "info", "", i);
        verdict(strchr(info.source, ' ') != NULL && info.source[0] > ' ', info.name, "its source is a text",
                0);
        if (info.golden[0] != '\0')
            continue;
        bool has_formula = info.is_learned != 0;
        for (size_t f = 0; f < preset_formula_count; f++)
            has_formula = has_formula || strcmp(preset_formulas[f].name, info.name) == 0;
        printf("unproven %-20s %s\n", info.name, info.source);
        verdict(has_formula && info.source[0] != '\0', info.name, "has a formula and a source", 0);
    }
    verdict(rope2d_preset_name(rope2d_preset_count()) == NULL, "name", "past the last", 0);
}

// The first and the last of each list of words, and those that stand in no list.
static void try_words(void) {
    static const struct {
        const char *name, *begins[6]; // pairing, division, frequencies, positions, text, model_fp32
    } wants[] = {
        {"su", {"interleaved:", "runs of pairs,", "B^(-2j/d),", "index", "", ""}},
        {"croco", {"half-split inside", "runs", "B^(-2j/d),", "index", "", "frequencies by powers"}},
        {"dinov3", {"half-split: (i", "runs", "2 pi / B", "2 (index + 1/2)", "", "periods rounded"}},
        {"timm-pe-core",
         {"interleaved", "runs", "B^(-2j/d)", "(index + 1) / size * ref", "", "frequencies by"}},
        {"ltx-2", {"half", "pair i turns", "pi/2 B", "2 (middle", "", "angles in fp32"}},
        {"v-jepa-2", {"inter", "runs", "channel c", "index", "", "frequencies by"}},
        {"mochi", {"inter", "every pair", "learned", "(index + 1/2 - s", "does not turn", "angles in fp32"}},
        {"qwen-image",
         {"inter", "runs", "B^(-2j/d)", "index - (", "every coordinate counts from half", "freq"}},
        {"ggml-imrope",
         {"half", "i mod 3 = 0", "B^(-2i/R)", "index", "every coordinate counts on", "frequencies mul"}},
        {"llama", {"inter", "runs", "B^(-2j/d)", "index of the token", "every coordinate counts on", "freq"}},
    };
    for (size_t i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
        rope2d_preset_info info = {.struct_size = sizeof(info)};
        bool good = rope2d_preset_get_info(wants[i].name, &host, &info) == ROPE2D_OK;
        const char *const words[6] = {info.pairing,   info.division, info.frequencies,
                                      info.positions, info.text,     info.model_fp32};
        for (uint32_t w = 0; good && w < 6; w++) {
            const size_t length = strlen(wants[i].begins[w]);
            good = length == 0 ? words[w][0] == 0 : strncmp(words[w], wants[i].begins[w], length) == 0;
            verdict(good, wants[i].name, words[w], w);
        }
    }
}

// Mochi: what the caller learned, and positions centred with the area of 192 x 192.
static void try_learned(void) {
    static float learned[3 * 24 * 64];
    counter_fill(learned, COUNTER_F32, COUNTER_BELL, 3, 0, 0, sizeof(learned) / sizeof(*learned));
    rope2d_preset *preset = make((rope2d_preset_params){.name = "mochi", .learned = learned});
    rope2d_spec spec = rope2d_preset_spec(preset);
    verdict(preset != NULL && memcmp(spec.freqs, learned, sizeof(learned)) == 0, "mochi", "copies", 0);
    const rope2d_item items[] = {{.frames = 2, .rows = 4, .columns = 9},
                                 {.kind = ROPE2D_ITEM_TEXT, .tokens = 2}};
    const rope2d_prompt prompt = {.struct_size = sizeof(prompt), .items = items, .item_count = 2};
    float coordinates[74][3];
    rope2d_tokens tokens = {.struct_size = sizeof(tokens), .tokens = 74, .coordinates = coordinates[0]};
    bool good = rope2d_preset_positions(preset, &prompt, &host, &tokens) == ROPE2D_OK && tokens.tokens == 74;
    // scale = sqrt(192 * 192 / 36) = 32; centres of rows at -48, -16, 16, 48, of columns from -128
    good = good && coordinates[0][0] == 0 && coordinates[0][1] == -48 && coordinates[0][2] == -128 &&
           coordinates[71][0] == 1 && coordinates[71][1] == 48 && coordinates[71][2] == 128;
    verdict(good && tokens.unrotated_count == 1, "mochi", "positions", coordinates[0][1]);
    rope2d_preset_destroy(preset);
}

// ----------------------------------------------------------------------------- what callers change

static void try_changes(void) {
    rope2d_preset *preset =
        make((rope2d_preset_params){.name = "qwen3.5", .head_dim = 128, .axis_pairs = {6, 5, 5}});
    rope2d_spec spec = rope2d_preset_spec(preset);
    verdict(spec.head_dim == 128 && spec.rotary_dim == 32, "qwen3.5", "keeps the part that rotates",
            spec.rotary_dim);
    rope2d_preset_destroy(preset);

    preset = make((rope2d_preset_params){.name = "flux.1", .head_dim = 64, .base = 100});
    spec = rope2d_preset_spec(preset);
    verdict(preset != NULL && spec.freqs[4] == 0 && spec.freqs[32 + 4] == 1 && spec.freqs[32 + 3] == 0,
            "flux.1", "keeps the parts of axes", spec.freqs[4]);
    verdict(distance(spec.freqs[1], powl(100, -2.0L / 8)) <= 0.5001, "flux.1", "another base", spec.freqs[1]);
    rope2d_preset_destroy(preset);

    preset = make((rope2d_preset_params){.name = "su", .axis_pairs = {10, 22}});
    spec = rope2d_preset_spec(preset);
    verdict(preset != NULL && distance(spec.freqs[32 + 11], powl(10000, -2.0L / 44)) <= 0.5001, "su",
            "axes of different length", spec.freqs[32 + 11]);
    rope2d_preset_destroy(preset);

    preset = make((rope2d_preset_params){.name = "dinov3", .min_period = 0.5, .max_period = 90});
    spec = rope2d_preset_spec(preset);
    long double period = powl(180, 3.0L / 15) / 180 * 90;
    verdict(preset != NULL && distance(spec.freqs[3], 2 * 3.14159265358979323846L / period) <= 0.5001,
            "dinov3", "periods between two", spec.freqs[3]);
    rope2d_preset_destroy(preset);

    rope2d_preset_params params = {.name = "qwen2-vl-vision"};
    params.scaling[1] = (rope2d_scaling){.law = ROPE2D_LAW_LINEAR, .factor = 4};
    preset = make(params);
    spec = rope2d_preset_spec(preset);
    verdict(preset != NULL && spec.freqs[1] == spec.freqs[40 + 21] * 4, "qwen2-vl-vision", "one axis scaled",
            spec.freqs[40 + 21]);
    verdict(spec.magnitude == 0, "qwen2-vl-vision", "no magnitude", spec.magnitude);
    rope2d_preset_destroy(preset);

    params = (rope2d_preset_params){.name = "gpt-neox"};
    params.scaling[0] = (rope2d_scaling){.law = ROPE2D_LAW_YARN, .factor = 16, .original_length = 4096};
    preset = make(params);
    spec = rope2d_preset_spec(preset);
    float wants[64], attention = 0;
    (void)rope2d_frequencies(10000, 128, &params.scaling[0], &host, wants, &attention);
    verdict(preset != NULL && memcmp(wants, spec.freqs, sizeof(wants)) == 0 && spec.magnitude == attention,
            "gpt-neox", "YaRN", spec.magnitude);
    rope2d_preset_destroy(preset);
}

// ggml multiplies theta up from pair to pair: how far the angle of position p is off, by frequencies of the
// formula and of MODEL_FP32.
static void try_steps(void) {
    double off[2] = {0};
    for (uint32_t is_fp32 = 0; is_fp32 < 2; is_fp32++) {
        rope2d_preset *preset = make((rope2d_preset_params){.name = "ggml-mrope", .flags = is_fp32});
        rope2d_spec spec = rope2d_preset_spec(preset);
        for (int p = 1; p < 1024; p++) {
            float theta = (float)p, scale = (float)powl(1000000, -2.0L / 128);
            for (uint32_t i = 0; i < 64; i++, theta *= scale) {
                uint32_t axis = i < 16 ? 0 : i < 40 ? 1 : 2;
                off[is_fp32] = fmax(off[is_fp32], fabs((double)p * spec.freqs[axis * 64 + i] - theta));
            }
        }
        rope2d_preset_destroy(preset);
    }
    printf("ggml-mrope: angles to position 1023 off by %.2e, with MODEL_FP32 by %.2e\n", off[0], off[1]);
    verdict(off[0] < 5e-4 && off[1] < off[0], "ggml-mrope", "steps", off[1]);
}

// --------------------------------------------------------------------------------------------------------------
// the caller's floating-point control word

// Sums of every bit of a preset's frequencies and of the places of a prompt.
static uint64_t bits_of(const char *name, uint32_t flags) {
    rope2d_preset_params params = {.name = name, .flags = flags};
    if (strcmp(name, "gpt-neox") == 0)
        params.scaling[0] = (rope2d_scaling){.law = ROPE2D_LAW_YARN, .factor = 3, .original_length = 4096};
    rope2d_preset *preset = make(params);
    rope2d_spec spec = rope2d_preset_spec(preset);
    uint64_t sum = 0;
    uint32_t word;
    for (size_t i = 0; preset != NULL && i < (size_t)spec.axes * spec.freq_heads * spec.pairs; i++) {
        memcpy(&word, &spec.freqs[i], sizeof(word));
        sum = sum * 31 + word;
    }
    memcpy(&word, &spec.magnitude, sizeof(word));
    sum = sum * 31 + word;
    const rope2d_item image = {.frames = 1, .rows = 6, .columns = 14};
    const rope2d_prompt prompt = {.struct_size = sizeof(prompt), .items = &image, .item_count = 1};
    static float coordinates[6 * 14 * 4];
    memset(coordinates, 0, sizeof(coordinates));
    rope2d_tokens tokens = {.struct_size = sizeof(tokens), .tokens = 84, .coordinates = coordinates};
    (void)rope2d_preset_positions(preset, &prompt, &host, &tokens);
    for (size_t i = 0; i < sizeof(coordinates) / sizeof(*coordinates); i++) {
        memcpy(&word, &coordinates[i], sizeof(word));
        sum = sum * 31 + word;
    }
    rope2d_preset_destroy(preset);
    return sum;
}

static void try_rounding(void) {
    static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    for (uint32_t i = 0; i < rope2d_preset_count(); i++)
        for (uint32_t flags = 0; flags < 2; flags++) {
            uint64_t wants = bits_of(rope2d_preset_name(i), flags);
            bool same = true;
            for (int m = 0; m < 3; m++) {
                (void)fesetround(modes[m]);
                same = same && bits_of(rope2d_preset_name(i), flags) == wants && fegetround() == modes[m];
                (void)fesetround(FE_TONEAREST);
            }
            verdict(same, rope2d_preset_name(i), "another rounding mode", flags);
        }
}

int main(void) {
    rope2d_device *device = NULL;
    const rope2d_device_params cpu = {.struct_size = sizeof(cpu)};
    if (rope2d_device_create(&cpu, &device) != ROPE2D_OK) {
        CHECK(false, "no CPU device");
        return check_finish();
    }
    try_all_named(device);
    try_words();
    try_learned();
    try_changes();
    try_steps();
    try_rounding();
    rope2d_device_destroy(device);
    return check_finish();
}
