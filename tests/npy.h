// SPDX-License-Identifier: MIT
// Reads the .npy files of the golden cases, for tests. It is not the command line's reader and shares nothing
// with it.
#ifndef TEST_NPY_H
#define TEST_NPY_H

#include <stdbool.h>
#include <stddef.h>

#define NPY_MAX_DIMENSIONS 8

enum npy_type {
    NPY_F4,
    NPY_F2,
    NPY_U2,
};

struct npy_array {
    enum npy_type type;
    size_t element_size;
    size_t dimensions;
    size_t shape[NPY_MAX_DIMENSIONS];
    size_t elements;
    void *data; // row order, also where the file is stored by columns
};

// False on failure, with *reason set to a text that lives forever, and the array empty.
bool npy_read(const char *path, struct npy_array *array, const char **reason);

// Frees the data. Accepts an array of zeros.
void npy_free(struct npy_array *array);

#endif
