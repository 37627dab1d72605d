// SPDX-License-Identifier: MIT
#include "npy.h"

#include "output_file.h"
#include "progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_OUTPUTS = 4 };

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

// Into a file that has no name yet.
static bool write_beside(const struct npy_output *output, struct output_file *file) {
    uint64_t bytes = npy_type_size(output->header.type);
    for (uint32_t i = 0; i < output->header.dims; ++i)
        bytes *= output->header.shape[i];
    if (!output_file_open(file, output->path))
        return false;
    errno = 0;
    return output_file_close(file, write_header(file->file, &output->header) &&
                                       write_data(file->file, output->data, bytes));
}

enum npy_status npy_write(const struct npy_output *outputs, size_t count) {
    struct output_file files[MOST_OUTPUTS];
    bool is_good = true;
    memset(files, 0, sizeof files);
    for (size_t i = 0; i < count && is_good; ++i)
        is_good = write_beside(&outputs[i], &files[i]);
    for (size_t i = 0; i < count && is_good; ++i)
        is_good = output_file_place(&files[i]);
    for (size_t i = 0; i < MOST_OUTPUTS; ++i)
        output_file_free(&files[i]);
    return is_good ? NPY_OK : NPY_ERROR_WRITE;
}
