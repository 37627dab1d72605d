// SPDX-License-Identifier: MIT
//
// A process of our own that may crash or hang.
#ifndef ROPE2D_VERIFY_CHILD_H
#define ROPE2D_VERIFY_CHILD_H

#include <stdbool.h>
#include <stddef.h>

enum child_fate { CHILD_DONE, CHILD_CRASHED, CHILD_HUNG, CHILD_NOT_STARTED, CHILD_STOPPED };

enum { CHILD_TEXT_SIZE = 512 };

struct child_end {
    enum child_fate fate;
    int status;                 // of CHILD_DONE
    char text[CHILD_TEXT_SIZE]; // of others: the signal or the time limit, and the end of what it printed
};

// Gets each line that the child writes to descriptor 3.
typedef void child_line_fn(void *user, const char *line);

// Whether this system can: elsewhere child_run gives CHILD_NOT_STARTED.
extern const bool child_is_there;

// Whether child_run is under way, in whichever thread. Once interrupt_came says that a signal did, none
// begins.
bool child_is_running(void);

// Runs a program, which is looked for in the path, with `input` on its standard input, and waits. It is
// killed when it has written no line for `seconds`, and when interrupt_came: then it is CHILD_STOPPED.
// Without `line` it has no descriptor 3, and `seconds` in all. What it started ends with it. What it prints
// is kept for `end` alone.
void child_run(const char *const *arguments, const char *input, double seconds, child_line_fn *line,
               void *user, struct child_end *end);

#endif
