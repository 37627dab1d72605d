// SPDX-License-Identifier: MIT
#include "last_line.h"

#include <stdio.h>

void last_line_keep(void *user, rope2d_log_level level, const char *text) {
    struct last_line *line = user;
    (void)level;
    (void)snprintf(line->text, sizeof(line->text), "%s", text);
}
