// SPDX-License-Identifier: MIT
#include "resume.h"

#include <stdlib.h>
#include <string.h>

#include "../cli/message.h"
#include "compile.h"
#include "text_file.h"

// The same machine, build and questions: the answers can be kept.
static bool can_resume(const cJSON *before, const cJSON *report) {
    static const char *const same[] = {"build", "options", "sources"};
    for (size_t i = 0; i < sizeof same / sizeof *same; ++i)
        if (!cJSON_Compare(cJSON_GetObjectItemCaseSensitive(before, same[i]),
                           cJSON_GetObjectItemCaseSensitive(report, same[i]), true))
            return false;
    return true;
}

int resume_read(const struct verify_options *options, const cJSON *report, cJSON **before) {
    if (!options->resume)
        return STATUS_OK;
    if (!options->json) {
        message("--resume needs --json FILE, which is where the results are");
        return STATUS_USAGE;
    }
    if (!text_file_is_there(options->json))
        return STATUS_OK;
    int result = text_file_read_json(options->json, before);
    if (result)
        return result;
    const int count = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(*before, "devices"));
    if (count > RESUME_MOST_DEVICES) {
        message("%s: has %d devices: must be at most %d", options->json, count, RESUME_MOST_DEVICES);
        return STATUS_USAGE;
    }
    if (can_resume(*before, report))
        return STATUS_OK;
    message("%s: is no report of this build with these options; without --resume it is written anew",
            options->json);
    return STATUS_USAGE;
}

const cJSON *resume_find_device(const cJSON *before, const struct device_choice *choice) {
    const cJSON *device;
    cJSON_ArrayForEach(
        device, cJSON_GetObjectItemCaseSensitive(
                    before, "devices")) if (strcmp(summary_text(device, "device"), choice->name) == 0 &&
                                            strcmp(summary_text(device, "name"), choice->info.name) == 0 &&
                                            strcmp(summary_text(device, "driver"), choice->info.driver) ==
                                                0) return device;
    return NULL;
}

static int by_name(const void *a, const void *b) {
    return strcmp(summary_text(*(const cJSON *const *)a, "name"),
                  summary_text(*(const cJSON *const *)b, "name"));
}

bool resume_sort(const cJSON *device, const char *list, struct resume_names *names) {
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(device, list), *result;
    const size_t count = (size_t)cJSON_GetArraySize(results);
    *names = (struct resume_names){.results = calloc(count + 1, sizeof *names->results)};
    if (!names->results)
        return false;
    cJSON_ArrayForEach(result, results) names->results[names->count++] = result;
    if (count)
        qsort(names->results, count, sizeof *names->results, by_name);
    return true;
}

static int to_name(const void *name, const void *result) {
    return strcmp(name, summary_text(*(const cJSON *const *)result, "name"));
}

const cJSON *resume_find(const struct resume_names *names, const char *name) {
    const cJSON *const *found =
        names->count ? bsearch(name, names->results, names->count, sizeof *names->results, to_name) : NULL;
    return found ? *found : NULL;
}

void resume_free(struct resume_names *names) {
    free(names->results);
    *names = (struct resume_names){0};
}

static bool has_device(const cJSON *devices, const char *name) {
    const cJSON *device;
    cJSON_ArrayForEach(device, devices) if (strcmp(summary_text(device, "device"), name) == 0) return true;
    return false;
}

int resume_save(const char *path, cJSON *report, const cJSON *before) {
    cJSON *devices = cJSON_GetObjectItemCaseSensitive(report, "devices");
    const cJSON *device, *compiled = cJSON_GetObjectItemCaseSensitive(before, VERIFY_COMPILED);
    int count = cJSON_GetArraySize(devices);
    bool lacks_compiled = compiled && !cJSON_HasObjectItem(report, VERIFY_COMPILED);
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(before, "devices")) {
        if (!has_device(devices, summary_text(device, "device")))
            cJSON_AddItemToArray(devices, cJSON_Duplicate(device, true));
    }
    if (lacks_compiled)
        cJSON_AddItemToObject(report, VERIFY_COMPILED, cJSON_Duplicate(compiled, true));
    int result = text_file_write_json(path, report);
    if (lacks_compiled)
        cJSON_DeleteItemFromObjectCaseSensitive(report, VERIFY_COMPILED);
    while (cJSON_GetArraySize(devices) > count)
        cJSON_DeleteItemFromArray(devices, count);
    return result;
}
