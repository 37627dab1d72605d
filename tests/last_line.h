// SPDX-License-Identifier: MIT
// A log that keeps its last line: what a refusal said.
#ifndef TEST_LAST_LINE_H
#define TEST_LAST_LINE_H

#include "rope2d/rope2d.h"

struct last_line {
    char text[1024];
};

// The log of a host whose `user` is a struct last_line.
void last_line_keep(void *user, rope2d_log_level level, const char *text);

#endif
