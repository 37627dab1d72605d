// SPDX-License-Identifier: MIT
#include "compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/json_read.h"
#include "../cli/message.h"
#include "../cli/script.h"
#include "child.h"
#include "folder.h"
#include "interrupt.h"
#include "text_file.h"
#include "worker.h"

struct hearing {
    cJSON *compiled;
    struct progress *progress;
};

static void keep(cJSON *compiled, const char *list, const cJSON *line, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, key);
    if (cJSON_IsObject(item))
        cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(compiled, list), cJSON_Duplicate(item, true));
}

static void hear_line(void *user, const char *text) {
    struct hearing *hearing = user;
    cJSON *line = json_read(text, strlen(text), NULL);
    const cJSON *count = cJSON_GetObjectItemCaseSensitive(line, "count");
    keep(hearing->compiled, "compilers", line, "compiler");
    keep(hearing->compiled, "results", line, "result");
    keep(hearing->compiled, "controls", line, "control");
    keep(hearing->compiled, "skips", line, "skip");
    if (cJSON_IsNumber(count) && count->valuedouble >= 0)
        progress_begin(hearing->progress, "compiling", (uint64_t)count->valuedouble);
    if (cJSON_HasObjectItem(line, "done"))
        progress_add(hearing->progress, 1);
    cJSON_Delete(line);
}

// False when it came to no end of its own; then it was interrupted, or the report says what is wrong.
static bool run_tool(const struct verify_options *options, const char *folder, cJSON *compiled,
                     struct progress *progress, cJSON *report) {
    char descriptor[16], text[CHILD_TEXT_SIZE + 256];
    char *program = folder_whole_path(options->program); // another process's /proc/self is another program
    struct hearing hearing = {compiled, progress};
    struct child_end end = {.fate = CHILD_NOT_STARTED, .text = "the path of this program is not to be had"};
    const char *tool = script_path(COMPILE_TOOL_SOURCE, COMPILE_TOOL_INSTALLED);
    const char *const arguments[] = {
        "python3", tool,           program,    "--folder",
        folder,    "--descriptor", descriptor, options->level == VERIFY_QUICK ? "--quick" : NULL,
        NULL};
    snprintf(descriptor, sizeof descriptor, "%d", VERIFY_WORKER_DESCRIPTOR);
    *progress = (struct progress){0};
    // A compiler may take as long as the tool lets it, for each of the kernels that a line waits for.
    if (program)
        child_run(arguments, "", options->seconds > 300 ? options->seconds : 300, hear_line, &hearing, &end);
    progress_end(progress);
    free(program);
    if (interrupt_came() || (end.fate == CHILD_DONE && !end.status))
        return !interrupt_came();
    snprintf(text, sizeof text, "%.200s: %s", tool, end.text);
    if (end.fate == CHILD_NOT_STARTED && end.status)
        report_add_skip(report, "compilers", "python3, which starts them, is not in the path");
    else
        report_add_problem(report, "compilers", text);
    return false;
}

void compile_all(const struct verify_options *options, const cJSON *before, struct progress *progress,
                 cJSON *report) {
    static const char *const lists[] = {"compilers", "results", "controls", "skips"};
    const cJSON *known = cJSON_GetObjectItemCaseSensitive(before, VERIFY_COMPILED);
    char folder[FOLDER_PATH_SIZE];
    if (known) {
        cJSON_AddItemToObject(report, VERIFY_COMPILED, cJSON_Duplicate(known, true));
        return;
    }
    if (!folder_make_own(folder)) {
        report_add_problem(report, "compilers", "there is no temporary folder to be had");
        return;
    }
    cJSON *compiled = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        cJSON_AddArrayToObject(compiled, lists[i]);
    if (run_tool(options, folder, compiled, progress, report))
        cJSON_AddItemToObject(report, VERIFY_COMPILED, compiled);
    else
        cJSON_Delete(compiled);
    folder_remove(folder);
}

static bool is_good(const cJSON *result) {
    const char *verdict = summary_text(result, "verdict");
    return strcmp(verdict, VERIFY_COMPILED) == 0 || strcmp(verdict, "passed") == 0;
}

static double complain(const cJSON *list, cJSON *problems) {
    const cJSON *one;
    double good = 0;
    cJSON_ArrayForEach(one, list) {
        good += is_good(one);
        if (is_good(one))
            continue;
        cJSON *problem = cJSON_CreateObject();
        cJSON_AddStringToObject(problem, "device", summary_text(one, "name"));
        cJSON_AddStringToObject(problem, "text", summary_text(one, "text"));
        cJSON_AddItemToArray(problems, problem);
    }
    return good;
}

double compile_judge(cJSON *report) {
    const cJSON *compiled = cJSON_GetObjectItemCaseSensitive(report, VERIFY_COMPILED);
    cJSON *problems = cJSON_GetObjectItemCaseSensitive(report, "problems");
    (void)complain(cJSON_GetObjectItemCaseSensitive(compiled, "controls"), problems);
    return complain(cJSON_GetObjectItemCaseSensitive(compiled, "results"), problems);
}

// ------------------------------------------------------------------------------------------------- text

// From the least to the most of a number, among the results of a target.
struct span {
    double least, most;
    bool is_there;
};

static void widen(struct span *span, const cJSON *result, const char *key) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(result, key);
    if (!cJSON_IsNumber(item))
        return;
    if (!span->is_there || item->valuedouble < span->least)
        span->least = item->valuedouble;
    if (!span->is_there || item->valuedouble > span->most)
        span->most = item->valuedouble;
    span->is_there = true;
}

static void print_span(const struct span *span) {
    char text[48] = "-";
    if (span->is_there && span->least < span->most)
        snprintf(text, sizeof text, "%.0f-%.0f", span->least, span->most);
    else if (span->is_there)
        snprintf(text, sizeof text, "%.0f", span->least);
    printf(" %12s", text);
}

static bool is_of(const cJSON *result, const cJSON *first) {
    return strcmp(summary_text(result, "compiler"), summary_text(first, "compiler")) == 0 &&
           strcmp(summary_text(result, "target"), summary_text(first, "target")) == 0;
}

// A line for all kernels of one target, which follow one another. Returns the first of the next.
static const cJSON *print_target(const cJSON *first) {
    static const char *const keys[] = {"registers", "spills", "instructions", "fused", "mixed"};
    enum { KEYS = sizeof keys / sizeof *keys };
    struct span spans[KEYS] = {{0}};
    const cJSON *result = first;
    int good = 0;
    for (; result && is_of(result, first); result = result->next) {
        good += is_good(result);
        for (size_t i = 0; i < KEYS; ++i)
            widen(&spans[i], result, keys[i]);
    }
    print_plain("  %-15.40s %-11.40s %8d", summary_text(first, "compiler"), summary_text(first, "target"),
                good);
    for (size_t i = 0; i < KEYS; ++i)
        print_span(&spans[i]);
    printf("\n");
    return result;
}

double compile_print(const cJSON *report) {
    const cJSON *compiled = cJSON_GetObjectItemCaseSensitive(report, VERIFY_COMPILED), *one;
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(compiled, "results");
    const cJSON *controls = cJSON_GetObjectItemCaseSensitive(compiled, "controls");
    int good = 0, caught = 0;
    if (!compiled)
        return 0;
    printf(
        "compiled for hardware that is not here, and not run\n  %-15s %-11s %8s %12s %12s %12s %12s %12s\n",
        "compiler", "target", "kernels", "registers", "spills", "instructions", "fused", "mixed");
    for (one = results ? results->child : NULL; one;)
        one = print_target(one);
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(compiled, "compilers"))
        print_plain("  %s: %s\n", summary_text(one, "name"), summary_text(one, "version"));
    cJSON_ArrayForEach(one, results) good += is_good(one);
    cJSON_ArrayForEach(one, controls) caught += is_good(one);
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(compiled, "skips"))
        print_plain("  skip %s: %s\n", summary_text(one, "what"), summary_text(one, "why"));
    printf("  %d of %d kernels compiled; controls: %d of %d faults were noticed\n\n", good,
           cJSON_GetArraySize(results), caught, cJSON_GetArraySize(controls));
    return cJSON_GetArraySize(results) - good;
}
