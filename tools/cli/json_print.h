// SPDX-License-Identifier: MIT
#ifndef ROPE2D_CLI_JSON_PRINT_H
#define ROPE2D_CLI_JSON_PRINT_H

#include <cjson/cJSON.h>

// Prints the JSON, which it deletes, on stdout, and returns the exit status.
int json_print(cJSON *json);

#endif
