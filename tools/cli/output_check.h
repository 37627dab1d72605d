// SPDX-License-Identifier: MIT
//
// What can be told of a command line's outputs before hours of work: that two of them are one file, or one of
// them what another option reads, and that a folder cannot be written to.
#ifndef ROPE2D_CLI_OUTPUT_CHECK_H
#define ROPE2D_CLI_OUTPUT_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct named_path {
    const char *option; // "--json", or "FILE"
    const char *path;   // NULL: not given
    bool is_input;
    const char *kept; // of an output: the path that it may take the place of, an input's; NULL: none
};

// STATUS_OK, or STATUS_USAGE having said on stderr which options and which path.
int output_check(const struct named_path *paths, size_t count);

#endif
