// SPDX-License-Identifier: MIT
#include "npy.h"

#include "input_file.h"
#include "message.h"
#include "progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the data of .npy files is read as it lies, which needs a little-endian machine"
#endif

const char *npy_status_name(enum npy_status status) {
    static const char *const names[] = {
        "NPY_OK",
        "NPY_ERROR_OPEN",
        "NPY_ERROR_MAGIC",
        "NPY_ERROR_VERSION",
        "NPY_ERROR_HEADER",
        "NPY_ERROR_TRUNCATED",
        "NPY_ERROR_TRAILING",
        "NPY_ERROR_HUGE",
        "NPY_ERROR_BIG_ENDIAN",
        "NPY_ERROR_FORTRAN",
        "NPY_ERROR_OBJECT",
        "NPY_ERROR_TYPE",
        "NPY_ERROR_DIMS",
        "NPY_ERROR_MEMORY",
        "NPY_ERROR_WRITE",
    };
    return names[status];
}

enum npy_status npy_complain(enum npy_status status, const char *option, const char *path, const char *format,
                             ...) {
    char detail[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    message("%s %s: %s [%s]", option, path, detail, npy_status_name(status));
    return status;
}

static enum npy_status read_bytes(const struct npy_request *request, FILE *file, void *bytes, size_t size) {
    if (fread(bytes, 1, size, file) == size)
        return NPY_OK;
    return npy_complain(NPY_ERROR_TRUNCATED, request->option, request->path,
                        "the file ends inside its header");
}

// The text of the header; the caller frees it.
static enum npy_status read_header_text(const struct npy_request *request, FILE *file, char **text,
                                        size_t *length) {
    const char *option = request->option, *path = request->path;
    unsigned char begin[12];
    enum npy_status status = read_bytes(request, file, begin, 8);
    if (status)
        return status;
    if (memcmp(begin, "\x93NUMPY", 6) != 0)
        return npy_complain(NPY_ERROR_MAGIC, option, path, "does not begin as a .npy file does");
    unsigned version = begin[6];
    if (version < 1 || version > 3 || begin[7] != 0)
        return npy_complain(NPY_ERROR_VERSION, option, path, "version is %u.%u: must be 1.0, 2.0 or 3.0",
                            version, begin[7]);
    size_t width = version == 1 ? 2 : 4;
    status = read_bytes(request, file, begin + 8, width);
    if (status)
        return status;
    *length = 0;
    for (size_t i = width; i-- > 0;)
        *length = *length << 8 | begin[8 + i];
    if (*length > NPY_MAX_HEADER)
        return npy_complain(NPY_ERROR_HUGE, option, path, "the header is %zu bytes long: must be at most %d",
                            *length, NPY_MAX_HEADER);
    *text = malloc(*length + 1);
    if (!*text)
        return npy_complain(NPY_ERROR_MEMORY, option, path, "no memory for a header of %zu bytes", *length);
    return read_bytes(request, file, *text, *length);
}

static enum npy_status check_size(const struct npy_request *request, FILE *file,
                                  const struct npy_header *header) {
    struct stat found;
    off_t begin = ftello(file);
    char shape[200];
    npy_shape_text(header, shape, sizeof shape);
    if (begin < 0 || fstat(fileno(file), &found) != 0 || !S_ISREG(found.st_mode))
        return npy_complain(NPY_ERROR_OPEN, request->option, request->path, "is not a regular file");
    uint64_t there = found.st_size > begin ? (uint64_t)(found.st_size - begin) : 0;
    if (there < header->bytes)
        return npy_complain(NPY_ERROR_TRUNCATED, request->option, request->path,
                            "shape %s of '%s' needs %" PRIu64 " bytes of data, but the file has %" PRIu64,
                            shape, npy_type_name(header->type), header->bytes, there);
    if (there > header->bytes)
        return npy_complain(NPY_ERROR_TRAILING, request->option, request->path,
                            "shape %s of '%s' has %" PRIu64
                            " bytes of data, but the file goes on to %" PRIu64,
                            shape, npy_type_name(header->type), header->bytes, there);
    return NPY_OK;
}

static enum npy_status read_data(const struct npy_request *request, FILE *file, struct npy_array *array) {
    enum { PIECE = 1 << 24 };
    struct progress progress;
    uint64_t bytes = array->header.bytes, done = 0;
    array->data = bytes < SIZE_MAX ? malloc((size_t)bytes + 1) : NULL;
    if (!array->data)
        return npy_complain(NPY_ERROR_MEMORY, request->option, request->path,
                            "no memory for %" PRIu64 " bytes of data", bytes);
    progress_begin(&progress, "reading", bytes);
    while (done < bytes) {
        size_t piece = bytes - done < PIECE ? (size_t)(bytes - done) : PIECE;
        if (fread((char *)array->data + done, 1, piece, file) != piece)
            break;
        done += piece;
        progress_add(&progress, piece);
    }
    progress_end(&progress);
    if (done < bytes)
        return npy_complain(NPY_ERROR_TRUNCATED, request->option, request->path,
                            "the file ended after %" PRIu64 " of %" PRIu64 " bytes of data", done, bytes);
    return NPY_OK;
}

// Where the element at `index` of an array in the order of rows lies in one stored by columns.
static uint64_t column_index(const struct npy_header *header, uint64_t index) {
    uint64_t coordinates[NPY_MAX_DIMS] = {0}, stored = 0;
    for (uint32_t i = header->dims; i-- > 0; index /= header->shape[i])
        coordinates[i] = index % header->shape[i];
    for (uint32_t i = header->dims; i-- > 0;)
        stored = stored * header->shape[i] + coordinates[i];
    return stored;
}

static enum npy_status order_by_rows(const struct npy_request *request, struct npy_array *array) {
    uint64_t size = npy_type_size(array->header.type);
    char *ordered = calloc((size_t)array->header.count + 1, (size_t)size);
    if (!ordered)
        return npy_complain(NPY_ERROR_MEMORY, request->option, request->path,
                            "no memory for %" PRIu64 " bytes of data", array->header.bytes);
    const char *stored = array->data;
    for (uint64_t i = 0; stored && i < array->header.count; ++i)
        memcpy(ordered + i * size, stored + column_index(&array->header, i) * size, (size_t)size);
    free(array->data);
    array->data = ordered;
    return NPY_OK;
}

enum npy_status npy_read(const struct npy_request *request, struct npy_array *array) {
    char *text = NULL;
    size_t length = 0;
    *array = (struct npy_array){0};
    const char *why;
    FILE *file = input_file_open(request->path, &why);
    if (!file)
        return npy_complain(NPY_ERROR_OPEN, request->option, request->path, "%s", why);
    enum npy_status status = read_header_text(request, file, &text, &length);
    if (!status)
        status = npy_parse_header(request, text, length, &array->header);
    if (!status)
        status = check_size(request, file, &array->header);
    if (!status)
        status = read_data(request, file, array);
    if (!status && array->header.fortran_order)
        status = order_by_rows(request, array);
    free(text);
    (void)fclose(file);
    if (status)
        npy_free(array);
    return status;
}

void npy_free(struct npy_array *array) {
    free(array->data);
    *array = (struct npy_array){0};
}
