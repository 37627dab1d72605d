// SPDX-License-Identifier: MIT
//
// Kernels' sources read from disk, for people who edit them.
#ifndef ROPE2D_FILE_H
#define ROPE2D_FILE_H

#include "internal.h"

// The file's bytes and a NUL that *size does not count, or NULL. Release with *size + 1.
char *rope2d_file_read(const rope2d_host *host, const char *path, uint64_t *size);

#endif
