// SPDX-License-Identifier: MIT
//
// Files that the user names, or that somebody else left.
#ifndef ROPE2D_CLI_INPUT_FILE_H
#define ROPE2D_CLI_INPUT_FILE_H

#include <stdio.h>

// Opens a regular file, or what links to one, to be read; anything else may never come to an end, or never
// begin, as a pipe that nobody writes to. NULL, and `why` is not, when there is none.
FILE *input_file_open(const char *path, const char **why);

#endif
