// SPDX-License-Identifier: MIT
//
// Folders of a test's own, and the files in them. POSIX.
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include "cache.h"

enum { SCRATCH_PATH = 300 };

bool scratch_make(char *folder); // [SCRATCH_PATH]
void scratch_remove(const char *folder);
// How many files are in it; the path of the last one in `file` [SCRATCH_PATH].
int scratch_count(const char *folder, char *file);

// By malloc; bytes is NULL where there is no such file.
rope2d_blob scratch_read(const char *path);
void scratch_write(const char *path, const rope2d_blob *data);

#endif
