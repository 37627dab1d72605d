// SPDX-License-Identifier: MIT
#include "plot_tool.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"
#include "script.h"
#include "../verify/interrupt.h"

enum { MOST_ARGUMENTS = 8 };

// Runs the tool with `input` as its standard input, and returns its exit status.
static int run_tool(FILE *input, const char *const *options) {
    const char *arguments[MOST_ARGUMENTS + 3] = {PLOT_PYTHON,
                                                 script_path(PLOT_TOOL_SOURCE, PLOT_TOOL_INSTALLED)};
    for (int i = 0; i < MOST_ARGUMENTS && options[i]; ++i)
        arguments[i + 2] = options[i];
    fflush(stdout); // what the tool prints comes after it
    pid_t child = fork();
    if (child < 0) {
        message("no process for %s", arguments[1]);
        return STATUS_DEVICE;
    }
    if (child == 0) {
        interrupt_unwatch();
        if (dup2(fileno(input), STDIN_FILENO) >= 0)
            execvp(arguments[0], (char *const *)(uintptr_t)arguments);
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

int plot_tool_run(const cJSON *data, const char *const *options) {
    char *text = cJSON_PrintUnformatted(data);
    FILE *file = text ? tmpfile() : NULL;
    int result = STATUS_DEVICE;
    if (!file || fputs(text, file) < 0 || fflush(file) != 0 || fseek(file, 0, SEEK_SET) != 0)
        message("a temporary file for the numbers: %s", text ? strerror(errno) : "no memory");
    else
        result = run_tool(file, options);
    if (file)
        (void)fclose(file);
    cJSON_free(text);
    return result;
}
