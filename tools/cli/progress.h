// SPDX-License-Identifier: MIT
//
// How far long work has come, on stderr, and only when that is a terminal.
#ifndef ROPE2D_CLI_PROGRESS_H
#define ROPE2D_CLI_PROGRESS_H

#include <stdint.h>

struct progress {
    const char *what; // "rotating"
    uint64_t total;
    uint64_t done;
    double started;
    double shown; // when it was last written; 0 while it has not been
};

// Seconds from some point in the past.
double seconds_now(void);

void progress_begin(struct progress *progress, const char *what, uint64_t total);
void progress_add(struct progress *progress, uint64_t done);
void progress_hide(struct progress *progress); // removes the line until the next add
void progress_end(struct progress *progress);  // removes the line

#endif
