// SPDX-License-Identifier: MIT
//
// Whole files of text. What is written is there whole or not at all: it is renamed into its place.
#ifndef ROPE2D_VERIFY_TEXT_FILE_H
#define ROPE2D_VERIFY_TEXT_FILE_H

#include <stdbool.h>

// Both return an exit status, having said what is wrong.
int text_file_read(const char *path, char **text);
int text_file_write(const char *path, const char *text);
void text_file_free(char *text);
bool text_file_is_there(const char *path);

#endif
