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
    *names = (struct resume_names){.results = calloc(count + 1, sizeof *names->results),
                                   .are_taken = calloc(count + 1, sizeof *names->are_taken)};
    if (!names->results || !names->are_taken)
        return false;
    cJSON_ArrayForEach(result, results) names->results[names->count++] = result;
    if (count)
        qsort(names->results, count, sizeof *names->results, by_name);
    return true;
}

static int to_name(const void *name, const void *result) {
    return strcmp(name, summary_text(*(const cJSON *const *)result, "name"));
}

const cJSON *resume_take(struct resume_names *names, const char *name) {
    const cJSON **found =
        names->count ? bsearch(name, names->results, names->count, sizeof *names->results, to_name) : NULL;
    if (!found)
        return NULL;
    names->are_taken[found - names->results] = true;
    return *found;
}

void resume_free(struct resume_names *names) {
    free(names->results);
    free(names->are_taken);
    *names = (struct resume_names){0};
}

bool resume_has_device(const cJSON *report, const char *name) {
    const cJSON *device;
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(
                                   report, "devices")) if (strcmp(summary_text(device, "device"), name) ==
                                                           0) return true;
    return false;
}

// A device as it was, judged by this run's list of known failures.
static cJSON *keep_device(const struct verify_options *options, const cJSON *expected, const cJSON *before) {
    static const char *const lists[] = {"controls", "results"};
    cJSON *device = cJSON_Duplicate(before, true);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        if (!cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(device, lists[i]))) {
            cJSON_DeleteItemFromObjectCaseSensitive(device, lists[i]);
            cJSON_AddArrayToObject(device, lists[i]);
        }
    expect_apply(expected, device);
    summary_of_device(device, options->seed == VERIFY_RECORDED_SEED);
    return device;
}

void resume_keep(const struct verify_options *options, const cJSON *expected, const cJSON *before,
                 cJSON *report) {
    cJSON *devices = cJSON_GetObjectItemCaseSensitive(report, "devices");
    const cJSON *device, *compiled = cJSON_GetObjectItemCaseSensitive(before, VERIFY_COMPILED);
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(before, "devices")) {
        const char *name = summary_text(device, "device");
        if (resume_has_device(report, name))
            continue;
        cJSON_AddItemToArray(devices, keep_device(options, expected, device));
        report_add_skip(report, name, "not run this time: its results are those that --resume found");
    }
    if (!compiled || cJSON_HasObjectItem(report, VERIFY_COMPILED))
        return;
    cJSON_AddItemToObject(report, VERIFY_COMPILED, cJSON_Duplicate(compiled, true));
    report_add_skip(report, VERIFY_COMPILED, "not done this time: the results are those that --resume found");
}

int resume_save(const char *path, cJSON *report, const cJSON *before) {
    cJSON *devices = cJSON_GetObjectItemCaseSensitive(report, "devices");
    const cJSON *device, *compiled = cJSON_GetObjectItemCaseSensitive(before, VERIFY_COMPILED);
    int count = cJSON_GetArraySize(devices);
    bool lacks_compiled = compiled && !cJSON_HasObjectItem(report, VERIFY_COMPILED);
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(before, "devices")) {
        if (!resume_has_device(report, summary_text(device, "device")))
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
