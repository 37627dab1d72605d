// SPDX-License-Identifier: MIT
//
// A .npy file, as the command line reads it. The first byte of the input is how it is asked for, and whether
// the rest is the file, or what stands behind the length of its header, which is then right.
#include "place.h"
#include "target.h"

#include "tools/cli/npy.h"

#include <stdbool.h>
#include <string.h>

static void check(const struct npy_array *array) {
    const struct npy_header *header = &array->header;
    uint64_t count = 1;
    FUZZ_PROMISE(header->dims <= NPY_MAX_DIMS && array->data);
    for (uint32_t i = 0; i < header->dims; i++)
        count *= header->shape[i];
    FUZZ_PROMISE(count == header->count && header->bytes == count * npy_type_size(header->type));
    unsigned sum = 0;
    for (uint64_t i = 0; i < header->bytes; i++)
        sum += ((const unsigned char *)array->data)[i];
    FUZZ_PROMISE(sum <= header->bytes * 255);
}

static void write_file(const uint8_t *data, size_t size, bool is_whole) {
    static uint8_t bytes[1 << 13] = "\x93NUMPY\x01";
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    const size_t length = newline ? (size_t)(newline - data) + 1 : size;
    if (is_whole || size > sizeof bytes - 10) {
        place_write("q.npy", data, size);
        return;
    }
    bytes[8] = (uint8_t)length;
    bytes[9] = (uint8_t)(length >> 8);
    if (size)
        memcpy(bytes + 10, data, size);
    place_write("q.npy", bytes, size + 10);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int is_made;
    struct npy_request request = {.option = "--q", .path = "q.npy", .types = NPY_F32 | NPY_F16};
    struct npy_array array, again;
    if (!is_made++)
        place_make();
    if (size == 0)
        return 0;
    request.types = (data[0] & 1 ? NPY_F32 | NPY_F16 : 0) | (data[0] & 2 ? NPY_U16 | NPY_I32 | NPY_I64 : 0);
    request.fortran_order = (data[0] & 4) != 0;
    write_file(data + 1, size - 1, (data[0] & 8) == 0);
    const enum npy_status status = npy_read(&request, &array);
    FUZZ_PROMISE(*npy_status_name(status) == 'N');
    if (status != NPY_OK) {
        FUZZ_PROMISE(!array.data && array.header.dims == 0);
        return 0;
    }
    check(&array);
    // What was read can be written and read again.
    const struct npy_output output = {"again.npy", array.header, array.data};
    request.path = "again.npy";
    FUZZ_PROMISE(npy_write(&output, 1) == NPY_OK && npy_read(&request, &again) == NPY_OK);
    FUZZ_PROMISE(again.header.bytes == array.header.bytes &&
                 memcmp(again.data, array.data, (size_t)array.header.bytes) == 0);
    npy_free(&again);
    npy_free(&array);
    return 0;
}
