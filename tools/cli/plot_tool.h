// SPDX-License-Identifier: MIT
//
// tools/plot.py, which draws.
#ifndef ROPE2D_CLI_PLOT_TOOL_H
#define ROPE2D_CLI_PLOT_TOOL_H

#include <cjson/cJSON.h>

// Hands it an array of pictures and its options, which end with NULL. Returns an exit status.
int plot_tool_run(const cJSON *data, const char *const *options);

#endif
