// SPDX-License-Identifier: MIT
#include "output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

static bool fail(struct output_file *output, int error) {
    message("%s: cannot be written: %s", output->path, error ? strerror(error) : "no memory");
    output_file_free(output);
    return false;
}

#ifdef _WIN32

static FILE *open_beside(char *name) {
    for (unsigned attempt = 0; attempt < 16; ++attempt) {
        snprintf(name + strlen(name) - 6, 7, "%06x", ((unsigned)_getpid() * 16 + attempt) & 0xffffffu);
        FILE *file = fopen(name, "wbx");
        if (file)
            return file;
    }
    return NULL;
}

#else

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

#endif

bool output_file_open(struct output_file *output, const char *path) {
    struct stat found;
    size_t size = strlen(path) + 8;
    *output = (struct output_file){.path = path};
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode)) {
        message("%s: cannot be written: is there and is not a regular file", path);
        return false;
    }
    char *beside = malloc(size);
    if (!beside)
        return fail(output, 0);
    snprintf(beside, size, "%s.XXXXXX", path);
    errno = 0;
    output->file = open_beside(beside);
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
#ifdef _WIN32
    (void)remove(output->path);
#endif
    if (rename(output->beside, output->path) != 0)
        return fail(output, errno);
    free(output->beside);
    output->beside = NULL;
    return true;
}

void output_file_free(struct output_file *output) {
    if (output->file)
        (void)fclose(output->file);
    if (output->beside)
        (void)remove(output->beside);
    free(output->beside);
    output->file = NULL;
    output->beside = NULL;
}

bool output_file_write(const char *path, const void *bytes, size_t size) {
    struct output_file output;
    if (!output_file_open(&output, path))
        return false;
    errno = 0;
    const bool is_good = fwrite(bytes, 1, size, output.file) == size;
    return output_file_close(&output, is_good) && output_file_place(&output);
}
