// SPDX-License-Identifier: MIT
//
// NumPy's .npy files, versions 1 to 3: what is read is checked in full before any of it is used, and what is
// written appears under its name only when it is complete.
#ifndef ROPE2D_CLI_NPY_H
#define ROPE2D_CLI_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NPY_MAX_DIMS = 8,
    NPY_MAX_HEADER = 65535, // bytes; version 1 cannot say more, and more is no array of numbers
};

enum npy_status {
    NPY_OK = 0,
    NPY_ERROR_OPEN,       // the file is missing, or not a file, or cannot be read
    NPY_ERROR_MAGIC,      // it does not begin as a .npy does
    NPY_ERROR_VERSION,    // a version of the format that is not known
    NPY_ERROR_HEADER,     // the header is not the dictionary that it must be
    NPY_ERROR_TRUNCATED,  // the file ends before its header or its data
    NPY_ERROR_TRAILING,   // the file goes on after its data
    NPY_ERROR_HUGE,       // the shape overflows, or the header is too long
    NPY_ERROR_BIG_ENDIAN, // bytes in the other order
    NPY_ERROR_FORTRAN,    // stored by columns where rows are asked for
    NPY_ERROR_OBJECT,     // Python objects, which would have to be run to be read
    NPY_ERROR_TYPE,       // elements of a type that is of no use here
    NPY_ERROR_DIMS,       // too many dimensions
    NPY_ERROR_MEMORY,     // the array does not fit in memory
    NPY_ERROR_WRITE,      // the file cannot be written
};

enum npy_type {
    NPY_F32 = 1 << 0,
    NPY_F16 = 1 << 1,
    NPY_U16 = 1 << 2,
    NPY_I32 = 1 << 3,
    NPY_I64 = 1 << 4,
};

struct npy_header {
    enum npy_type type;
    bool fortran_order;
    uint32_t dims;
    uint64_t shape[NPY_MAX_DIMS];
    uint64_t count; // elements
    uint64_t bytes; // of data
};

// Owns its data, which is in the order of rows. All zero is an array that is not there.
struct npy_array {
    struct npy_header header;
    void *data; // not NULL even when there are no elements
};

struct npy_request {
    const char *option; // what the user called it, such as "--q"
    const char *path;
    unsigned types;     // those that are of use, enum npy_type
    bool fortran_order; // accept data stored by columns
};

// The name of a status, such as "NPY_ERROR_FORTRAN".
const char *npy_status_name(enum npy_status status);

// The size of an element, and its name in a header, such as "<f4".
uint64_t npy_type_size(enum npy_type type);
const char *npy_type_name(enum npy_type type);

// Reads a file. A failure says on stderr which file, which field, its value and the limit, and leaves the
// array all zero.
enum npy_status npy_read(const struct npy_request *request, struct npy_array *array);
void npy_free(struct npy_array *array);

// "(1, 35, 2, 64)" into text.
void npy_shape_text(const struct npy_header *header, char *text, size_t size);

// Checks the text of a header (the dictionary) and fills in the rest from it.
enum npy_status npy_parse_header(const struct npy_request *request, const char *string, size_t length,
                                 struct npy_header *header);

struct npy_output {
    const char *path;
    struct npy_header header; // type, dims and shape
    const void *data;
};

// Writes files beside their names and gives them their names when all are complete, so that none is ever
// there in part. A failure says so on stderr and removes what has no name yet.
enum npy_status npy_write(const struct npy_output *outputs, size_t count);

// Says on stderr what is wrong with a file, and returns the status.
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum npy_status
npy_complain(enum npy_status status, const char *option, const char *path, const char *format, ...);

#endif
