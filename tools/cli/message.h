// SPDX-License-Identifier: MIT
//
// What every verb says and returns: exit statuses, messages on stderr, the library's log.
#ifndef ROPE2D_CLI_MESSAGE_H
#define ROPE2D_CLI_MESSAGE_H

#include "rope2d/rope2d.h"

enum {
    STATUS_OK = 0,     // done; every check passed
    STATUS_FAILED = 1, // a check failed
    STATUS_USAGE = 2,  // wrong usage, or input that cannot be used
    STATUS_DEVICE = 3, // a device is missing, or it or its driver failed
};

#if defined(__GNUC__)
#define MESSAGE_FORMAT __attribute__((format(printf, 1, 2)))
#else
#define MESSAGE_FORMAT
#endif

// Control characters but tabs become '?', and so do bytes that are no UTF-8: names of files and devices must
// neither speak to a terminal nor make lines.
void make_printable(char *text);

// One line on stderr, after the program's name, and made printable.
MESSAGE_FORMAT void message(const char *format, ...);

// printf to stdout, and made printable but for newlines at the format's end.
MESSAGE_FORMAT void print_plain(const char *format, ...);

// Says that a call of the library failed, and returns the exit status for it.
int message_status(rope2d_status status, const char *what);

// The exit status that belongs to a status of the library.
int exit_status_of(rope2d_status status);

// At a program's end: what waits to be printed is, and where it cannot be, that is said. Returns `result`, or
// STATUS_USAGE where that would be STATUS_OK.
int message_end(int result);

// Writes the library's errors and warnings to stderr.
extern const rope2d_host message_host;

#endif
