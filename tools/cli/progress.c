// SPDX-License-Identifier: MIT
#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Work that is done sooner shows nothing.
static const double FIRST_SHOWN_AFTER = 0.5, SHOWN_EVERY = 0.1;

double seconds_now(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_wanted(void) {
    const char *terminal = getenv("TERM");
    return isatty(STDERR_FILENO) && !(terminal && strcmp(terminal, "dumb") == 0);
}

void progress_begin(struct progress *progress, const char *what, uint64_t total) {
    *progress = (struct progress){.what = what, .total = total, .started = seconds_now()};
}

void progress_add(struct progress *progress, uint64_t done) {
    progress->done += done;
    double now = seconds_now();
    double since = now - (progress->shown > 0 ? progress->shown : progress->started);
    if (since < (progress->shown > 0 ? SHOWN_EVERY : FIRST_SHOWN_AFTER) || !is_wanted())
        return;
    double percent = progress->total ? 100.0 * (double)progress->done / (double)progress->total : 100.0;
    fprintf(stderr, "\r%s %3.0f %%", progress->what, percent);
    fflush(stderr);
    progress->shown = now;
}

void progress_end(struct progress *progress) {
    if (progress->shown > 0) {
        fprintf(stderr, "\r%*s\r", (int)strlen(progress->what) + 6, "");
        fflush(stderr);
    }
    progress->shown = 0;
}
