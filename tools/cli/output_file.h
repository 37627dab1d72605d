// SPDX-License-Identifier: MIT
//
// A file that appears under its name only when it is complete: it is written beside its place under a name
// that nobody can guess, and renamed. What is there and is no regular file, such as a device, is refused.
#ifndef ROPE2D_CLI_OUTPUT_FILE_H
#define ROPE2D_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

// All zero is none. The path belongs to the caller.
struct output_file {
    const char *path;
    char *beside;
    FILE *file; // to write to, until it is closed
};

// Each returns false having said on stderr what is wrong, with the path.
bool output_file_open(struct output_file *output, const char *path);
// When all is written; is_good: the caller has seen no failure. It has no name yet.
bool output_file_close(struct output_file *output, bool is_good);
bool output_file_place(struct output_file *output);
// Removes what has no name yet. Accepts any state.
void output_file_free(struct output_file *output);

// All of these, for one file whose bytes are there.
bool output_file_write(const char *path, const void *bytes, size_t size);

#endif
