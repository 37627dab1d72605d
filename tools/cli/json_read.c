// SPDX-License-Identifier: MIT
#include "json_read.h"

#include <string.h>

cJSON *json_read(const char *text, size_t size, const char **wrong) {
    const size_t length = strlen(text);
    const char *end = text + length;
    // For cJSON a zero byte is white space, too.
    cJSON *json = length == size ? cJSON_ParseWithLengthOpts(text, size + 1, &end, 1) : NULL;
    if (wrong)
        *wrong = json ? NULL : end;
    return json;
}
