// SPDX-License-Identifier: MIT
#include "case_json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input_file.h"
#include "json_read.h"
#include "message.h"
#include "options.h"

enum { LONGEST_FILE = 16 << 20 };

static int wrong(const char *path, const char *key, const char *must) {
    message("%s: %s must be %s", path, key, must);
    return STATUS_USAGE;
}

// A whole number from 0 to the maximum; false otherwise.
static bool whole_number(const cJSON *item, double maximum, double *value) {
    *value = item && cJSON_IsNumber(item) ? item->valuedouble : -1;
    return *value >= 0 && *value <= maximum && floor(*value) == *value;
}

static int read_count(const char *path, const cJSON *root, const char *key, uint32_t maximum,
                      uint32_t *value) {
    double number;
    if (!whole_number(cJSON_GetObjectItemCaseSensitive(root, key), maximum, &number)) {
        message("%s: %s must be a whole number from 0 to %u", path, key, maximum);
        return STATUS_USAGE;
    }
    *value = (uint32_t)number;
    return STATUS_OK;
}

static int read_layout(const char *path, const cJSON *root, enum array_layout *layout) {
    static const char *const names[] = {"BNHD", "BHND", "NHD", "BNC", NULL};
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "layout"));
    int found = text ? word_index(text, names) : -1;
    if (found < 0)
        return wrong(path, "layout", "BNHD, BHND, NHD or BNC");
    *layout = (enum array_layout)found;
    return STATUS_OK;
}

static int read_channels(const char *path, const cJSON *root, const char *key, uint32_t **channels,
                         uint32_t *count) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, key), *item;
    int length = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : -1;
    if (length < 0 || length > ROPE2D_MAX_HEAD_DIM / 2)
        return wrong(path, key, "a list of at most 2048 channels");
    *channels = calloc((size_t)length + 1, sizeof **channels);
    *count = 0;
    if (!*channels) {
        message("%s: no memory for %s", path, key);
        return STATUS_DEVICE;
    }
    cJSON_ArrayForEach(item, list) {
        double number;
        if (!whole_number(item, ROPE2D_MAX_HEAD_DIM - 1, &number))
            return wrong(path, key, "a list of channels from 0 to 4095");
        (*channels)[(*count)++] = (uint32_t)number;
    }
    return STATUS_OK;
}

static int read_pairs(const char *path, const cJSON *root, struct golden_case *golden, uint32_t *pairs) {
    uint32_t high = 0;
    int result = read_channels(path, root, "pair_lo", &golden->pair_lo, pairs);
    if (!result)
        result = read_channels(path, root, "pair_hi", &golden->pair_hi, &high);
    if (!result && high != *pairs)
        return wrong(path, "pair_hi", "as long as pair_lo");
    return result;
}

// A list of [begin, end); a key that is not there is an empty list.
static int read_ranges(const char *path, const cJSON *root, const char *key, rope2d_range **ranges,
                       uint32_t *count) {
    static const double largest = 9007199254740992.0;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, key), *item;
    if (!list)
        return STATUS_OK;
    if (!cJSON_IsArray(list))
        return wrong(path, key, "a list of [begin, end)");
    *ranges = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof **ranges);
    if (!*ranges) {
        message("%s: no memory for %s", path, key);
        return STATUS_DEVICE;
    }
    cJSON_ArrayForEach(item, list) {
        double begin, end;
        if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 2 ||
            !whole_number(cJSON_GetArrayItem(item, 0), largest, &begin) ||
            !whole_number(cJSON_GetArrayItem(item, 1), largest, &end) || begin > end)
            return wrong(path, key, "a list of [begin, end), begin at most end");
        (*ranges)[(*count)++] = (rope2d_range){(uint64_t)begin, (uint64_t)end};
    }
    return STATUS_OK;
}

static int read_tolerance(const char *path, const cJSON *root, double *tolerance) {
    const cJSON *verify = cJSON_GetObjectItemCaseSensitive(root, "verify");
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(verify, "tolerance");
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0) || !isfinite(item->valuedouble))
        return wrong(path, "verify.tolerance", "a number, 0 or above");
    *tolerance = item->valuedouble;
    return STATUS_OK;
}

// What only makes messages and the demonstration better may be missing.
static void read_optional(const cJSON *root, struct case_description *description,
                          struct golden_case *golden) {
    const char *model = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "model"));
    const cJSON *parameters = cJSON_GetObjectItemCaseSensitive(root, "params");
    double merge;
    if (model)
        snprintf(golden->model, sizeof golden->model, "%s", model);
    golden->merge = 1;
    if (whole_number(cJSON_GetObjectItemCaseSensitive(parameters, "merge"), 64, &merge) && merge >= 1)
        golden->merge = (uint32_t)merge;
    description->has_own_positions =
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "has_separate_k_positions")) != 0;
}

static int read_root(const char *path, const cJSON *root, struct case_description *description,
                     struct golden_case *golden) {
    if (!cJSON_IsObject(root))
        return wrong(path, "the file", "one JSON object");
    read_optional(root, description, golden);
    int result = read_layout(path, root, &description->layout);
    if (!result)
        result = read_count(path, root, "heads_q", 1u << 20, &description->heads[0]);
    if (!result)
        result = read_count(path, root, "heads_k", 1u << 20, &description->heads[1]);
    if (!result)
        result = read_count(path, root, "head_dim", ROPE2D_MAX_HEAD_DIM, &golden->job.spec.head_dim);
    if (!result)
        result = read_count(path, root, "n_axes", ROPE2D_MAX_AXES, &golden->job.spec.axes);
    if (!result)
        result = read_pairs(path, root, golden, &description->pairs);
    if (!result)
        result =
            read_ranges(path, root, "unrotated_tokens", &golden->unrotated[0], &golden->unrotated_counts[0]);
    if (!result)
        result = read_ranges(path, root, "unrotated_tokens_k", &golden->unrotated[1],
                             &golden->unrotated_counts[1]);
    return result ? result : read_tolerance(path, root, &golden->tolerance);
}

int case_json_read(const char *path, struct case_description *description, struct golden_case *golden) {
    char *text = NULL;
    const char *wrong = NULL;
    size_t length = 0;
    int result = input_file_read(path, LONGEST_FILE, &text, &length);
    cJSON *root = result ? NULL : json_read(text, length, &wrong);
    if (!result && !root) {
        message("%s: is not JSON at '%.24s'", path, wrong);
        result = STATUS_USAGE;
    }
    if (!result)
        result = read_root(path, root, description, golden);
    cJSON_Delete(root);
    free(text);
    return result;
}
