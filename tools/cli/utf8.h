// SPDX-License-Identifier: MIT
#ifndef ROPE2D_CLI_UTF8_H
#define ROPE2D_CLI_UTF8_H

#include <stddef.h>
#include <stdint.h>

// The length of the valid character that begins here, which may be the text's end; 0 for none.
size_t utf8_length(const unsigned char *at, uint32_t *code);

#endif
