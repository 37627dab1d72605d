// SPDX-License-Identifier: MIT
#include "npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADER 4096
#define MAX_BYTES  ((size_t)1 << 30)

static bool fail(const char **reason, const char *text) {
    *reason = text;
    return false;
}

static bool parse_type(const char *header, struct npy_array *array) {
    static const struct {
        const char *name;
        enum npy_type type;
        size_t size;
    } types[] = {{"'<f4'", NPY_F4, 4}, {"'<f2'", NPY_F2, 2}, {"'<u2'", NPY_U2, 2}};
    const char *at = strstr(header, "'descr':");
    if (at == NULL)
        return false;
    at += strlen("'descr':");
    at += strspn(at, " ");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strncmp(at, types[i].name, strlen(types[i].name)) == 0) {
            array->type = types[i].type;
            array->element_size = types[i].size;
            return true;
        }
    }
    return false;
}

static bool parse_shape(const char *header, struct npy_array *array) {
    const char *at = strstr(header, "'shape':");
    at = at == NULL ? NULL : strchr(at, '(');
    if (at == NULL)
        return false;
    array->elements = 1;
    for (at++; *at != ')'; at += strspn(at, " ,")) {
        char *end = NULL;
        unsigned long long size = strtoull(at, &end, 10);
        if (end == at || array->dimensions == NPY_MAX_DIMENSIONS || size > MAX_BYTES)
            return false;
        if (size != 0 && array->elements > MAX_BYTES / size)
            return false;
        array->shape[array->dimensions++] = (size_t)size;
        array->elements *= (size_t)size;
        at = end;
    }
    return true;
}

static bool read_header(FILE *file, char *header, const char **reason) {
    unsigned char start[12];
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0)
        return fail(reason, "not a .npy file");
    size_t length = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, file) != 2)
            return fail(reason, "the header is cut off");
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length >= MAX_HEADER)
        return fail(reason, "the header is longer than 4095 bytes");
    if (fread(header, 1, length, file) != length)
        return fail(reason, "the header is cut off");
    header[length] = '\0';
    return true;
}

// Reorders data stored by columns: the last index, and not the first, is to change fastest.
static bool to_row_order(struct npy_array *array, const char **reason) {
    char *sorted = malloc(array->elements * array->element_size + 1);
    if (sorted == NULL)
        return fail(reason, "out of memory");
    for (size_t i = 0; i < array->elements; i++) {
        size_t rest = i;
        size_t from = 0;
        size_t stride = array->elements;
        for (size_t d = array->dimensions; d-- > 0;) {
            stride /= array->shape[d];
            from += rest % array->shape[d] * stride;
            rest /= array->shape[d];
        }
        memcpy(sorted + i * array->element_size, (char *)array->data + from * array->element_size,
               array->element_size);
    }
    free(array->data);
    array->data = sorted;
    return true;
}

static bool read_array(FILE *file, struct npy_array *array, const char **reason) {
    char header[MAX_HEADER];
    uint16_t probe = 1;
    if (*(unsigned char *)&probe != 1)
        return fail(reason, "this host is not little-endian");
    if (!read_header(file, header, reason))
        return false;
    if (!parse_type(header, array))
        return fail(reason, "the type is none of <f4, <f2, <u2");
    if (!parse_shape(header, array))
        return fail(reason, "the shape is not understood");
    size_t bytes = array->elements * array->element_size;
    array->data = malloc(bytes + 1);
    if (array->data == NULL)
        return fail(reason, "out of memory");
    if (fread(array->data, 1, bytes, file) != bytes || fgetc(file) != EOF)
        return fail(reason, "the data does not have the size of the shape");
    if (strstr(header, "'fortran_order': True") != NULL)
        return to_row_order(array, reason);
    return true;
}

bool npy_read(const char *path, struct npy_array *array, const char **reason) {
    memset(array, 0, sizeof(*array));
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return fail(reason, "cannot be opened");
    bool done = read_array(file, array, reason);
    (void)fclose(file);
    if (!done)
        npy_free(array);
    return done;
}

void npy_free(struct npy_array *array) {
    free(array->data);
    memset(array, 0, sizeof(*array));
}
