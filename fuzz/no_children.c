// SPDX-License-Identifier: MIT
//
// In the place of what starts processes: nothing is started, and no case run.
#include "tools/cli/bench_folder.h"
#include "tools/verify/child.h"
#include "tools/verify/supervise.h"

#include <string.h>

const bool child_is_there = false;

bool child_is_running(void) {
    return false;
}

void child_run(const char *const *arguments, const char *input, double seconds, child_line_fn *line,
               void *user, struct child_end *end) {
    (void)arguments, (void)input, (void)seconds, (void)line, (void)user;
    memset(end, 0, sizeof *end);
    end->fate = CHILD_NOT_STARTED;
}

int bench_folder_run(int (*work)(void *user), void *user) {
    return work(user);
}

void verify_supervise(struct verify_supervisor *supervisor, const size_t *tasks, size_t count) {
    (void)supervisor, (void)tasks, (void)count;
}
