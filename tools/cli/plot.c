// SPDX-License-Identifier: MIT
//
// Hands the numbers to tools/plot.py, which draws.
#include "message.h"
#include "plot.h"
#include "plot_tool.h"
#include "verbs.h"

static int run(int argc, char **argv) {
    static const char *const formats[] = {"svg", "png", "both"};
    const char *folder = ".";
    int format = 0;
    cJSON *data;
    int result = plot_parse(&verb_plot, argc, argv, &folder, &format, &data);
    if (!data)
        return result;
    const char *const arguments[] = {"--folder", folder, "--format", formats[format], NULL};
    result = plot_tool_run(data, arguments);
    cJSON_Delete(data);
    return result;
}

const struct verb verb_plot = {
    .name = "plot",
    .usage = "[PICTURE...] [OPTIONS]",
    .summary = "draw what a preset does (needs matplotlib)",
    .description =
        "Draws the pictures that 'rope2d plot-data --help' lists, or all of them, with Python and\n"
        "matplotlib (Debian: python3-matplotlib).",
    .run = run,
};
