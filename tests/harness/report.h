// SPDX-License-Identifier: MIT
// What a test program counts and says. Its last line is `N passed, N failed, N skipped`.
#ifndef HARNESS_REPORT_H
#define HARNESS_REPORT_H

#include "rope2d/rope2d.h"

#if defined(__MINGW32__) && !defined(__clang__)
#define HARNESS_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define HARNESS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define HARNESS_PRINTF(text, first)
#endif

#define HARNESS_LOG_SIZE 4096

// Give it to a host as `user`, so that a failure can say what the library logged.
struct harness_log {
    char text[HARNESS_LOG_SIZE];
};

struct harness_report {
    unsigned long passed, failed, skipped;
};

void harness_pass(struct harness_report *report);
void harness_fail(struct harness_report *report, const char *format, ...) HARNESS_PRINTF(2, 3);
void harness_skip(struct harness_report *report, const char *format, ...) HARNESS_PRINTF(2, 3);
// One verdict: the text is printed when it is bad.
void harness_check(struct harness_report *report, int good, const char *format, ...) HARNESS_PRINTF(3, 4);

// A host that keeps the last messages in `log`, which must outlive what is made with it.
rope2d_host harness_host(struct harness_log *log);
void harness_log_clear(struct harness_log *log);

// Prints the last line; the exit status: 0, 1 when anything failed, 77 when nothing ran.
int harness_finish(const struct harness_report *report);

#endif
