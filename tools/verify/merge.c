// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "../cli/message.h"
#include "../cli/output_check.h"
#include "../cli/verbs.h"
#include "text_file.h"
#include "verify.h"

#define MERGED_FORMAT "rope2d-verify-merge"

static bool is_report(const cJSON *json) {
    return strcmp(summary_text(json, "format"), VERIFY_FORMAT) == 0 &&
           summary_number(json, "format_version") == VERIFY_FORMAT_VERSION &&
           cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "devices"));
}

static int add_report(cJSON *reports, const char *path) {
    cJSON *json;
    int result = text_file_read_json(path, &json);
    if (result)
        return result;
    if (!is_report(json)) {
        if (strcmp(summary_text(json, "format"), MERGED_FORMAT) == 0)
            message("%s: is merged; merge the reports that it was made of", path);
        else
            message("%s: is no report of rope2d verify, format %d", path, VERIFY_FORMAT_VERSION);
        cJSON_Delete(json);
        return STATUS_USAGE;
    }
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "file", path);
    cJSON_AddItemToObject(entry, "report", json);
    cJSON_AddItemToArray(reports, entry);
    return STATUS_OK;
}

static void print_device(const char *file, const cJSON *device) {
    const cJSON *outputs = cJSON_GetObjectItemCaseSensitive(device, "outputs");
    const cJSON *counts = cJSON_GetObjectItemCaseSensitive(device, "counts");
    print_plain("%-24.60s %-10.20s %-34.34s %-11.20s %5.0f passed  %.16s (%.0f cases)\n", file,
                summary_text(device, "device"), summary_text(device, "name"), summary_text(device, "tier"),
                summary_number(counts, "passed"), summary_text(outputs, "sha256"),
                summary_number(outputs, "cases"));
}

// A line for each device, so that equal outputs stand below one another. STATUS_FAILED when a report did not
// pass.
static int print_all(const cJSON *reports) {
    const cJSON *entry, *device;
    int result = STATUS_OK;
    cJSON_ArrayForEach(entry, reports) {
        const cJSON *report = cJSON_GetObjectItemCaseSensitive(entry, "report");
        cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(report, "devices"))
            print_device(summary_text(entry, "file"), device);
        if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(report, "passed"))) {
            print_plain("%s: did not pass\n", summary_text(entry, "file"));
            result = STATUS_FAILED;
        }
    }
    return result;
}

static int check_outputs(const char *json, const char *html, char *const *files, int count) {
    int result = STATUS_OK;
    for (int i = 0; i < count && !result; ++i) {
        const struct named_path paths[] = {
            {"--json", .path = json},
            {"--html", .path = html},
            {"merge", files[i], .is_input = true},
        };
        result = output_check(paths, sizeof paths / sizeof *paths);
    }
    return result;
}

static int run(int argc, char **argv) {
    const char *json = NULL, *html = NULL;
    const struct option options[] = {
        {"json", "FILE", "write the reports into one", .text = &json},
        {"html", "FILE", "write a page that shows them side by side", .text = &html},
        {0},
    };
    int operands;
    enum options_result parsed = options_parse(&verb_report, options, argc, argv, &operands);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    if (operands < 2 || strcmp(argv[0], "merge") != 0) {
        message("rope2d report needs 'merge' and the files that rope2d verify --json wrote");
        return STATUS_USAGE;
    }
    int result = check_outputs(json, html, argv + 1, operands - 1);
    if (result)
        return result;
    cJSON *merged = cJSON_CreateObject();
    cJSON_AddStringToObject(merged, "format", MERGED_FORMAT);
    cJSON_AddNumberToObject(merged, "format_version", VERIFY_FORMAT_VERSION);
    cJSON *reports = cJSON_AddArrayToObject(merged, "reports");
    for (int i = 1; i < operands && !result; ++i)
        result = add_report(reports, argv[i]);
    if (!result && json)
        result = text_file_write_json(json, merged);
    if (!result && html)
        result = text_file_write(html, report_write_html, merged);
    if (!result)
        result = print_all(reports);
    cJSON_Delete(merged);
    return result;
}

const struct verb verb_report = {
    .name = "report",
    .usage = "merge FILE... [OPTIONS]",
    .summary = "put reports of several machines side by side",
    .description =
        "Reads what rope2d verify --json wrote on several machines, prints a line for each device, and "
        "writes one file.",
    .run = run,
};
