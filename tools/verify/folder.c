// SPDX-License-Identifier: MIT
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cli/case.h"
#include "../cli/message.h"
#include "../cli/progress.h"

enum { PATIENCE = 30 }; // seconds, where somebody may add to what is removed

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
    if (golden_case_may_be_there(folder))
        return append(paths, count, folder);
    DIR *directory = opendir(folder);
    if (!directory) {
        message("%s: %s", folder, strerror(errno));
        return STATUS_USAGE;
    }
    int result = STATUS_OK;
    errno = 0;
    for (struct dirent *entry; !result && (entry = readdir(directory)) != NULL; errno = 0) {
        if (*entry->d_name == '.')
            continue;
        if (!join(folder, entry->d_name, path)) {
            message("%s/%s: the path must be shorter than %d characters", folder, entry->d_name,
                    FOLDER_PATH_SIZE);
            result = STATUS_USAGE;
        } else if (golden_case_may_be_there(path)) {
            result = append(paths, count, path);
        }
    }
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

char *folder_whole_path(const char *path) {
    (void)path;
    return NULL;
}

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

char *folder_whole_path(const char *path) {
    return realpath(path, NULL);
}

bool folder_make_own(char path[FOLDER_PATH_SIZE]) {
    const char *where = getenv("TMPDIR");
    if (join(where && *where ? where : "/tmp", "rope2d-XXXXXX", path) && mkdtemp(path))
        return true;
    message("%s: %s", path, strerror(errno));
    return false;
}

bool folder_make_in(const char *parent, const char *name, char path[FOLDER_PATH_SIZE]) {
    if (join(parent, name, path) && mkdir(path, S_IRWXU) == 0)
        return true;
    message("%s/%s: %s", parent, name, strerror(errno));
    return false;
}

static DIR *open_folder(int parent, const char *name) {
    int descriptor = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (!folder && descriptor >= 0)
        (void)close(descriptor);
    return folder;
}

struct removal {
    DIR *top;
    unsigned long lifted; // so many were given a name
    double until;
};

static struct dirent *next_in(DIR *folder, const struct removal *removal) {
    struct dirent *entry;
    do
        entry = seconds_now() < removal->until ? readdir(folder) : NULL;
    while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry;
}

static bool remove_in(int folder, const char *name) {
    return unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

static bool lift(int folder, const char *name, struct removal *removal) {
    char lifted[32];
    int failed;
    do {
        snprintf(lifted, sizeof lifted, "lifted-%lu", removal->lifted++);
        failed = renameat(folder, name, dirfd(removal->top), lifted);
    } while (failed && (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)); // somebody has that name
    return !failed;
}

// Removes what is in a folder of the top; its folders that are not empty go up beside it. So a folder in
// folders takes no more stack, descriptors or path than any other. True when anything went.
static bool clear_folder(DIR *folder, struct removal *removal) {
    bool has_gone = false;
    for (struct dirent *entry; (entry = next_in(folder, removal)) != NULL;)
        has_gone |= remove_in(dirfd(folder), entry->d_name) || lift(dirfd(folder), entry->d_name, removal);
    return has_gone;
}

// What goes up while the top is read may be seen in the next round alone.
static bool clear_top(struct removal *removal) {
    bool has_gone = false;
    int top = dirfd(removal->top);
    rewinddir(removal->top);
    for (struct dirent *entry; (entry = next_in(removal->top, removal)) != NULL;) {
        bool goes = remove_in(top, entry->d_name);
        DIR *folder = goes ? NULL : open_folder(top, entry->d_name);
        if (folder) {
            goes = clear_folder(folder, removal);
            (void)closedir(folder);
            goes |= remove_in(top, entry->d_name);
        }
        has_gone |= goes;
    }
    return has_gone;
}

void folder_remove(const char *path) {
    struct removal removal = {.top = open_folder(AT_FDCWD, path), .until = seconds_now() + PATIENCE};
    if (removal.top) {
        while (clear_top(&removal))
            continue;
        (void)closedir(removal.top);
    }
    // It may have been replaced by a file or a link, or be gone.
    if (rmdir(path) && (errno != ENOTDIR || unlink(path)) && errno != ENOENT)
        message("%s: stays, since it cannot be removed: %s", path, strerror(errno));
}

#endif
