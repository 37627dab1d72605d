// SPDX-License-Identifier: MIT
#include "text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/message.h"
#include "escape.h"

#ifdef _WIN32
#include <process.h>
#define process_number _getpid
#else
#include <unistd.h>
#define process_number getpid
#endif

static const size_t LARGEST = (size_t)1 << 30;

static int complain(const char *path, FILE *file) {
    message("%s: %s", path, errno ? strerror(errno) : "cannot be read");
    if (file)
        (void)fclose(file);
    return STATUS_USAGE;
}

int text_file_read(const char *path, char **text) {
    *text = NULL;
    errno = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return complain(path, NULL);
    size_t size = 0, capacity = 1 << 16, got = 1;
    while (got && size < LARGEST) {
        char *larger = realloc(*text, capacity + 1);
        if (!larger)
            break;
        *text = larger;
        got = fread(*text + size, 1, capacity - size, file);
        size += got;
        capacity = size == capacity ? 2 * capacity : capacity;
    }
    if (got || ferror(file)) {
        free(*text);
        *text = NULL;
        return complain(path, file);
    }
    (void)fclose(file);
    (*text)[size] = '\0';
    return STATUS_OK;
}

void text_file_free(char *text) {
    free(text);
}

bool text_file_is_there(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file)
        (void)fclose(file);
    return file != NULL;
}

int text_file_read_json(const char *path, cJSON **json) {
    char *text = NULL;
    *json = NULL;
    int result = text_file_read(path, &text);
    if (result)
        return result;
    *json = cJSON_Parse(text);
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
    size_t size = strlen(path) + 32;
    char *beside = malloc(size);
    if (!beside) {
        message("%s: no memory for its name", path);
        return STATUS_DEVICE;
    }
    snprintf(beside, size, "%s.%ld.part", path, (long)process_number());
    errno = 0;
    FILE *file = fopen(beside, "wb");
    bool good = file != NULL;
    if (file) {
        writer(file, json);
        good = ftell(file) > 0 && !ferror(file);
        good = fclose(file) == 0 && good;
    }
#ifdef _WIN32
    if (good)
        (void)remove(path);
#endif
    good = good && rename(beside, path) == 0;
    if (!good) {
        message("%s: cannot be written: %s", path, errno ? strerror(errno) : "no memory");
        (void)remove(beside);
    }
    free(beside);
    return good ? STATUS_OK : STATUS_USAGE;
}
