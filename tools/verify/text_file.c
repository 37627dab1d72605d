// SPDX-License-Identifier: MIT
#include "text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../cli/input_file.h"
#include "../cli/json_read.h"
#include "../cli/message.h"
#include "../cli/output_file.h"
#include "escape.h"

static const size_t LARGEST = (size_t)1 << 30;

int text_file_read(const char *path, char **text) {
    size_t length;
    return input_file_read(path, LARGEST, text, &length);
}

void text_file_free(char *text) {
    free(text);
}

bool text_file_is_there(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

int text_file_read_json(const char *path, cJSON **json) {
    char *text = NULL;
    size_t length;
    *json = NULL;
    int result = input_file_read(path, LARGEST, &text, &length);
    if (result)
        return result;
    *json = json_read(text, length, NULL);
    free(text);
    if (*json)
        return STATUS_OK;
    message("%s: is not JSON", path);
    return STATUS_USAGE;
}

char *text_of_json(const cJSON *json, bool has_lines) {
    char *text = has_lines ? cJSON_Print(json) : cJSON_PrintUnformatted(json);
    if (text)
        escape_utf8(text);
    return text;
}

static void write_json(FILE *file, const cJSON *json) {
    char *text = text_of_json(json, true);
    if (text && fputs(text, file) >= 0)
        fputc('\n', file);
    cJSON_free(text);
}

int text_file_write_json(const char *path, const cJSON *json) {
    return text_file_write(path, write_json, json);
}

int text_file_write(const char *path, text_file_writer_fn *writer, const cJSON *json) {
    struct output_file output;
    if (!output_file_open(&output, path))
        return STATUS_USAGE;
    errno = 0;
    writer(output.file, json);
    const bool is_good = ftell(output.file) > 0 && !ferror(output.file);
    return output_file_close(&output, is_good) && output_file_place(&output) ? STATUS_OK : STATUS_USAGE;
}
