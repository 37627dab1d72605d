// SPDX-License-Identifier: MIT
//
// In the place of what starts processes or measures for minutes: nothing is started, and nothing measured.
#include "tools/cli/bench_sweep.h"
#include "tools/cli/bench_worker.h"
#include "tools/cli/message.h"
#include "tools/cli/plot_tool.h"
#include "tools/verify/child.h"
#include "tools/verify/supervise.h"

#include <string.h>

const bool child_is_there = false;

void child_run(const char *const *arguments, const char *input, double seconds, child_line_fn *line,
               void *user, struct child_end *end) {
    (void)arguments, (void)input, (void)seconds, (void)line, (void)user;
    memset(end, 0, sizeof *end);
    end->fate = CHILD_NOT_STARTED;
}

int plot_tool_run(const cJSON *data, const char *const *options) {
    (void)data, (void)options;
    return STATUS_DEVICE;
}

void verify_supervise(struct verify_supervisor *supervisor, const size_t *tasks, size_t count) {
    (void)supervisor, (void)tasks, (void)count;
}

int bench_sweep(const struct bench_request *request, const struct device_list *devices,
                struct bench_results *results) {
    (void)request, (void)devices, (void)results;
    return STATUS_OK;
}

void bench_results_free(struct bench_results *results) {
    (void)results;
}

int bench_worker_main(int argc, char **argv) {
    (void)argc, (void)argv;
    return STATUS_USAGE;
}
