// SPDX-License-Identifier: MIT
#include "output_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "output_file.h"

#ifdef _WIN32
static const char SEPARATORS[] = "/\\";
#else
static const char SEPARATORS[] = "/";
#endif

static const char *name_of(const char *path) {
    const char *name = path;
    for (const char *at = path; *at; ++at)
        if (strchr(SEPARATORS, *at))
            name = at + 1;
    return name;
}

// Where the system numbers files; Windows' C library gives each a zero.
static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_ino && a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

static bool stat_folder(const char *path, struct stat *found) {
    size_t length = (size_t)(name_of(path) - path);
    char *folder = malloc(length + 2);
    if (!folder)
        return false;
    snprintf(folder, length + 2, "%.*s", (int)(length ? length : 1), length ? path : ".");
    bool is_there = stat(folder, found) == 0;
    free(folder);
    return is_there;
}

static bool is_one_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    if (strcmp(a, b) == 0)
        return true;
    if (stat(a, &of_a) == 0 && stat(b, &of_b) == 0)
        return is_same(&of_a, &of_b);
    return strcmp(name_of(a), name_of(b)) == 0 && stat_folder(a, &of_a) && stat_folder(b, &of_b) &&
           is_same(&of_a, &of_b);
}

static int check_pair(const struct named_path *output, const struct named_path *other) {
    bool is_kept = other->is_input && output->kept && strcmp(output->kept, other->path) == 0;
    if (is_kept || !is_one_file(output->path, other->path))
        return STATUS_OK;
    message("%s %s: is the file that %s %s", output->option, output->path, other->option,
            other->is_input ? "reads" : "writes");
    return STATUS_USAGE;
}

static int check_folder(const char *path) {
    struct output_file output;
    if (!output_file_open(&output, path))
        return STATUS_USAGE;
    output_file_free(&output);
    return STATUS_OK;
}

int output_check(const struct named_path *paths, size_t count) {
    int result = STATUS_OK;
    for (size_t i = 0; i < count && !result; ++i) {
        if (paths[i].is_input || !paths[i].path)
            continue;
        for (size_t j = 0; j < count && !result; ++j)
            if (paths[j].path && (j < i || (paths[j].is_input && j != i)))
                result = check_pair(&paths[i], &paths[j]);
        if (!result)
            result = check_folder(paths[i].path);
    }
    return result;
}
