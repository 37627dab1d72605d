// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "execute.h"
#include "verify.h"

static void attribute(FILE *file, const char *name, const char *value) {
    fprintf(file, " %s=\"", name);
    escape_xml(file, value);
    fputc('"', file);
}

// Verdicts of a process that ended are errors, others failures, as JUnit tells them apart.
static const char *element_of(const cJSON *result) {
    const char *verdict = summary_text(result, "verdict");
    if (strcmp(verdict, VERDICT_PASSED) == 0)
        return NULL;
    if (cJSON_HasObjectItem(result, "expected") || strcmp(verdict, VERDICT_UNSUPPORTED) == 0)
        return "skipped";
    bool is_error = strcmp(verdict, VERDICT_CRASHED) == 0 || strcmp(verdict, VERDICT_HUNG) == 0 ||
                    strcmp(verdict, VERDICT_LOST) == 0 || strcmp(verdict, VERDICT_NONE) == 0;
    return is_error ? "error" : "failure";
}

static void count(const cJSON *results, const char *element, unsigned *number) {
    const cJSON *result;
    cJSON_ArrayForEach(result, results) {
        const char *own = element_of(result);
        *number += own && (!element || strcmp(own, element) == 0);
    }
}

static void write_case(FILE *file, const char *device, const cJSON *result) {
    const char *element = element_of(result), *reason = summary_text(result, "expected");
    fputs("    <testcase", file);
    attribute(file, "classname", device);
    attribute(file, "name", summary_text(result, "name"));
    if (!element) {
        fputs("/>\n", file);
        return;
    }
    fprintf(file, "><%s", element);
    attribute(file, "type", summary_text(result, "verdict"));
    attribute(file, "message", *reason ? reason : summary_text(result, "text"));
    fprintf(file, ">");
    escape_xml(file, summary_text(result, "text"));
    fprintf(file, "</%s></testcase>\n", element);
}

static void write_problem(FILE *file, const char *class_name, const char *name, const char *text) {
    fputs("    <testcase", file);
    attribute(file, "classname", class_name);
    attribute(file, "name", name);
    fputs("><failure", file);
    attribute(file, "type", "problem");
    attribute(file, "message", text);
    fputs("/></testcase>\n", file);
}

static void write_skip(FILE *file, const char *class_name, const char *name, const char *text) {
    fputs("    <testcase", file);
    attribute(file, "classname", class_name);
    attribute(file, "name", name);
    fputs("><skipped", file);
    attribute(file, "message", text);
    fputs("/></testcase>\n", file);
}

static void write_device(FILE *file, const cJSON *device) {
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(device, "results"), *result;
    const cJSON *controls = cJSON_GetObjectItemCaseSensitive(device, "controls");
    static const char *const elements[] = {"failure", "error", "skipped"};
    unsigned counts[3] = {0};
    char name[512];
    for (size_t i = 0; i < 3; ++i) {
        count(results, elements[i], &counts[i]);
        count(controls, elements[i], &counts[i]);
    }
    snprintf(name, sizeof name, "%s %s", summary_text(device, "device"), summary_text(device, "name"));
    fputs("  <testsuite", file);
    attribute(file, "name", name);
    fprintf(file, " tests=\"%d\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
            cJSON_GetArraySize(results) + cJSON_GetArraySize(controls), counts[0], counts[1], counts[2]);
    cJSON_ArrayForEach(result, controls) write_case(file, summary_text(device, "device"), result);
    cJSON_ArrayForEach(result, results) write_case(file, summary_text(device, "device"), result);
    fputs("  </testsuite>\n", file);
}

// Systems that run tests know no "compiled": the suite's name and each case's output say it.
static void write_compiled(FILE *file, const cJSON *compiled) {
    static const char *const lists[] = {"controls", "results"};
    const cJSON *result, *skip, *skips = cJSON_GetObjectItemCaseSensitive(compiled, "skips");
    unsigned tests = (unsigned)cJSON_GetArraySize(skips), failures = 0;
    if (!compiled)
        return;
    for (size_t i = 0; i < 2; ++i) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(compiled, lists[i]);
        tests += (unsigned)cJSON_GetArraySize(list);
        cJSON_ArrayForEach(result, list) failures += strcmp(summary_text(result, "verdict"), "failed") == 0;
    }
    fprintf(file,
            "  <testsuite name=\"compiled, not run\" tests=\"%u\" failures=\"%u\" errors=\"0\" "
            "skipped=\"%d\">\n",
            tests, failures, cJSON_GetArraySize(skips));
    for (size_t i = 0; i < 2; ++i)
        cJSON_ArrayForEach(result, cJSON_GetObjectItemCaseSensitive(compiled, lists[i])) {
            bool is_bad = strcmp(summary_text(result, "verdict"), "failed") == 0;
            if (is_bad) {
                write_problem(file, "compiled", summary_text(result, "name"), summary_text(result, "text"));
                continue;
            }
            fputs("    <testcase classname=\"compiled\"", file);
            attribute(file, "name", summary_text(result, "name"));
            fputs("><system-out>", file);
            escape_xml(file, i ? summary_text(result, "verdict") : "caught");
            fputs(", not run</system-out></testcase>\n", file);
        }
    cJSON_ArrayForEach(skip, skips)
        write_skip(file, "compiled", summary_text(skip, "what"), summary_text(skip, "why"));
    fputs("  </testsuite>\n", file);
}

void report_write_junit(FILE *file, const cJSON *report) {
    const cJSON *device, *problem, *entry, *stale = cJSON_GetObjectItemCaseSensitive(report, "stale");
    const cJSON *problems = cJSON_GetObjectItemCaseSensitive(report, "problems");
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rope2d verify\">\n", file);
    cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(report, "devices"))
        write_device(file, device);
    write_compiled(file, cJSON_GetObjectItemCaseSensitive(report, "compiled"));
    // What the report says as a whole, such as a device that --require misses.
    fprintf(file, "  <testsuite name=\"report\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\">\n",
            cJSON_GetArraySize(problems) + cJSON_GetArraySize(stale), cJSON_GetArraySize(problems),
            cJSON_GetArraySize(stale));
    cJSON_ArrayForEach(problem, problems) write_problem(
        file, "report", *summary_text(problem, "device") ? summary_text(problem, "device") : "report",
        summary_text(problem, "text"));
    cJSON_ArrayForEach(entry, stale) {
        char text[EXPECT_TEXT_SIZE];
        expect_describe_stale(entry, text, sizeof text);
        write_skip(file, "report", "--expect", text);
    }
    fputs("  </testsuite>\n</testsuites>\n", file);
}
