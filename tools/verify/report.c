// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "../cli/message.h"
#include "compile.h"
#include "execute.h"
#include "verify.h"

enum { MOST_LINES = 20 }; // for each kind of verdict that is no failure

void report_add_skip(cJSON *report, const char *what, const char *why) {
    cJSON *skip = cJSON_CreateObject();
    cJSON_AddStringToObject(skip, "what", what);
    cJSON_AddStringToObject(skip, "why", why);
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(report, "skips"), skip);
}

void report_add_problem(cJSON *report, const char *device, const char *text) {
    cJSON *problem = cJSON_CreateObject();
    if (device)
        cJSON_AddStringToObject(problem, "device", device);
    cJSON_AddStringToObject(problem, "text", text);
    cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(report, "problems"), problem);
}

static void print_error(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (cJSON_IsNull(item))
        printf(" %9s", "wrong");
    else
        printf(" %9.3g", summary_number(object, key));
}

static void print_classes(const cJSON *classes) {
    const cJSON *one;
    printf("  %-14s %7s %11s %11s %11s %9s\n", "inputs", "cases", "elements", "other bits", "flushed",
           "error");
    cJSON_ArrayForEach(one, classes) {
        const cJSON *first = cJSON_GetObjectItemCaseSensitive(one, "first");
        print_plain("  %-14s %7.0f %11.0f %11.0f %11.0f", one->string, summary_number(one, "cases"),
                    summary_number(one, "elements"), summary_number(one, "mismatches"),
                    summary_number(one, "flushed"));
        print_error(one, "worst");
        printf("\n");
        if (first)
            print_plain("    first: %s, %s: %s, the portable path %s\n", summary_text(first, "case"),
                        summary_text(first, "place"), summary_text(first, "got"),
                        summary_text(first, "expected"));
    }
}

// Verdicts other than passed, in the order in which they are printed.
enum kind { FAILURE, KNOWN, UNEXPECTED, SKIP, KINDS };

static enum kind kind_of(const cJSON *result) {
    if (summary_is_failure(result))
        return FAILURE;
    if (cJSON_HasObjectItem(result, "expected"))
        return KNOWN;
    if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(result, "unexpected_pass")))
        return UNEXPECTED;
    return strcmp(summary_text(result, "verdict"), VERDICT_PASSED) == 0 ? KINDS : SKIP;
}

static void print_result(const cJSON *result, enum kind kind) {
    const char *text = summary_text(result, "text"), *reason = summary_text(result, "expected");
    print_plain("  %s: %s%s%s%s", summary_text(result, "name"), kind == UNEXPECTED ? "unexpectedly " : "",
                summary_text(result, "verdict"), *text ? ": " : "", text);
    print_plain("%s%s%s\n", *reason ? " (expected: " : "", reason, *reason ? ")" : "");
}

// Every failure has a line. Of the others some have, and the rest is counted: nothing is silent.
static void print_results(const cJSON *results) {
    static const char *const others[KINDS] = {"", "known failures", "unexpected passes", "skips"};
    const cJSON *result;
    for (enum kind kind = FAILURE; kind < KINDS; ++kind) {
        int lines = 0;
        cJSON_ArrayForEach(result, results) {
            if (kind_of(result) == kind && (++lines <= MOST_LINES || kind == FAILURE))
                print_result(result, kind);
        }
        if (lines > MOST_LINES && kind != FAILURE)
            printf("  and %d more %s, which --json lists\n", lines - MOST_LINES, others[kind]);
    }
}

static void print_controls(const cJSON *controls) {
    const cJSON *control;
    int caught = 0, all = 0;
    cJSON_ArrayForEach(control, controls) {
        bool is_caught = strcmp(summary_text(control, "verdict"), VERDICT_PASSED) == 0;
        ++all;
        caught += is_caught;
        if (!is_caught)
            print_plain("  %s: NOT CAUGHT: %s\n", summary_text(control, "name"),
                        summary_text(control, "text"));
    }
    printf("  controls: %d of %d faults were noticed\n", caught, all);
}

static void print_outputs(const cJSON *device) {
    const cJSON *outputs = cJSON_GetObjectItemCaseSensitive(device, "outputs");
    const cJSON *equal = cJSON_GetObjectItemCaseSensitive(outputs, "equal");
    const cJSON *variations = cJSON_GetObjectItemCaseSensitive(device, "variations"), *other;
    const cJSON *others = cJSON_GetObjectItemCaseSensitive(outputs, "others");
    printf("  variations: %.0f results compared across tables, limits and offsets, %d with other bits\n",
           summary_number(variations, "compared"),
           cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(variations, "other_bits")));
    cJSON_ArrayForEach(other, cJSON_GetObjectItemCaseSensitive(variations, "other_bits"))
        print_plain("    %s\n", cJSON_GetStringValue(other));
    print_plain("  outputs: %s, %.0f of %.0f recorded cases%s\n", summary_text(outputs, "sha256"),
                summary_number(outputs, "cases"), summary_number(outputs, "recorded"),
                cJSON_IsTrue(equal) ? ", as recorded" : "");
    if (cJSON_IsFalse(equal))
        print_plain("    %d of them have other bits than recorded, first %s\n", cJSON_GetArraySize(others),
                    cJSON_GetStringValue(cJSON_GetArrayItem(others, 0)));
}

static void print_device(const cJSON *device) {
    const cJSON *count;
    const char *driver = summary_text(device, "driver");
    print_plain("%s  %s%s%s, %s\n", summary_text(device, "device"), summary_text(device, "name"),
                *driver ? ", " : "", driver, summary_text(device, "api"));
    if (*summary_text(device, "error")) {
        print_plain("  does not open: %s\n\n", summary_text(device, "error"));
        return;
    }
    printf(" ");
    cJSON_ArrayForEach(count, cJSON_GetObjectItemCaseSensitive(device, "counts"))
        print_plain(" %.0f %s%s", count->valuedouble, count->string, count->next ? "," : "");
    print_plain("; tier: %s\n", summary_text(device, "tier"));
    print_controls(cJSON_GetObjectItemCaseSensitive(device, "controls"));
    print_classes(cJSON_GetObjectItemCaseSensitive(device, "classes"));
    print_results(cJSON_GetObjectItemCaseSensitive(device, "results"));
    if (*summary_text(device, "leaving"))
        print_plain("  a process ended badly after its last case: %s\n", summary_text(device, "leaving"));
    print_outputs(device);
    printf("\n");
}

void report_print(const cJSON *report) {
    const cJSON *item, *result;
    double passed = 0, failed = 0, skipped = 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(report, "devices")) {
        print_device(item);
        cJSON_ArrayForEach(result, cJSON_GetObjectItemCaseSensitive(item, "results")) {
            bool is_passed = strcmp(summary_text(result, "verdict"), VERDICT_PASSED) == 0;
            passed += is_passed;
            failed += summary_is_failure(result);
            skipped += !is_passed && !summary_is_failure(result);
        }
    }
    failed += compile_print(report);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(report, "skips"))
        print_plain("skip %s: %s\n", summary_text(item, "what"), summary_text(item, "why"));
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(report, "stale")) {
        char text[EXPECT_TEXT_SIZE];
        expect_describe_stale(item, text, sizeof text);
        print_plain("%s\n", text);
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(report, "problems"))
        print_plain("FAIL %s%s%s\n", summary_text(item, "device"), *summary_text(item, "device") ? ": " : "",
                    summary_text(item, "text"));
    printf("%.0f passed, %.0f failed, %.0f skipped\n", passed, failed, skipped);
}
