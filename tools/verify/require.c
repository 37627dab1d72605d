// SPDX-License-Identifier: MIT
#include "verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../cli/message.h"
#include "../cli/options.h"
#include "device_match.h"

// Takes DEVICE:COUNT from the list; false at its end or when it is none.
static bool next(const char **list, char *device, size_t size, uint64_t *count) {
    char entry[128] = "";
    size_t length = strcspn(*list, ",");
    if (length >= sizeof entry)
        return false;
    memcpy(entry, *list, length);
    char *colon = strrchr(entry, ':');
    if (!colon || colon == entry || !parse_count(colon + 1, 1, UINT32_MAX, count))
        return false;
    *colon = '\0';
    snprintf(device, size, "%s", entry);
    *list += length;
    *list += **list == ',';
    return true;
}

int require_check(const char *text) {
    char device[128];
    uint64_t count;
    const char *rest = text;
    while (rest && *rest)
        if (!next(&rest, device, sizeof device, &count)) {
            message("--require %s: must be DEVICE:COUNT, with commas between several, COUNT above 0", rest);
            return STATUS_USAGE;
        }
    return STATUS_OK;
}

static uint64_t executed_on(const cJSON *report, const char *name) {
    const cJSON *device, *result;
    uint64_t most = 0;
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(report, "devices")) {
        uint64_t executed = 0;
        if (!device_matches(device, name))
            continue;
        cJSON_ArrayForEach(result, cJSON_GetObjectItemCaseSensitive(device, "results")) executed +=
            summary_was_executed(result);
        most = executed > most ? executed : most;
    }
    return most;
}

void require_apply(const char *text, cJSON *report) {
    char device[128], problem[256];
    uint64_t count;
    while (text && *text && next(&text, device, sizeof device, &count)) {
        uint64_t executed = executed_on(report, device);
        if (executed >= count)
            continue;
        snprintf(problem, sizeof problem,
                 "%" PRIu64 " cases were executed on '%s', and %" PRIu64 " are required", executed, device,
                 count);
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "text", problem);
        cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(report, "problems"), object);
    }
}
