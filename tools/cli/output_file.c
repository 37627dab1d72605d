// SPDX-License-Identifier: MIT
#if defined(_WIN32) && !defined(_CRT_RAND_S)
#define _CRT_RAND_S // stdlib.h has rand_s
#endif

#include "output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"
#include "unfinished.h"

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <unistd.h>
#endif

static bool fail(struct output_file *output, int error) {
    message("%s: cannot be written: %s", output->path, error ? strerror(error) : "no memory");
    output_file_free(output);
    return false;
}

#ifdef _WIN32

#define PLACEHOLDER ".XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX"
enum { DIGITS = sizeof PLACEHOLDER - 2 };

// The system's random numbers, and a name that is taken is refused. Not every C library there knows fopen's
// "x".
static FILE *open_beside(char *name) {
    char *end = name + strlen(name) - DIGITS;
    for (int i = 0; i < DIGITS; i += 8) {
        unsigned number;
        if (rand_s(&number))
            return NULL;
        snprintf(end + i, 9, "%08x", number);
    }
    int descriptor = _open(name, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
    FILE *file = descriptor >= 0 ? _fdopen(descriptor, "wb") : NULL;
    if (!file && descriptor >= 0)
        (void)_close(descriptor);
    return file;
}

static bool move(const char *from, const char *to) {
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING))
        return true;
    errno = GetLastError() == ERROR_DISK_FULL ? ENOSPC : EACCES;
    return false;
}

#else

#define PLACEHOLDER ".XXXXXX"

// mkstemp's file is its user's alone: an output has the rights that any new file has.
static FILE *open_beside(char *name) {
    int descriptor = mkstemp(name);
    if (descriptor < 0)
        return NULL;
    mode_t mask = umask(0);
    (void)umask(mask);
    FILE *file = fchmod(descriptor, 0666 & ~mask) == 0 ? fdopen(descriptor, "wb") : NULL;
    if (!file) {
        int error = errno;
        (void)close(descriptor);
        (void)unlink(name);
        errno = error;
    }
    return file;
}

static bool move(const char *from, const char *to) {
    return rename(from, to) == 0;
}

#endif

// Beside its place, for nobody but us to know; NULL, and errno.
static FILE *begin(char *beside) {
    unfinished_guard guard;
    unfinished_hold(&guard);
    FILE *file = open_beside(beside);
    if (file)
        unfinished_add(beside);
    int error = errno;
    unfinished_release(&guard);
    errno = error;
    return file;
}

static void forget(struct output_file *output) {
    if (output->beside)
        unfinished_remove(output->beside);
    free(output->beside);
    output->beside = NULL;
}

bool output_file_open(struct output_file *output, const char *path) {
    struct stat found;
    size_t size = strlen(path) + sizeof PLACEHOLDER;
    *output = (struct output_file){.path = path};
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
        message("%s: cannot be written: is there and is not a regular file", path);
        return false;
    }
    char *beside = malloc(size);
    if (!beside)
        return fail(output, 0);
    snprintf(beside, size, "%s" PLACEHOLDER, path);
    errno = 0;
    output->file = begin(beside);
    if (!output->file) {
        int error = errno;
        free(beside);
        return fail(output, error);
    }
    output->beside = beside;
    return true;
}

bool output_file_close(struct output_file *output, bool is_good) {
    int error = is_good ? 0 : errno;
    errno = 0;
    if (is_good && (ferror(output->file) || fflush(output->file) != 0)) {
        is_good = false;
        error = errno ? errno : EIO;
    }
#ifndef _WIN32
    if (is_good && fsync(fileno(output->file)) != 0) {
        is_good = false;
        error = errno;
    }
#endif
    if (fclose(output->file) != 0 && is_good) {
        is_good = false;
        error = errno;
    }
    output->file = NULL;
    return is_good || fail(output, error);
}

bool output_file_place(struct output_file *output) {
    if (!move(output->beside, output->path))
        return fail(output, errno);
    forget(output);
    return true;
}

void output_file_free(struct output_file *output) {
    if (output->file)
        (void)fclose(output->file);
    if (output->beside && remove(output->beside))
        message("%s: stays, since it cannot be removed: %s", output->beside, strerror(errno));
    output->file = NULL;
    forget(output);
}

bool output_file_write(const char *path, const void *bytes, size_t size) {
    struct output_file output;
    if (!output_file_open(&output, path))
        return false;
    errno = 0;
    const bool is_good = fwrite(bytes, 1, size, output.file) == size;
    return output_file_close(&output, is_good) && output_file_place(&output);
}
