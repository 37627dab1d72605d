// SPDX-License-Identifier: MIT
#ifndef ROPE2D_CLI_EMIT_H
#define ROPE2D_CLI_EMIT_H

#include <stddef.h>

// What tools/emit/emit.py collects at build time. The list ends with an entry without a name.
struct emit_file {
    const char *name; // within the folder, with forward slashes
    const unsigned char *data;
    size_t size; // bytes
};
extern const struct emit_file emit_files[];

#endif
