// SPDX-License-Identifier: MIT
//
// Hands the numbers to tools/plot.py, which draws.
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"
#include "plot.h"
#include "verbs.h"

// The tool lies beside the sources, or where it was installed.
static const char *find_tool(void) {
    static const char *const places[] = {PLOT_TOOL_SOURCE, PLOT_TOOL_INSTALLED};
    return access(places[0], R_OK) == 0 ? places[0] : places[1];
}

// Runs the tool with `input` as its standard input, and returns its exit status.
static int run_tool(FILE *input, const char *folder, const char *format) {
    const char *const arguments[] = {PLOT_PYTHON, find_tool(), "--folder", folder, "--format", format, NULL};
    pid_t child = fork();
    if (child < 0) {
        message("no process for %s", arguments[1]);
        return STATUS_DEVICE;
    }
    if (child == 0) {
        if (dup2(fileno(input), STDIN_FILENO) >= 0)
            execvp(arguments[0], (char *const *)arguments);
        message("%s cannot be run", arguments[0]);
        _exit(STATUS_DEVICE);
    }
    int status;
    if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) {
        message("%s ended early", arguments[1]);
        return STATUS_DEVICE;
    }
    return WEXITSTATUS(status);
}

static int run(int argc, char **argv) {
    static const char *const formats[] = {"svg", "png", "both"};
    const char *folder = ".";
    int format = 0;
    cJSON *data;
    int result = plot_parse(&verb_plot, argc, argv, &folder, &format, &data);
    if (!data)
        return result;
    char *text = cJSON_PrintUnformatted(data);
    cJSON_Delete(data);
    FILE *file = text ? tmpfile() : NULL;
    result = STATUS_DEVICE;
    if (!file || fputs(text, file) < 0 || fflush(file) != 0 || fseek(file, 0, SEEK_SET) != 0)
        message("no room for the numbers");
    else
        result = run_tool(file, folder, formats[format]);
    if (file)
        fclose(file);
    cJSON_free(text);
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
