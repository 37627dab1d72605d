// SPDX-License-Identifier: MIT
#include <string.h>

#include "../cli/message.h"
#include "device_match.h"
#include "execute.h"
#include "text_file.h"
#include "verify.h"

// Each entry says which device, which cases and why; the range of drivers may be left away.
static int check_entry(const char *path, const cJSON *entry, int number) {
    static const char *const needed[] = {"device", "case", "reason"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; ++i)
        if (!*summary_text(entry, needed[i])) {
            message("%s: entry %d: '%s' must be a text that is not empty", path, number, needed[i]);
            return STATUS_USAGE;
        }
    if (strncmp(summary_text(entry, "case"), "control", strlen("control")) == 0) {
        message("%s: entry %d: no list can excuse a control", path, number);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

int expect_read(const char *path, cJSON **list) {
    int result = STATUS_OK, number = 0;
    *list = NULL;
    if (path)
        result = text_file_read_json(path, list);
    if (result || !path)
        return result;
    if (!cJSON_IsArray(*list)) {
        message("%s: must be a JSON list of {device, case, reason}", path);
        result = STATUS_USAGE;
    }
    const cJSON *entry;
    cJSON_ArrayForEach(entry, *list) if (!result) result = check_entry(path, entry, ++number);
    if (result) {
        cJSON_Delete(*list);
        *list = NULL;
    }
    return result;
}

static bool applies(const cJSON *entry, const cJSON *device, const cJSON *result) {
    const char *from = summary_text(entry, "driver_from"), *to = summary_text(entry, "driver_to");
    return device_matches(device, summary_text(entry, "device")) &&
           device_version_between(summary_text(device, "driver"), *from ? from : NULL, *to ? to : NULL) &&
           verify_name_matches(summary_text(result, "name"), summary_text(entry, "case"));
}

void expect_apply(const cJSON *list, cJSON *device) {
    cJSON *result;
    const cJSON *entry;
    cJSON_ArrayForEach(result, cJSON_GetObjectItemCaseSensitive(device, "results")) {
        cJSON_DeleteItemFromObjectCaseSensitive(result, "expected");
        cJSON_DeleteItemFromObjectCaseSensitive(result, "unexpected_pass");
        cJSON_ArrayForEach(entry, list) {
            if (!applies(entry, device, result))
                continue;
            if (summary_is_failure(result))
                cJSON_AddStringToObject(result, "expected", summary_text(entry, "reason"));
            else if (strcmp(summary_text(result, "verdict"), VERDICT_PASSED) == 0)
                cJSON_AddTrueToObject(result, "unexpected_pass");
            break;
        }
    }
}
