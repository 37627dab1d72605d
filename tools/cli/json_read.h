// SPDX-License-Identifier: MIT
#ifndef ROPE2D_CLI_JSON_READ_H
#define ROPE2D_CLI_JSON_READ_H

#include <cjson/cJSON.h>
#include <stddef.h>

// One JSON value, behind which only white space may follow. The text ends with a zero byte, which size does
// not count, and has none before. NULL for anything else, and then `wrong`, unless it is NULL, points to the
// place in the text. cJSON_Delete frees the value.
cJSON *json_read(const char *text, size_t size, const char **wrong);

#endif
