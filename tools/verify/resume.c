// SPDX-License-Identifier: MIT
#include "resume.h"

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
    if (result || can_resume(*before, report))
        return result;
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
