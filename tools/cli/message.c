// SPDX-License-Identifier: MIT
#include "message.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void make_printable(char *text) {
    for (unsigned char *at = (unsigned char *)text; *at; ++at) {
        const bool is_control = (*at < 0x20 && *at != '\n' && *at != '\t') || *at == 0x7f;
        const bool is_second = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0; // in UTF-8
        if (is_second)
            *at++ = '?';
        if (is_control || is_second)
            *at = '?';
    }
}

// NULL when memory runs out.
static char *format_printable(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    // A second target compiles this file, and clang-tidy 14 does not see va_start in the second round.
    const int length = vsnprintf(NULL, 0, format, arguments); // NOLINT(clang-analyzer-valist.Uninitialized)
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, again); // NOLINT(clang-analyzer-valist.Uninitialized)
        make_printable(text);
    }
    va_end(again);
    return text;
}

void message(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = format_printable(format, arguments);
    va_end(arguments);
    fprintf(stderr, "rope2d: %s\n", text ? text : format);
    free(text);
}

void print_plain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = format_printable(format, arguments);
    va_end(arguments);
    fputs(text ? text : format, stdout);
    free(text);
}

int exit_status_of(rope2d_status status) {
    switch (status) {
    case ROPE2D_OK:
        return STATUS_OK;
    case ROPE2D_ERROR_LIMIT:
    case ROPE2D_ERROR_BACKEND_MISSING:
    case ROPE2D_ERROR_DEVICE_INDEX:
    case ROPE2D_ERROR_UNSUPPORTED:
    case ROPE2D_ERROR_HOST_MEMORY:
    case ROPE2D_ERROR_DEVICE_MEMORY:
    case ROPE2D_ERROR_DEVICE_LOST:
    case ROPE2D_ERROR_DRIVER:
    case ROPE2D_ERROR_COMPILE:
        return STATUS_DEVICE;
    default:
        return STATUS_USAGE;
    }
}

int message_status(rope2d_status status, const char *what) {
    message("%s: %s", what, rope2d_status_name(status));
    return exit_status_of(status);
}

static void log_to_stderr(void *user, rope2d_log_level level, const char *text) {
    (void)user;
    if (level == ROPE2D_LOG_ERROR)
        message("error: %s", text);
    else if (level == ROPE2D_LOG_WARNING)
        message("warning: %s", text);
}

const rope2d_host message_host = {
    .struct_size = sizeof(rope2d_host),
    .log = log_to_stderr,
};
