// SPDX-License-Identifier: MIT
#ifndef ROPE2D_CLI_QUOTE_H
#define ROPE2D_CLI_QUOTE_H

#include <stddef.h>

// How many bytes quote_append needs at most for a text, without an end.
size_t quote_size(const char *text);

// Appends what the shell takes for exactly this text, and returns where it ends; there is no NUL.
char *quote_append(char *at, const char *text);

// A copy for a line that somebody may repeat, quoted where it must be, to be freed. NULL when memory runs
// out.
char *quote_copy(const char *text);

#endif
