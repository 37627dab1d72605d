// SPDX-License-Identifier: MIT
//
// In the place of what measures for minutes or draws: nothing is measured, and no Python started.
#include "tools/cli/bench_sweep.h"
#include "tools/cli/bench_worker.h"
#include "tools/cli/message.h"
#include "tools/cli/plot_tool.h"

int plot_tool_run(const cJSON *data, const char *const *options) {
    (void)data, (void)options;
    return STATUS_DEVICE;
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
