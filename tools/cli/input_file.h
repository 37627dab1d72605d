// SPDX-License-Identifier: MIT
//
// Files that the user names, or that somebody else left.
#ifndef ROPE2D_CLI_INPUT_FILE_H
#define ROPE2D_CLI_INPUT_FILE_H

#include <stdio.h>

// Opens a regular file, or what links to one, to be read; anything else may never come to an end, or never
// begin, as a pipe that nobody writes to. NULL, and `why` is not, when there is none.
FILE *input_file_open(const char *path, const char **why);

// The whole of it, at most `largest` bytes, and a zero byte behind, which the caller frees. STATUS_OK, or
// STATUS_USAGE having said what is wrong, with the path; then the text is NULL.
int input_file_read(const char *path, size_t largest, char **text, size_t *length);

#endif
