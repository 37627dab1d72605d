// SPDX-License-Identifier: MIT
//
// A case of somebody's model, which is checked on the CPU, as `rope2d check` does. The first bytes of the
// input say how the shapes of its arrays differ from a small case's of our own; the rest is case.json.
#include "place.h"
#include "target.h"

#include "tools/cli/check_case.h"
#include "tools/cli/npy.h"

#include <string.h>

enum { SHAPE_BYTES = 12, MOST_LENGTH = 16, MOST_VALUES = 1 << 12 };

static rope2d_device *device;

// A byte of the input changes a length to another small one.
static void write_array(const char *path, const uint8_t *bytes, uint8_t count, const uint64_t *shape) {
    static float values[MOST_VALUES];
    struct npy_output output = {path, {.type = NPY_F32, .dims = count}, values};
    uint64_t product = 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t length = shape[i] ^ bytes[i] % MOST_LENGTH;
        output.header.shape[i] = product * length <= MOST_VALUES ? length : 1;
        product *= output.header.shape[i];
    }
    for (size_t i = 0; i < product; i++)
        values[i] = (float)(i % 5) / 4;
    FUZZ_PROMISE(npy_write(&output, 1) == NPY_OK);
}

static void write_arrays(const uint8_t *bytes) {
    static const uint64_t tensor[] = {1, 4, 2, 8}, merged[] = {1, 4, 16}, freqs[] = {2, 2, 1, 4},
                          shared[] = {2, 1, 4}, positions[] = {4, 2};
    static const char *const tensors[] = {"q.npy", "k.npy", "q_out.npy", "k_out.npy"};
    static uint8_t last[SHAPE_BYTES];
    static bool is_written;
    if (is_written && memcmp(last, bytes, sizeof last) == 0)
        return;
    memcpy(last, bytes, sizeof last);
    is_written = true;
    for (size_t i = 0; i < 4; i++)
        if (bytes[0] & 1)
            write_array(tensors[i], bytes + 1, 3, merged);
        else
            write_array(tensors[i], bytes + 1, 4, tensor);
    if (bytes[0] & 2)
        write_array("freqs.npy", bytes + 5, 4, freqs);
    else
        write_array("freqs.npy", bytes + 5, 3, shared);
    write_array("positions.npy", bytes + 9, 2, positions);
    write_array("positions_k.npy", bytes + 9, 2, positions);
}

static void make(void) {
    const rope2d_device_params params = {.struct_size = sizeof params};
    place_make();
    FUZZ_PROMISE(rope2d_device_create(&params, &device) == ROPE2D_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct golden_case golden;
    struct rotated rotated = {{NULL}};
    struct outcome outcome;
    if (size < SHAPE_BYTES)
        return 0;
    if (!device)
        make();
    write_arrays(data);
    place_write("case.json", data + SHAPE_BYTES, size - SHAPE_BYTES);
    if (golden_case_read(".", &golden) == 0) {
        check_case(&golden, device, ROPE2D_TABLE_AUTO, NULL, &rotated, &outcome);
        FUZZ_PROMISE(memchr(outcome.text, 0, sizeof outcome.text));
        rotated_free(&rotated);
    }
    golden_case_free(&golden);
    return 0;
}
