// SPDX-License-Identifier: MIT
#include "progress.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Work that is done sooner shows nothing.
static const double FIRST_SHOWN_AFTER = 0.5, SHOWN_EVERY = 0.1;

enum { BAR = 20 };

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

// As long for each part as for those that are done.
static void print_left(const struct progress *progress, double now) {
    if (progress->done == 0 || progress->done > progress->total)
        return;
    double left =
        (now - progress->started) / (double)progress->done * (double)(progress->total - progress->done);
    fprintf(stderr, ", %2.0f:%02.0f left ", floor(left / 60), floor(fmod(left, 60)));
}

void progress_add(struct progress *progress, uint64_t done) {
    progress->done += done;
    double now = seconds_now();
    double since = now - (progress->shown > 0 ? progress->shown : progress->started);
    if (since < (progress->shown > 0 ? SHOWN_EVERY : FIRST_SHOWN_AFTER) || !is_wanted())
        return;
    double part = progress->total ? (double)progress->done / (double)progress->total : 1.0;
    fprintf(stderr, "\r%s [%-*.*s] %3.0f %%", progress->what, BAR, (int)(part * BAR), "####################",
            100.0 * part);
    print_left(progress, now);
    fflush(stderr);
    progress->shown = now;
}

void progress_hide(struct progress *progress) {
    if (progress->shown > 0) {
        fprintf(stderr, "\r%*s\r", (int)strlen(progress->what) + BAR + 24, "");
        fflush(stderr);
    }
    progress->shown = 0;
}

void progress_end(struct progress *progress) {
    progress_hide(progress);
}
