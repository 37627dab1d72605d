// SPDX-License-Identifier: MIT
#include "result_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const exactness_words[] = {"untested", "exact", "exact on normal values", "inexact"};

cJSON *result_error(double error) {
    if (!isfinite(error))
        return cJSON_CreateNull();
    char text[32];
    snprintf(text, sizeof text, "%.3g", error);
    return cJSON_CreateNumber(strtod(text, NULL));
}

static void add_first(cJSON *object, const struct verify_class_metrics *metrics) {
    char text[16];
    cJSON *first = cJSON_AddObjectToObject(object, "first");
    cJSON_AddStringToObject(first, "place", metrics->place);
    snprintf(text, sizeof text, "0x%x", metrics->got);
    cJSON_AddStringToObject(first, "got", text);
    snprintf(text, sizeof text, "0x%x", metrics->expected);
    cJSON_AddStringToObject(first, "expected", text);
    cJSON_AddItemToObject(first, "oracle",
                          isfinite(metrics->oracle) ? cJSON_CreateNumber(metrics->oracle)
                                                    : cJSON_CreateNull());
}

void result_add_run(cJSON *result, const rope2d_exactness *exactness, const char *hash,
                    const struct verify_metrics *metrics) {
    if (exactness)
        cJSON_AddStringToObject(result, "plan", exactness_words[*exactness]);
    cJSON_AddStringToObject(result, "sha256", hash);
    cJSON_AddItemToObject(result, "worst", result_error(metrics->worst));
    cJSON *classes = cJSON_AddObjectToObject(result, "classes");
    for (int i = 0; i < VERIFY_CLASSES; ++i) {
        const struct verify_class_metrics *one = &metrics->classes[i];
        if (!one->elements)
            continue;
        cJSON *object = cJSON_AddObjectToObject(classes, verify_class_names[i]);
        cJSON_AddNumberToObject(object, "elements", (double)one->elements);
        cJSON_AddNumberToObject(object, "mismatches", (double)one->mismatches);
        cJSON_AddNumberToObject(object, "bits", (double)one->bits);
        cJSON_AddNumberToObject(object, "flushed", (double)one->flushed);
        cJSON_AddItemToObject(object, "worst", result_error(one->worst));
        if (one->has_first)
            add_first(object, one);
    }
}

void result_add_heat(cJSON *result, const struct verify_heat *heat) {
    cJSON *object = cJSON_AddObjectToObject(result, "heat");
    cJSON_AddNumberToObject(object, "tokens", (double)heat->tokens);
    cJSON_AddNumberToObject(object, "pairs", heat->pairs);
    cJSON *rows = cJSON_AddArrayToObject(object, "rows");
    for (uint32_t i = 0; i < heat->rows; ++i) {
        cJSON *row = cJSON_CreateArray();
        for (uint32_t j = 0; j < heat->columns; ++j)
            cJSON_AddItemToArray(row, result_error(heat->cells[i][j]));
        cJSON_AddItemToArray(rows, row);
    }
}
