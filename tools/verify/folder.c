// SPDX-License-Identifier: MIT
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/case.h"
#include "../cli/message.h"

static bool join(const char *folder, const char *name, char path[FOLDER_PATH_SIZE]) {
    int used = snprintf(path, FOLDER_PATH_SIZE, "%s/%s", folder, name);
    return used >= 0 && used < FOLDER_PATH_SIZE;
}

static int append(char ***paths, size_t *count, const char *path) {
    char **larger = realloc(*paths, (*count + 1) * sizeof *larger);
    size_t size = strlen(path) + 1;
    char *copy = larger ? malloc(size) : NULL;
    if (larger)
        *paths = larger;
    if (!copy) {
        message("no memory for the list of cases");
        return STATUS_DEVICE;
    }
    memcpy(copy, path, size);
    (*paths)[(*count)++] = copy;
    return STATUS_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int folder_find_cases(const char *folder, char ***paths, size_t *count) {
    char path[FOLDER_PATH_SIZE];
    *paths = NULL;
    *count = 0;
    if (golden_case_is_there(folder))
        return append(paths, count, folder);
    DIR *directory = opendir(folder);
    if (!directory) {
        message("%s: %s", folder, strerror(errno));
        return STATUS_USAGE;
    }
    int result = STATUS_OK;
    errno = 0;
    for (struct dirent *entry; !result && (entry = readdir(directory)) != NULL; errno = 0)
        if (*entry->d_name != '.' && join(folder, entry->d_name, path) && golden_case_is_there(path))
            result = append(paths, count, path);
    if (!result && errno) { // of readdir: what it did not list would not be run
        message("%s: %s", folder, strerror(errno));
        result = STATUS_USAGE;
    }
    closedir(directory);
    if (!result && !*count) {
        message("%s: holds no case.json, nor does a folder in it", folder);
        return STATUS_USAGE;
    }
    if (*count)
        qsort(*paths, *count, sizeof **paths, by_name);
    return result;
}

void folder_free_cases(char **paths, size_t count) {
    for (size_t i = 0; i < count; ++i)
        free(paths[i]);
    free(paths);
}

const char *folder_name(const char *path) {
    const char *name = path;
    for (; *path; ++path)
        if (*path == '/' && path[1] && path[1] != '/')
            name = path + 1;
    return name;
}

#ifdef _WIN32

bool folder_make_own(char path[FOLDER_PATH_SIZE]) {
    (void)path;
    return false;
}

bool folder_make_in(const char *parent, const char *name, char path[FOLDER_PATH_SIZE]) {
    (void)parent, (void)name, (void)path;
    return false;
}

void folder_remove(const char *path) {
    (void)path;
}

#else

bool folder_make_own(char path[FOLDER_PATH_SIZE]) {
    const char *where = getenv("TMPDIR");
    return join(where && *where ? where : "/tmp", "rope2d-XXXXXX", path) && mkdtemp(path) != NULL;
}

bool folder_make_in(const char *parent, const char *name, char path[FOLDER_PATH_SIZE]) {
    return join(parent, name, path) && mkdir(path, S_IRWXU) == 0;
}

void folder_remove(const char *path) {
    char inside[FOLDER_PATH_SIZE];
    struct stat found;
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            !join(path, entry->d_name, inside) || lstat(inside, &found))
            continue;
        if (S_ISDIR(found.st_mode))
            folder_remove(inside);
        else
            (void)unlink(inside);
    }
    if (directory)
        closedir(directory);
    (void)rmdir(path);
}

#endif
