// SPDX-License-Identifier: MIT
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

// What moves the cursor, and what turns the text around it from right to left.
static bool is_control(uint32_t code) {
    return (code < 0x20 && code != '\t') || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
           code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

void make_printable(char *text) {
    uint32_t code;
    for (unsigned char *at = (unsigned char *)text; *at;) {
        size_t length = utf8_length(at, &code);
        if (length && !is_control(code)) {
            at += length;
            continue;
        }
        do
            *at++ = '?';
        while (length > 1 && --length);
    }
}

// The lines are the format's: a newline in what it is filled with is none, and those at its own end stay.
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
        const char *end = format + strlen(format);
        for (char *last = text + length; end > format && *--end == '\n';)
            *--last = '\n';
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

// What a driver's compiler says has lines.
static void log_to_stderr(void *user, rope2d_log_level level, const char *text) {
    const char *kind = level == ROPE2D_LOG_ERROR ? "error" : "warning";
    (void)user;
    while (level <= ROPE2D_LOG_WARNING && *text) {
        const size_t length = strcspn(text, "\n");
        message("%s: %.*s", kind, (int)length, text);
        text += length + (text[length] == '\n');
    }
}

const rope2d_host message_host = {
    .struct_size = sizeof(rope2d_host),
    .log = log_to_stderr,
};

int message_end(int result) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return result;
    message("stdout: cannot be written: %s", errno ? strerror(errno) : "an earlier write failed");
    return result ? result : STATUS_USAGE;
}
