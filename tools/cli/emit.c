// SPDX-License-Identifier: MIT
//
// Kernels for engines that vendor them instead of linking the library.
#include "emit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#include <direct.h>
#else
#include <sys/stat.h>
#endif

#include "message.h"
#include "output_file.h"
#include "verbs.h"

enum { PATH_SIZE = 4096 };

static bool make_folder(const char *path) {
#ifdef _WIN32
    const bool made = _mkdir(path) == 0;
#else
    const bool made = mkdir(path, 0777) == 0;
#endif
    return made || errno == EEXIST;
}

// The folders of a path, from the one at `first` on.
static bool make_folders(char *path, size_t first) {
    for (char *slash = strchr(path + first, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = make_folder(path);
        *slash = '/';
        if (!made)
            return false;
    }
    return true;
}

static bool write_file(const char *folder, const struct emit_file *file) {
    char path[PATH_SIZE];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, file->name);
    errno = ENAMETOOLONG;
    const bool written = length > 0 && (size_t)length < sizeof path && make_folders(path, strlen(folder));
    if (!written)
        message("%.*s: cannot be written: %s", length < 200 ? length : 200, path, strerror(errno));
    return written && output_file_write(path, file->data, file->size);
}

static int run(int argc, char **argv) {
    bool list = false;
    const struct option options[] = {
        {.name = "list", .help = "print the names of the files and write none", .flag = &list},
        {0},
    };
    int operands;
    enum options_result parsed = options_parse(&verb_emit, options, argc, argv, &operands);
    if (parsed != OPTIONS_OK)
        return parsed == OPTIONS_HELP ? STATUS_OK : STATUS_USAGE;
    if (operands != (list ? 0 : 1)) {
        message(list ? "emit --list takes no folder" : "emit takes one folder");
        return STATUS_USAGE;
    }
    size_t count = 0;
    for (const struct emit_file *file = emit_files; file->name; ++file, ++count) {
        if (list)
            printf("%-40s %zu bytes\n", file->name, file->size);
        else if (!write_file(argv[0], file))
            return STATUS_USAGE;
    }
    if (!list)
        printf("%zu files in %s; kernels.json describes them\n", count, argv[0]);
    return STATUS_OK;
}

const struct verb verb_emit = {
    .name = "emit",
    .usage = "FOLDER",
    .summary = "kernels and table builder, to vendor",
    .description = "Writes into the folder, which is made where it is not there: the SPIR-V modules, the "
                   "OpenCL C kernel, the\n"
                   "include files for shaders of your own, kernels.json with bindings, constants and the "
                   "words that kernels\n"
                   "are told, and table/, C sources that build cos/sin tables with the library's bits.",
    .run = run,
};
