// SPDX-License-Identifier: MIT
#include "expected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES 4096

struct line {
    char hash[65];
    char name[HARNESS_HASH_NAME_SIZE];
};

struct harness_expected {
    size_t count;
    struct line lines[MAX_LINES];
};

struct harness_expected *harness_expected_load(const char *path) {
    FILE *file = fopen(path, "r");
    struct harness_expected *expected = calloc(1, sizeof(*expected));
    char text[256];
    while (file != NULL && expected != NULL && expected->count < MAX_LINES &&
           fgets(text, sizeof(text), file) != NULL) {
        struct line *line = &expected->lines[expected->count];
        if (text[0] == '#')
            continue;
        size_t length = strcspn(text, "\r\n");
        if (length < 67 || length - 66 >= sizeof(line->name))
            continue;
        memcpy(line->hash, text, 64);
        memcpy(line->name, text + 66, length - 66);
        expected->count++;
    }
    if (file == NULL) {
        free(expected);
        return NULL;
    }
    (void)fclose(file);
    return expected;
}

void harness_expected_free(struct harness_expected *expected) {
    free(expected);
}

const char *harness_expected_find(const struct harness_expected *expected, const char *name) {
    for (size_t i = 0; i < expected->count; i++)
        if (strcmp(expected->lines[i].name, name) == 0)
            return expected->lines[i].hash;
    return NULL;
}
