// SPDX-License-Identifier: MIT
#include "file.h"

#include <stdio.h>

#define MOST_BYTES (16 * 1024 * 1024)

static char *read_open(const rope2d_host *host, FILE *file, uint64_t *size) {
    if (fseek(file, 0, SEEK_END) != 0)
        return NULL;
    long bytes = ftell(file);
    if (bytes < 0 || bytes > MOST_BYTES || fseek(file, 0, SEEK_SET) != 0)
        return NULL;
    char *text = rope2d_allocate(host, (uint64_t)bytes + 1, 1);
    if (text == NULL)
        return NULL;
    if (fread(text, 1, (size_t)bytes, file) != (size_t)bytes) {
        rope2d_release(host, text, (uint64_t)bytes + 1, 1);
        return NULL;
    }
    *size = (uint64_t)bytes;
    return text;
}

char *rope2d_file_read(const rope2d_host *host, const char *path, uint64_t *size) {
    *size = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = read_open(host, file, size);
    (void)fclose(file);
    return text;
}
