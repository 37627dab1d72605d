// SPDX-License-Identifier: MIT
//
// Folders: those of golden cases, and one of our own for what a program reads and writes.
#ifndef ROPE2D_VERIFY_FOLDER_H
#define ROPE2D_VERIFY_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

enum { FOLDER_PATH_SIZE = 4096 };

// The golden cases in a folder, which may be one itself, by name. Returns an exit status, having said what is
// wrong.
int folder_find_cases(const char *folder, char ***paths, size_t *count);
void folder_free_cases(char **paths, size_t count);

// The last part of a path.
const char *folder_name(const char *path);
// From / on, without links; the caller frees it. NULL where there is none.
char *folder_whole_path(const char *path);

// A folder that nobody else can guess or enter, in $TMPDIR or /tmp. False when there is none to be had.
bool folder_make_own(char path[FOLDER_PATH_SIZE]);
// A folder in it.
bool folder_make_in(const char *parent, const char *name, char path[FOLDER_PATH_SIZE]);
// Removes a folder and what is in it, folders in it too, however deep. No link is followed. Says so when it
// stays.
void folder_remove(const char *path);

#endif
