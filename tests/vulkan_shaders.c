// SPDX-License-Identifier: MIT
#include "vulkan_shaders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const files[] = {"rope2d.comp", "core.h",       "vector.h", "tiles.h",  "turns.h",
                                    "words.h",     "arithmetic.h", "shape.h",  "element.h"};

bool vulkan_shaders_copy(const char *folder, const char *from, const char *to) {
    const char *root = getenv("ROPE2D_SOURCE_ROOT");
    char path[2048];
    char line[1024];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s/shaders/%s", root ? root : ".", files[i]);
        FILE *in = fopen(path, "r");
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        FILE *out = fopen(path, "w");
        while (in && out && fgets(line, sizeof(line), in))
            fputs(from && strncmp(line, from, strlen(from)) == 0 ? to : line, out);
        bool good = in && out;
        if (in)
            (void)fclose(in);
        if (out)
            good = fclose(out) == 0 && good;
        if (!good)
            return false;
    }
    return true;
}

void vulkan_shaders_remove(const char *folder) {
    char path[2048];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
        (void)remove(path);
    }
    rmdir(folder);
}
