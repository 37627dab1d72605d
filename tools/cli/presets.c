// SPDX-License-Identifier: MIT
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "json_print.h"
#include "message.h"
#include "rope2d/rope2d_presets.h"
#include "verbs.h"

static rope2d_preset_info info_at(uint32_t index) {
    rope2d_preset_info info = {.struct_size = sizeof info};
    (void)rope2d_preset_get_info(rope2d_preset_name(index), NULL, &info);
    return info;
}

static int print_list(void) {
    uint32_t proven = 0;
    printf("%-20s %4s %4s  %-5s %-13s %s\n", "name", "d", "R", "axes", "pairing", "proven by");
    for (uint32_t i = 0; i < rope2d_preset_count(); ++i) {
        rope2d_preset_info info = info_at(i);
        printf("%-20s %4u %4u  %-5s %-13.*s %s%s\n", info.name, info.head_dim, info.rotary_dim, info.axes,
               (int)strcspn(info.pairing, ":"),
               strncmp(info.pairing, "half-split inside", 17) == 0 ? "segment-half" : info.pairing,
               *info.golden ? info.golden : "unproven: ", *info.golden ? "" : info.source);
        proven += *info.golden != '\0';
    }
    printf("%u presets, %u proven by golden cases, %u by their source's formula alone\n",
           rope2d_preset_count(), proven, rope2d_preset_count() - proven);
    return STATUS_OK;
}

// What both forms say of a preset, besides the numbers.
struct field {
    const char *key, *value;
};

enum { FIELDS = 12 };

static void describe(const rope2d_preset_info *info, struct field *fields) {
    const struct field all[FIELDS] = {
        {"title", info->title},
        {"pairing", info->pairing},
        {"axes", info->axes},
        {"division", info->division},
        {"frequencies", info->frequencies},
        {"positions", info->positions},
        {"text", info->text},
        {"source", info->source},
        {"proven_by", *info->golden ? info->golden : "unproven"},
        {"model_fp32", info->model_fp32},
        {"note", info->note},
        {NULL, NULL},
    };
    memcpy(fields, all, sizeof all);
}

static void channels_of(const rope2d_spec *spec, uint32_t pair, uint32_t *lo, uint32_t *hi) {
    uint32_t first = 0, size = spec->pairs;
    *lo = 2 * pair;
    *hi = 2 * pair + 1;
    if (spec->pairing == ROPE2D_PAIRING_INTERLEAVED)
        return;
    if (spec->pairing == ROPE2D_PAIRING_SEGMENT_HALF) {
        uint32_t axis = 0;
        for (; axis + 1 < spec->axes && pair >= first + spec->segment_pairs[axis]; ++axis)
            first += spec->segment_pairs[axis];
        size = spec->segment_pairs[axis];
    }
    // The segments before hold `first` lo channels and as many hi ones.
    *lo = first + pair;
    *hi = *lo + size;
}

// The axis that turns a pair of the first head; the number of axes when none does.
static uint32_t axis_of(const rope2d_spec *spec, uint32_t pair) {
    uint32_t axis = 0;
    size_t row = (size_t)spec->freq_heads * spec->pairs;
    while (axis < spec->axes && spec->freqs[axis * row + pair] == 0)
        ++axis;
    return axis;
}

static void print_numbers(const rope2d_preset_info *info, const rope2d_spec *spec) {
    size_t row = (size_t)spec->freq_heads * spec->pairs;
    printf("\n%5s %5s %5s  %-4s %-15s%s\n", "pair", "lo", "hi", "axis", "radians a unit",
           spec->freqs_hi         ? " of hi"
           : spec->freq_heads > 1 ? " (head 0)"
                                  : "");
    for (uint32_t pair = 0; pair < spec->pairs; ++pair) {
        uint32_t lo, hi, axis = axis_of(spec, pair);
        channels_of(spec, pair, &lo, &hi);
        if (axis == spec->axes)
            printf("%5u %5u %5u  %-4s 0\n", pair, lo, hi, "-");
        else if (spec->freqs_hi)
            printf("%5u %5u %5u  %-4c %-15.9g %.9g\n", pair, lo, hi, info->axes[axis],
                   (double)spec->freqs[axis * row + pair], (double)spec->freqs_hi[axis * row + pair]);
        else
            printf("%5u %5u %5u  %-4c %.9g\n", pair, lo, hi, info->axes[axis],
                   (double)spec->freqs[axis * row + pair]);
    }
}

static void print_words(const rope2d_preset_info *info, const rope2d_spec *spec) {
    struct field fields[FIELDS];
    describe(info, fields);
    printf("%-12s %s\n", "name", info->name);
    for (const struct field *field = fields; field->key; ++field)
        if (*field->value)
            printf("%-12s %s\n", field->key, field->value);
    printf("%-12s %u, of which %u rotate\n", "head_dim", info->head_dim, info->rotary_dim);
    if (info->heads)
        printf("%-12s %u, with frequencies of their own\n", "heads", info->heads);
    if (info->base != 0)
        printf("%-12s %.10g\n",
               strchr(info->frequencies, 'm') && strstr(info->frequencies, "m the maximum") ? "maximum"
                                                                                            : "base",
               info->base);
    if (spec)
        print_numbers(info, spec);
}

static void add_numbers(cJSON *object, const rope2d_spec *spec) {
    const float *tables[] = {spec->freqs, spec->freqs_hi};
    static const char *const keys[] = {"freqs", "freqs_hi"};
    size_t row = (size_t)spec->freq_heads * spec->pairs;
    cJSON *lo = cJSON_AddArrayToObject(object, "pair_lo"), *hi = cJSON_AddArrayToObject(object, "pair_hi");
    for (uint32_t pair = 0; pair < spec->pairs; ++pair) {
        uint32_t a, b;
        channels_of(spec, pair, &a, &b);
        cJSON_AddItemToArray(lo, cJSON_CreateNumber(a));
        cJSON_AddItemToArray(hi, cJSON_CreateNumber(b));
    }
    for (int t = 0; t < 2 && tables[t]; ++t) { // [axes][heads][pairs]
        cJSON *axes = cJSON_AddArrayToObject(object, keys[t]);
        for (uint32_t axis = 0; axis < spec->axes; ++axis) {
            cJSON *heads = cJSON_CreateArray();
            for (uint32_t head = 0; head < spec->freq_heads; ++head)
                cJSON_AddItemToArray(
                    heads,
                    cJSON_CreateFloatArray(tables[t] + axis * row + head * spec->pairs, (int)spec->pairs));
            cJSON_AddItemToArray(axes, heads);
        }
    }
}

static cJSON *to_json(const rope2d_preset_info *info, const rope2d_spec *spec) {
    struct field fields[FIELDS];
    describe(info, fields);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", info->name);
    for (const struct field *field = fields; field->key; ++field)
        cJSON_AddStringToObject(object, field->key, field->value);
    cJSON_AddNumberToObject(object, "head_dim", info->head_dim);
    cJSON_AddNumberToObject(object, "rotary_dim", info->rotary_dim);
    cJSON_AddNumberToObject(object, "heads", info->heads);
    cJSON_AddNumberToObject(object, "base", info->base);
    cJSON_AddBoolToObject(object, "is_learned", info->is_learned != 0);
    cJSON_AddBoolToObject(object, "is_proven", *info->golden != '\0');
    if (spec)
        add_numbers(object, spec);
    return object;
}

static int print_list_json(void) {
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < rope2d_preset_count(); ++i) {
        rope2d_preset_info info = info_at(i);
        cJSON_AddItemToArray(list, to_json(&info, NULL));
    }
    return json_print(list);
}

static int show(const char *name, bool is_fp32, bool json) {
    rope2d_preset_info info = {.struct_size = sizeof info};
    if (rope2d_preset_get_info(name, &message_host, &info))
        return STATUS_USAGE;
    const rope2d_preset_params params = {
        .struct_size = sizeof params, .name = name, .flags = is_fp32 ? ROPE2D_PRESET_MODEL_FP32 : 0};
    rope2d_preset *preset = NULL;
    rope2d_status status =
        info.is_learned ? ROPE2D_OK : rope2d_preset_create(&params, &message_host, &preset);
    if (status)
        return exit_status_of(status);
    rope2d_spec spec = rope2d_preset_spec(preset);
    int result = STATUS_OK;
    if (json)
        result = json_print(to_json(&info, preset ? &spec : NULL));
    else
        print_words(&info, preset ? &spec : NULL);
    rope2d_preset_destroy(preset);
    return result;
}

static int run(int argc, char **argv) {
    bool json = false, is_fp32 = false;
    const struct option options[] = {
        {.name = "json", .help = "print JSON", .flag = &json},
        {.name = "model-fp32",
         .help = "the frequencies as the model's own fp32 code has them",
         .flag = &is_fp32},
        {0},
    };
    int operands;
    enum options_result parsed = options_parse(&verb_presets, options, argc, argv, &operands);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    if (operands > 1) {
        message("rope2d presets takes one name, not also '%s'", argv[1]);
        return STATUS_USAGE;
    }
    if (operands == 1)
        return show(argv[0], is_fp32, json);
    return json ? print_list_json() : print_list();
}

const struct verb verb_presets = {
    .name = "presets",
    .usage = "[NAME] [--json]",
    .summary = "list models by name, or show one",
    .description =
        "The list says how each is proven: by which cases of tests/golden, which hold what the model's own\n"
        "code returned, or not. NAME shows the spec in words and numbers: d channels of a head, of which R\n"
        "rotate; which axis turns which pair, and by how much.",
    .run = run,
};
