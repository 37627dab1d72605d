// SPDX-License-Identifier: MIT
#include "input_file.h"

#include <errno.h>
#include <string.h>

#ifdef _WIN32

FILE *input_file_open(const char *path, const char **why) {
    FILE *file = fopen(path, "rb");
    *why = file ? NULL : strerror(errno);
    return file;
}

#else

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *input_file_open(const char *path, const char **why) {
    struct stat found;
    FILE *file = NULL;
    // A pipe is opened at once, a terminal does not become ours.
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *why = NULL;
    if (descriptor >= 0 && fstat(descriptor, &found) == 0) {
        if (S_ISDIR(found.st_mode))
            errno = EISDIR;
        else if (!S_ISREG(found.st_mode))
            *why = "is not a regular file";
        else
            file = fdopen(descriptor, "rb");
    }
    if (file)
        return file;
    if (!*why)
        *why = strerror(errno);
    if (descriptor >= 0)
        (void)close(descriptor);
    return NULL;
}

#endif
