// SPDX-License-Identifier: MIT
#include "scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool scratch_make(char *folder) {
    const char *base = getenv("TMPDIR");
    snprintf(folder, SCRATCH_PATH, "%.250s/rope2d_test_XXXXXX", base && base[0] ? base : "/tmp");
    return mkdtemp(folder) != NULL;
}

static int each(const char *folder, char *file, bool remove_them) {
    int count = 0;
    DIR *open = opendir(folder);
    for (struct dirent *entry = open ? readdir(open) : NULL; entry; entry = readdir(open)) {
        if (entry->d_name[0] == '.')
            continue;
        count++;
        if (snprintf(file, SCRATCH_PATH, "%.150s/%.140s", folder, entry->d_name) > 0 && remove_them)
            unlink(file);
    }
    if (open)
        closedir(open);
    return count;
}

int scratch_count(const char *folder, char *file) {
    return each(folder, file, false);
}

void scratch_remove(const char *folder) {
    char file[SCRATCH_PATH];
    each(folder, file, true);
    rmdir(folder);
}

rope2d_blob scratch_read(const char *path) {
    rope2d_blob data = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return data;
    fseek(file, 0, SEEK_END);
    data.size = (uint64_t)ftell(file);
    rewind(file);
    data.bytes = malloc((size_t)data.size + 1);
    if (data.bytes)
        data.size = fread(data.bytes, 1, (size_t)data.size, file);
    fclose(file);
    return data;
}

void scratch_write(const char *path, const rope2d_blob *data) {
    FILE *file = fopen(path, "wb");
    if (!file)
        return;
    fwrite(data->bytes, 1, (size_t)data->size, file);
    fclose(file);
}
