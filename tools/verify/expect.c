// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "../cli/message.h"
#include "config.h"
#include "device_match.h"
#include "execute.h"
#include "text_file.h"
#include "verify.h"

// A key that is spelled wrong would make an entry mean more devices than it says.
static int check_keys(const char *path, const cJSON *entry, int number) {
    static const char *const known[] = {"device", "case", "reason", "driver_from", "driver_to"};
    const cJSON *item;
    cJSON_ArrayForEach(item, entry) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
            is_known |= strcmp(item->string, known[i]) == 0;
        if (!is_known) {
            message("%s: entry %d: '%.60s' is none of device, case, reason, driver_from and driver_to", path,
                    number, item->string);
            return STATUS_USAGE;
        }
        if (!cJSON_IsString(item) || !*item->valuestring) {
            message("%s: entry %d: '%s' must be a text that is not empty", path, number, item->string);
            return STATUS_USAGE;
        }
    }
    return STATUS_OK;
}

// Each entry says which device, which cases and why; the range of drivers may be left away.
static int check_entry(const char *path, const cJSON *entry, int number) {
    static const char *const needed[] = {"device", "case", "reason"};
    if (!cJSON_IsObject(entry)) {
        message("%s: entry %d: must be an object {device, case, reason}", path, number);
        return STATUS_USAGE;
    }
    if (check_keys(path, entry, number))
        return STATUS_USAGE;
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

// The number that a range is held against. The CPU's driver is the library; some name themselves without one.
static const char *driver_version(const cJSON *device) {
    static const char digits[] = "0123456789";
    const char *driver = summary_text(device, "driver");
    if (strncmp(summary_text(device, "device"), "cpu:", 4) == 0)
        return ROPE2D_VERSION;
    return strpbrk(driver, digits) ? driver : summary_text(device, "driver_version");
}

static bool applies(const cJSON *entry, const cJSON *device, const cJSON *result) {
    const char *from = summary_text(entry, "driver_from"), *to = summary_text(entry, "driver_to");
    return device_matches(device, summary_text(entry, "device")) &&
           device_version_between(driver_version(device), *from ? from : NULL, *to ? to : NULL) &&
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

static bool applies_to_any(const cJSON *entry, const cJSON *devices) {
    const cJSON *device, *result;
    cJSON_ArrayForEach(device, devices) cJSON_ArrayForEach(
        result,
        cJSON_GetObjectItemCaseSensitive(device, "results")) if (applies(entry, device, result)) return true;
    return false;
}

void expect_note_stale(const cJSON *list, cJSON *report) {
    const cJSON *entry;
    int number = 0;
    cJSON *stale = cJSON_AddArrayToObject(report, "stale");
    cJSON_ArrayForEach(entry, list) {
        ++number;
        if (applies_to_any(entry, cJSON_GetObjectItemCaseSensitive(report, "devices")))
            continue;
        cJSON *copy = cJSON_Duplicate(entry, true);
        cJSON_AddNumberToObject(copy, "entry", number);
        cJSON_AddItemToArray(stale, copy);
    }
}

void expect_describe_stale(const cJSON *entry, char *text, size_t size) {
    snprintf(text, size, "entry %.0f of --expect is stale: no result of '%.100s' is '%.100s' (%.100s)",
             summary_number(entry, "entry"), summary_text(entry, "device"), summary_text(entry, "case"),
             summary_text(entry, "reason"));
}
