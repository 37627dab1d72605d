// SPDX-License-Identifier: MIT
#include "check.h"

#include <stdarg.h>
#include <stdio.h>

static unsigned long passed, failed, skipped;

bool check_at(bool holds, const char *file, int line, const char *format, ...) {
    va_list arguments;
    if (holds) {
        passed++;
        return true;
    }
    failed++;
    printf("FAIL %s:%d: ", file, line);
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    (void)fflush(stdout); // a crash that follows must not take the line with it
    return false;
}

bool check_detail_at(bool holds, const char *file, int line, const char *name, const char *detail) {
    if (holds && detail[0] != '\0')
        printf("ok   %-28s %s\n", name, detail);
    return check_at(holds, file, line, "%-28s %s", name, detail);
}

void check_skip(const char *format, ...) {
    va_list arguments;
    skipped++;
    printf("skip ");
    va_start(arguments, format);
    (void)vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
}

int check_finish(void) {
    printf("%lu passed, %lu failed, %lu skipped\n", passed, failed, skipped);
    return failed > 0 || passed + skipped == 0;
}
