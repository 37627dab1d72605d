// SPDX-License-Identifier: MIT
#include "golden.h"

#include <cjson/cJSON.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 4096

static bool fail(char *error, const char *what, const char *why) {
    (void)snprintf(error, GOLDEN_ERROR_SIZE, "%.380s: %.120s", what, why);
    return false;
}

static cJSON *load_json(const char *folder, char *error) {
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%s/case.json", folder);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)fail(error, path, "cannot be opened");
        return NULL;
    }
    size_t size = 0;
    size_t room = (size_t)1 << 20;
    char *text = malloc(room);
    if (text != NULL)
        size = fread(text, 1, room, file);
    (void)fclose(file);
    cJSON *json = text == NULL || size == room ? NULL : cJSON_ParseWithLength(text, size);
    free(text);
    if (json == NULL)
        (void)fail(error, path, "is not JSON below one MiB");
    return json;
}

static bool get_count(const cJSON *json, const char *key, size_t *count, char *error) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > 1e6)
        return fail(error, key, "is no count in case.json");
    *count = (size_t)item->valuedouble;
    return true;
}

static bool get_text(const cJSON *json, const char *key, char *text, char *error) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!cJSON_IsString(item) || strlen(item->valuestring) >= GOLDEN_NAME_SIZE)
        return fail(error, key, "is no short text in case.json");
    (void)snprintf(text, GOLDEN_NAME_SIZE, "%s", item->valuestring);
    return true;
}

static bool get_channels(const cJSON *json, const char *key, size_t pairs, int32_t **channels, char *error) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!cJSON_IsArray(list) || (size_t)cJSON_GetArraySize(list) != pairs)
        return fail(error, key, "has not one channel a pair in case.json");
    *channels = calloc(pairs + 1, sizeof(**channels));
    if (*channels == NULL)
        return fail(error, key, "out of memory");
    size_t i = 0;
    for (const cJSON *item = list->child; item != NULL; item = item->next)
        (*channels)[i++] = (int32_t)item->valueint;
    return true;
}

static bool get_ranges(const cJSON *json, const char *key, struct golden_tensor *tensor, char *error) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!cJSON_IsArray(list))
        return fail(error, key, "is no list in case.json");
    tensor->unrotated = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*tensor->unrotated));
    if (tensor->unrotated == NULL)
        return fail(error, key, "out of memory");
    for (const cJSON *range = list->child; range != NULL; range = range->next) {
        if (cJSON_GetArraySize(range) != 2 || range->child->valueint < 0)
            return fail(error, key, "holds something that is no range");
        size_t *bounds = tensor->unrotated[tensor->unrotated_count++];
        bounds[0] = (size_t)range->child->valueint;
        bounds[1] = (size_t)range->child->next->valueint;
    }
    return true;
}

static bool get_layout(const cJSON *json, enum golden_layout *layout, char *error) {
    static const char *const names[] = {
        [GOLDEN_BHND] = "BHND", [GOLDEN_BNHD] = "BNHD", [GOLDEN_NHD] = "NHD", [GOLDEN_BNC] = "BNC"};
    char text[GOLDEN_NAME_SIZE];
    if (!get_text(json, "layout", text, error))
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *layout = (enum golden_layout)i;
            return true;
        }
    }
    return fail(error, "layout", "is none of BHND, BNHD, NHD, BNC");
}

static bool read_case(const cJSON *json, struct golden_case *golden, char *error) {
    char type[GOLDEN_NAME_SIZE];
    const cJSON *verify = cJSON_GetObjectItemCaseSensitive(json, "verify");
    const cJSON *tolerance = cJSON_GetObjectItemCaseSensitive(verify, "tolerance");
    if (!cJSON_IsNumber(tolerance))
        return fail(error, "verify.tolerance", "is no number in case.json");
    golden->tolerance = tolerance->valuedouble;
    golden->separate_k_positions =
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "has_separate_k_positions"));
    if (!get_text(json, "io_dtype", type, error))
        return false;
    golden->recorded_in_bf16 = strcmp(type, "bfloat16") == 0;
    return get_text(json, "name", golden->name, error) &&
           get_text(json, "pair_rule", golden->pair_rule, error) &&
           get_layout(json, &golden->layout, error) && get_count(json, "heads_q", &golden->q.heads, error) &&
           get_count(json, "heads_k", &golden->k.heads, error) &&
           get_count(json, "head_dim", &golden->head_dim, error) &&
           get_count(json, "rotary_dim", &golden->rotary_dim, error) &&
           get_count(json, "n_axes", &golden->axes, error) &&
           get_count(json, "n_pairs", &golden->pairs, error) &&
           get_count(json, "freq_heads", &golden->freq_heads, error) &&
           get_channels(json, "pair_lo", golden->pairs, &golden->pair_lo, error) &&
           get_channels(json, "pair_hi", golden->pairs, &golden->pair_hi, error) &&
           get_ranges(json, "unrotated_tokens", &golden->q, error) &&
           get_ranges(json, "unrotated_tokens_k", &golden->k, error);
}

static bool read_array(const char *folder, const char *name, struct npy_array *array, char *error) {
    char path[PATH_SIZE];
    const char *reason = NULL;
    (void)snprintf(path, sizeof(path), "%s/%s.npy", folder, name);
    if (!npy_read(path, array, &reason))
        return fail(error, path, reason);
    if (array->type != NPY_F4)
        return fail(error, path, "is not of type <f4");
    return true;
}

// Sets counts and strides from the shape, which must be that of the layout.
static bool lay_out(const struct golden_case *golden, struct golden_tensor *tensor, char *error) {
    static const size_t dimensions[] = {
        [GOLDEN_BHND] = 4, [GOLDEN_BNHD] = 4, [GOLDEN_NHD] = 3, [GOLDEN_BNC] = 3};
    const size_t *shape = tensor->input.shape;
    size_t width = golden->head_dim;
    if (tensor->input.dimensions != dimensions[golden->layout])
        return fail(error, golden->name, "q or k has not the dimensions of its layout");
    size_t last = shape[tensor->input.dimensions - 1];
    if (last != (golden->layout == GOLDEN_BNC ? tensor->heads * width : width))
        return fail(error, golden->name, "q or k has not the channels of case.json");
    tensor->batch = golden->layout == GOLDEN_NHD ? 1 : shape[0];
    tensor->tokens = golden->layout == GOLDEN_NHD ? shape[0] : shape[golden->layout == GOLDEN_BHND ? 2 : 1];
    tensor->head_stride = golden->layout == GOLDEN_BHND ? tensor->tokens * width : width;
    tensor->token_stride = golden->layout == GOLDEN_BHND ? width : tensor->heads * width;
    tensor->batch_stride = tensor->tokens * tensor->heads * width;
    if (tensor->batch * tensor->batch_stride != tensor->input.elements ||
        tensor->output.elements != tensor->input.elements)
        return fail(error, golden->name,
                    "q or k has not the heads of case.json, or not the shape of its output");
    for (size_t i = 0; i < tensor->unrotated_count; i++)
        if (tensor->unrotated[i][0] > tensor->unrotated[i][1] || tensor->unrotated[i][1] > tensor->tokens)
            return fail(error, golden->name, "an unrotated range reaches past the tokens");
    return true;
}

static bool place(const struct golden_case *golden, const struct npy_array *positions,
                  struct golden_tensor *tensor, char *error) {
    if (!lay_out(golden, tensor, error))
        return false;
    if (positions->elements != tensor->tokens * golden->axes)
        return fail(error, golden->name, "positions and tokens disagree");
    tensor->coordinates = positions->data;
    return true;
}

static bool read_arrays(const char *folder, struct golden_case *golden, char *error) {
    if (!read_array(folder, "q", &golden->q.input, error) ||
        !read_array(folder, "q_out", &golden->q.output, error) ||
        !read_array(folder, "k", &golden->k.input, error) ||
        !read_array(folder, "k_out", &golden->k.output, error) ||
        !read_array(folder, "positions", &golden->positions, error) ||
        !read_array(folder, "freqs", &golden->freqs_file, error))
        return false;
    if (golden->separate_k_positions && !read_array(folder, "positions_k", &golden->positions_k, error))
        return false;
    golden->freqs = golden->freqs_file.data;
    golden->tables = golden->freqs_file.dimensions == 4 ? golden->freqs_file.shape[0] : 1;
    if (golden->tables < 1 || golden->tables > 2 ||
        golden->freqs_file.elements != golden->tables * golden->axes * golden->freq_heads * golden->pairs)
        return fail(error, golden->name, "freqs.npy has not the shape of case.json");
    return place(golden, &golden->positions, &golden->q, error) &&
           place(golden, golden->separate_k_positions ? &golden->positions_k : &golden->positions, &golden->k,
                 error);
}

bool golden_load(const char *folder, struct golden_case *golden, char *error) {
    memset(golden, 0, sizeof(*golden));
    cJSON *json = load_json(folder, error);
    bool done = json != NULL && read_case(json, golden, error) && read_arrays(folder, golden, error);
    cJSON_Delete(json);
    if (!done)
        golden_free(golden);
    return done;
}

static void free_tensor(struct golden_tensor *tensor) {
    npy_free(&tensor->input);
    npy_free(&tensor->output);
    free(tensor->unrotated);
}

void golden_free(struct golden_case *golden) {
    free_tensor(&golden->q);
    free_tensor(&golden->k);
    npy_free(&golden->positions);
    npy_free(&golden->positions_k);
    npy_free(&golden->freqs_file);
    free(golden->pair_lo);
    free(golden->pair_hi);
    memset(golden, 0, sizeof(*golden));
}

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

static bool holds_case(const char *root, const char *name) {
    char path[PATH_SIZE];
    if (strlen(name) >= GOLDEN_NAME_SIZE)
        return false;
    (void)snprintf(path, sizeof(path), "%s/%s/case.json", root, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    (void)fclose(file);
    return true;
}

char (*golden_list(const char *root, size_t *count))[GOLDEN_NAME_SIZE] {
    char(*names)[GOLDEN_NAME_SIZE] = NULL;
    *count = 0;
    DIR *folder = opendir(root);
    if (folder == NULL)
        return NULL;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (!holds_case(root, entry->d_name))
            continue;
        void *grown = realloc(names, (*count + 1) * sizeof(*names));
        if (grown == NULL)
            break;
        names = grown;
        memcpy(names[(*count)++], entry->d_name, strlen(entry->d_name) + 1);
    }
    (void)closedir(folder);
    if (names != NULL)
        qsort(names, *count, sizeof(*names), compare_names);
    return names;
}
