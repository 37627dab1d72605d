// SPDX-License-Identifier: MIT
#include "place.h"

#include "target.h"

#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];

static bool is_listed(const char *name, const char *const *names) {
    for (; names && *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static void clean(const char *path, const char *const *names, int depth) {
    char inside[1024];
    struct stat found;
    DIR *open = depth < 8 ? opendir(path) : NULL;
    for (struct dirent *entry = open ? readdir(open) : NULL; entry; entry = readdir(open)) {
        const int length = snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            is_listed(entry->d_name, names) || length < 0 || (size_t)length >= sizeof inside ||
            lstat(inside, &found) != 0)
            continue;
        if (S_ISDIR(found.st_mode)) {
            clean(inside, NULL, depth + 1);
            (void)rmdir(inside);
        } else {
            (void)unlink(inside);
        }
    }
    if (open)
        closedir(open);
}

static void leave(void) {
    clean(folder, NULL, 0);
    (void)rmdir(folder);
}

void place_make(void) {
    const char *where = getenv("TMPDIR");
    if (!where || !where[0])
        where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%.200s/rope2d-fuzz-XXXXXX", where);
    FUZZ_PROMISE(mkdtemp(folder) != NULL);
    FUZZ_PROMISE(chdir(folder) == 0);
    FUZZ_PROMISE(atexit(leave) == 0);
}

void place_write(const char *name, const void *data, size_t size) {
    FILE *file = fopen(name, "wb");
    FUZZ_PROMISE(file && (size == 0 || fwrite(data, 1, size, file) == size));
    FUZZ_PROMISE(fclose(file) == 0);
}

void place_clean(const char *const *names) {
    clean(".", names, 0);
}
