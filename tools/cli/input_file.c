// SPDX-License-Identifier: MIT
#include "input_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

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

// NULL: errno says why, or there is more.
static char *read_whole(FILE *file, size_t largest, size_t *length) {
    char *text = NULL;
    size_t capacity = 1 << 16, got = 1;
    *length = 0;
    errno = 0;
    while (got && *length <= largest) {
        char *larger = realloc(text, capacity + 1);
        if (!larger)
            break;
        text = larger;
        got = fread(text + *length, 1, capacity - *length, file);
        *length += got;
        capacity = *length == capacity ? 2 * capacity : capacity;
    }
    if (!got && !ferror(file) && *length <= largest) {
        text[*length] = '\0';
        return text;
    }
    if (!errno)
        errno = EIO;
    free(text);
    return NULL;
}

int input_file_read(const char *path, size_t largest, char **text, size_t *length) {
    const char *why;
    FILE *file = input_file_open(path, &why);
    *text = NULL;
    if (file) {
        *text = read_whole(file, largest, length);
        why = strerror(errno);
        (void)fclose(file);
    }
    if (*text)
        return STATUS_OK;
    if (file && *length > largest)
        message("%s: must have at most %zu bytes", path, largest);
    else
        message("%s: %s", path, why);
    return STATUS_USAGE;
}
