// SPDX-License-Identifier: MIT
#include "npy.h"

#include "progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_OUTPUTS = 4 };

static enum npy_status failed(const char *path, const char *what) {
    return npy_complain(NPY_ERROR_WRITE, "output", path, "%s: %s", what, strerror(errno));
}

// A name beside the output's, so that the renaming stays within one file system.
static char *temporary_name(const char *path) {
    size_t size = strlen(path) + 40;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s.%ld.part", path, (long)getpid());
    return name;
}

static bool write_header(FILE *file, const struct npy_header *header) {
    char text[400], shape[200];
    npy_shape_text(header, shape, sizeof shape);
    int used = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                        npy_type_name(header->type), shape);
    // The data begins at a multiple of 64 bytes, and the header ends with a newline.
    size_t length = ((size_t)used + 1 + 10 + 63) / 64 * 64 - 10;
    memset(text + used, ' ', length - (size_t)used - 1);
    text[length - 1] = '\n';
    unsigned char begin[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(length & 255), (unsigned char)(length >> 8)};
    return fwrite(begin, 1, sizeof begin, file) == sizeof begin && fwrite(text, 1, length, file) == length;
}

static bool write_data(FILE *file, const void *data, uint64_t bytes) {
    enum { PIECE = 1 << 24 };
    struct progress progress;
    uint64_t done = 0;
    progress_begin(&progress, "writing", bytes);
    while (done < bytes) {
        size_t piece = bytes - done < PIECE ? (size_t)(bytes - done) : PIECE;
        if (fwrite((const char *)data + done, 1, piece, file) != piece)
            break;
        done += piece;
        progress_add(&progress, piece);
    }
    progress_end(&progress);
    return done == bytes;
}

static enum npy_status write_temporary(const struct npy_output *output, const char *name) {
    struct stat found;
    if (stat(output->path, &found) == 0 && !S_ISREG(found.st_mode))
        return npy_complain(NPY_ERROR_WRITE, "output", output->path, "is there and is not a regular file");
    FILE *file = fopen(name, "wbx");
    if (!file)
        return failed(output->path, "cannot be created");
    uint64_t bytes = npy_type_size(output->header.type);
    for (uint32_t i = 0; i < output->header.dims; ++i)
        bytes *= output->header.shape[i];
    bool is_written = write_header(file, &output->header) && write_data(file, output->data, bytes) &&
                      fflush(file) == 0 && fsync(fileno(file)) == 0;
    int error = errno;
    is_written &= fclose(file) == 0;
    if (is_written)
        return NPY_OK;
    (void)remove(name);
    errno = error;
    return failed(output->path, "cannot be written");
}

enum npy_status npy_write(const struct npy_output *outputs, size_t count) {
    char *names[MOST_OUTPUTS] = {NULL};
    size_t written = 0, renamed = 0;
    enum npy_status status = NPY_OK;
    for (; written < count && !status; written += !status) {
        names[written] = temporary_name(outputs[written].path);
        status = names[written] ? write_temporary(&outputs[written], names[written])
                                : failed(outputs[written].path, "no memory for its name");
    }
    for (; renamed < written && !status; renamed += !status)
        if (rename(names[renamed], outputs[renamed].path) != 0)
            status = failed(outputs[renamed].path, "cannot be renamed");
    for (size_t i = renamed; i < written; ++i)
        (void)remove(names[i]);
    for (size_t i = 0; i < MOST_OUTPUTS; ++i)
        free(names[i]);
    return status;
}
