// SPDX-License-Identifier: MIT
#include "preset_case.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *load(const char *root, const char *name) {
    char path[1024];
    (void)snprintf(path, sizeof(path), "%s/%s/case.json", root, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    size_t room = 1 << 24;
    char *text = malloc(room);
    size_t size = text == NULL ? 0 : fread(text, 1, room, file);
    (void)fclose(file);
    cJSON *json = text == NULL ? NULL : cJSON_ParseWithLength(text, size);
    free(text);
    return json;
}

static const cJSON *get(const cJSON *json, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    return cJSON_IsNull(item) ? NULL : item;
}

static double number(const cJSON *json, const char *key) {
    const cJSON *item = get(json, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static double at(const cJSON *list, int index) {
    const cJSON *item = cJSON_GetArrayItem(list, index);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

// -------------------------------------------------------------------------------------------- grid

static rope2d_item image(const cJSON *sizes) {
    int last = cJSON_GetArraySize(sizes) - 1;
    rope2d_item item = {.rows = (uint32_t)at(sizes, last - 1), .columns = (uint32_t)at(sizes, last)};
    if (last == 2)
        item.frames = (uint32_t)at(sizes, 0);
    return item;
}

// ["t", "5"] or ["i", "(1, 6, 8)"]
static rope2d_item part_of_text(const cJSON *part) {
    const char *value = cJSON_GetArrayItem(part, 1)->valuestring;
    rope2d_item item = {.kind = ROPE2D_ITEM_TEXT, .tokens = strtoull(value, NULL, 10)};
    if (strcmp(cJSON_GetArrayItem(part, 0)->valuestring, "i") == 0) {
        item = (rope2d_item){.kind = ROPE2D_ITEM_IMAGE};
        if (sscanf(value, "(%u, %u, %u)", &item.frames, &item.rows, &item.columns) !=
            3) // NOLINT(cert-err34-c)
            item.rows = 0;
    }
    return item;
}

static uint32_t read_grid(const cJSON *grid, rope2d_item *items) {
    uint32_t count = 0;
    const cJSON *first = cJSON_GetArrayItem(grid, 0);
    if (cJSON_IsNumber(first)) {
        items[count++] = image(grid);
        return count;
    }
    const cJSON *part = NULL;
    cJSON_ArrayForEach(part, grid) {
        if (count == PRESET_CASE_ITEMS - 1)
            break;
        bool is_text = cJSON_IsString(cJSON_GetArrayItem(part, 0));
        items[count++] = is_text ? part_of_text(part) : image(part);
    }
    return count;
}

static uint64_t tokens_of(const rope2d_item *item) {
    if (item->kind != ROPE2D_ITEM_IMAGE)
        return item->tokens;
    return (uint64_t)(item->frames == 0 ? 1 : item->frames) * item->rows * item->columns;
}

// The tokens of q beside the grid: text where the model takes some, else tokens that stand still; first but
// for models that put them last.
static void add_rest(const char *preset, uint64_t tokens, rope2d_item *items, uint32_t *count) {
    uint64_t known = 0;
    for (uint32_t i = 0; i < *count; i++) {
        if (items[i].kind == ROPE2D_ITEM_TEXT)
            return; // the grid tells all
        known += tokens_of(&items[i]);
    }
    if (tokens <= known)
        return;
    rope2d_preset_info info = {.struct_size = sizeof(info)};
    (void)rope2d_preset_get_info(preset, NULL, &info);
    rope2d_item rest = {.kind = info.text[0] == '\0' ? ROPE2D_ITEM_STILL : ROPE2D_ITEM_TEXT,
                        .tokens = tokens - known};
    if (strcmp(preset, "llama-4-vision") == 0 || strcmp(preset, "wan-2.1") == 0) {
        items[(*count)++] = rest;
        return;
    }
    memmove(items + 1, items, *count * sizeof(*items));
    items[0] = rest;
    (*count)++;
}

// ------------------------------------------------------------------------------------------ params

static void read_pairs(const cJSON *params, rope2d_preset_params *out) {
    const struct {
        const char *key;
        uint32_t channels; // of the number
    } keys[] = {{"axes_dim", 2}, {"axes_dims", 2},     {"rope_dim_list", 2},
                {"dims", 2},     {"mrope_section", 1}, {"sections", 1}};
    for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
        const cJSON *list = get(params, keys[k].key);
        // ggml's sections of a vision model count coordinates twice
        if (list == NULL || (strcmp(keys[k].key, "sections") == 0 && get(params, "n_dims") != NULL))
            continue;
        for (int a = 0; a < cJSON_GetArraySize(list) && a < ROPE2D_MAX_AXES; a++)
            out->axis_pairs[a] = (uint32_t)at(list, a) / keys[k].channels;
    }
}

static void read_spec(const cJSON *json, const cJSON *params, const rope2d_preset_info *info,
                      rope2d_preset_params *out) {
    bool is_pixel = strstr(info->name, "pixel") != NULL;
    out->head_dim = (uint32_t)number(json, "head_dim");
    if (info->heads != 0 && !info->is_learned)
        out->heads = (uint32_t)number(json, "heads_q");
    if (number(params, "dim") != 0)
        out->rotary_dim = 2 * (uint32_t)number(params, "dim");
    if (!is_pixel && !info->is_learned)
        out->base = number(params, "theta") + number(params, "base");
    if (is_pixel)
        out->max_frequency = number(params, "max_freq");
    read_pairs(params, out);
}

static void read_rule(const cJSON *params, const char *axes, rope2d_prompt *prompt) {
    const cJSON *shape = get(params, "ref_feat_shape");
    const cJSON *scale = get(params, "scale");
    double side = number(params, "pt_seq_len") + number(params, "base_size");
    for (uint32_t a = 0; axes[a] != '\0'; a++) {
        prompt->reference[a] = shape == NULL ? side : at(shape, axes[a] == 'x');
        prompt->offset[a] = number(params, "grid_offset");
        prompt->scale[a] = scale == NULL ? 0 : at(scale, (int)a);
    }
    prompt->has_offset = get(params, "grid_offset") != NULL;
    prompt->merge = (uint32_t)number(params, "merge");
    if (number(params, "window") != 0) // pixels, of which 14 make a patch
        prompt->window = (uint32_t)number(params, "window") / 14 / prompt->merge;
}

bool preset_case_read(const char *root, const char *preset, const struct golden_case *golden,
                      struct preset_case *out) {
    memset(out, 0, sizeof(*out));
    rope2d_preset_info info = {.struct_size = sizeof(info)};
    cJSON *json = load(root, golden->name);
    const cJSON *params = get(json, "params");
    if (json == NULL || params == NULL || rope2d_preset_get_info(preset, NULL, &info) != ROPE2D_OK) {
        cJSON_Delete(json);
        return false;
    }
    out->params = (rope2d_preset_params){.struct_size = sizeof(out->params), .name = info.name};
    read_spec(json, params, &info, &out->params);
    out->prompt = (rope2d_prompt){.struct_size = sizeof(out->prompt), .items = out->items};
    read_rule(params, info.axes, &out->prompt);
    if (get(json, "grid") != NULL) {
        out->prompt.item_count = read_grid(get(json, "grid"), out->items);
        add_rest(info.name, golden->q.tokens, out->items, &out->prompt.item_count);
    }
    out->prompt_k = out->prompt;
    out->prompt_k.items = out->items_k;
    memcpy(out->items_k, out->items, sizeof(out->items));
    if (get(params, "rope_k_repeat") != NULL && golden->separate_k_positions) {
        out->items_k[0].repeat = (uint32_t)number(params, "rope_k_repeat");
        out->items_k[1] = (rope2d_item){.kind = ROPE2D_ITEM_STILL,
                                        .tokens = (uint64_t)number(params, "num_k_exclude_rope")};
        out->prompt_k.item_count = 2;
    }
    cJSON_Delete(json);
    return true;
}
