// SPDX-License-Identifier: MIT
//
// Calls of rope2d.h on the CPU, in any order, with structs that hold anything. Memory runs out when the input
// says so. At the end nothing of ours is left.
#include "calls.h"
#include "memory.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct reader reader;
    struct memory memory = {0};
    rope2d_device *device = NULL;
    reader_begin(&reader, data, size);
    const rope2d_host host = memory_host(&memory);
    rope2d_device_params params = {.struct_size = reader_struct_size(&reader, sizeof params), .host = &host};
    if (reader_one_in(&reader, 4))
        memory.fail_at = reader_number(&reader);
    params.flags = reader_one_in(&reader, 16) ? (uint32_t)reader_number(&reader)
                                              : reader_below(&reader, 2) * ROPE2D_DEVICE_PORTABLE;
    params.index = reader_one_in(&reader, 64);
    const rope2d_status status = rope2d_device_create(&params, &device);
    FUZZ_PROMISE((status == ROPE2D_OK) == (device != NULL));
    calls_run(&reader, device, &memory);
    rope2d_device_destroy(device);
    reader_end(&reader);
    FUZZ_PROMISE(memory.live == 0 && memory.bytes == 0);
    return 0;
}
