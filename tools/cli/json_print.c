// SPDX-License-Identifier: MIT
#include "json_print.h"

#include "message.h"

#include <stdio.h>

int json_print(cJSON *json) {
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    if (!text) {
        message("no memory for the JSON");
        return STATUS_DEVICE;
    }
    puts(text);
    cJSON_free(text);
    return STATUS_OK;
}
