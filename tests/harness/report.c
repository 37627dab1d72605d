// SPDX-License-Identifier: MIT
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXIT_SKIPPED 77 // meson's

static void say(const char *word, const char *format, va_list arguments) {
    printf("%s ", word);
    (void)vprintf(format, arguments);
    printf("\n");
    (void)fflush(stdout); // a driver that crashes next must not take the line with it
}

void harness_pass(struct harness_report *report) {
    report->passed++;
}

void harness_fail(struct harness_report *report, const char *format, ...) {
    va_list arguments;
    report->failed++;
    va_start(arguments, format);
    say("FAIL", format, arguments);
    va_end(arguments);
}

void harness_skip(struct harness_report *report, const char *format, ...) {
    va_list arguments;
    report->skipped++;
    va_start(arguments, format);
    say("skip", format, arguments);
    va_end(arguments);
}

void harness_check(struct harness_report *report, int good, const char *format, ...) {
    va_list arguments;
    if (good) {
        report->passed++;
        return;
    }
    report->failed++;
    va_start(arguments, format);
    say("FAIL", format, arguments);
    va_end(arguments);
}

// Not safe for several threads at once, as the programs here need no more.
static void keep(void *user, rope2d_log_level level, const char *text) {
    struct harness_log *log = user;
    size_t used = strlen(log->text);
    if (level == ROPE2D_LOG_INFO)
        return;
    (void)snprintf(log->text + used, sizeof(log->text) - used, "     %s\n", text);
}

rope2d_host harness_host(struct harness_log *log) {
    rope2d_host host = {.struct_size = sizeof(host), .user = log, .log = keep};
    return host;
}

void harness_log_clear(struct harness_log *log) {
    log->text[0] = '\0';
}

int harness_finish(const struct harness_report *report) {
    printf("%lu passed, %lu failed, %lu skipped\n", report->passed, report->failed, report->skipped);
    if (report->failed != 0)
        return 1;
    return report->passed == 0 ? EXIT_SKIPPED : 0;
}
