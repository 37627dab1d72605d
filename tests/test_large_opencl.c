// SPDX-License-Identifier: MIT
//
// Tensors beyond byte 2^32 of a caller's buffer, of 5 GiB of host memory of which few pages are ever touched:
// the CPU's bits, and nothing else is written, least of all 2^32 bytes before.
#include "opencl_program.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { GUARD = 4096, ROOM = 4 * ELEMENTS + 2 * GUARD };

static const uint64_t boundary = (uint64_t)1 << 32, all_bytes = (uint64_t)5 << 30;

static rope2d_opencl_view view_at(cl_mem memory, uint64_t offset) {
    return (rope2d_opencl_view){.memory = memory,
                                .offset = offset,
                                .batch_stride = (int64_t)TOKENS * HEADS * DIM,
                                .token_stride = (int64_t)HEADS * DIM,
                                .head_stride = DIM};
}

// The bytes around an offset; where a truncated one would lie there are zeros before and after.
static bool is_zero(program *own, cl_mem memory, uint64_t offset) {
    static unsigned char found[ROOM], zeros[ROOM];
    const uint64_t from = offset % boundary / GUARD * GUARD;
    if (offset < boundary)
        return true;
    memset(found, 1, sizeof(found));
    clEnqueueReadBuffer(own->ordered, memory, CL_TRUE, from, ROOM, found, 0, NULL, NULL);
    return memcmp(found, zeros, ROOM) == 0;
}

static void compare(program *own, cl_mem memory, rope2d_element type, uint64_t in_at, uint64_t out_at) {
    static unsigned char before[ROOM], expected[ROOM], found[ROOM];
    const enum counter_type types[] = {COUNTER_F32, COUNTER_F16, COUNTER_BF16};
    const size_t bytes = (size_t)ELEMENTS * rope2d_element_size(type);
    const bool in_place = in_at == out_at;
    objects mine = program_make(own, own->device, type, ROPE2D_TABLE_AUTO);
    rope2d_opencl_binding *binding = NULL;
    rope2d_opencl_tensor tensor = {.heads = HEADS, .in = view_at(memory, in_at)};
    if (!in_place)
        tensor.out = view_at(memory, out_at);
    const rope2d_opencl_binding_params params = {.struct_size = sizeof(params),
                                                 .batch = BATCH,
                                                 .tokens = TOKENS,
                                                 .tensor_count = 1,
                                                 .tensors = &tensor};
    memset(before, 0xa5, ROOM);
    counter_fill(before + GUARD, types[type], COUNTER_UNIFORM, 5, 1, 0, ELEMENTS);
    memcpy(expected, before, ROOM);
    program_rotate_on_cpu(own, type, expected + GUARD);
    clEnqueueWriteBuffer(own->ordered, memory, CL_TRUE, out_at - GUARD, bytes + 2 * GUARD, before, 0, NULL,
                         NULL);
    clEnqueueWriteBuffer(own->ordered, memory, CL_TRUE, in_at - GUARD, bytes + 2 * GUARD, before, 0, NULL,
                         NULL);
    IS(ROPE2D_OK, rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
    IS(ROPE2D_OK, rope2d_opencl_enqueue(binding, own->ordered, 0, TOKENS, 0, NULL, NULL));
    clEnqueueReadBuffer(own->ordered, memory, CL_TRUE, out_at - GUARD, bytes + 2 * GUARD, found, 0, NULL,
                        NULL);
    CHECK(memcmp(found, expected, bytes + 2 * GUARD) == 0);
    clEnqueueReadBuffer(own->ordered, memory, CL_TRUE, in_at - GUARD, bytes + 2 * GUARD, found, 0, NULL,
                        NULL);
    CHECK(in_place || memcmp(found, before, bytes + 2 * GUARD) == 0);
    CHECK(is_zero(own, memory, in_at) && is_zero(own, memory, out_at));
    rope2d_opencl_binding_destroy(binding);
    program_unmake(&mine);
}

static void compare_all(program *own, cl_mem memory) {
    const uint64_t far = boundary + ((uint64_t)1 << 29);
    for (int type = 0; type < 3; type++) {
        const uint64_t odd = (uint64_t)LEAD * rope2d_element_size((rope2d_element)type);
        compare(own, memory, (rope2d_element)type, far, far);
        compare(own, memory, (rope2d_element)type, far + odd, boundary + 64 * GUARD);
        compare(own, memory, (rope2d_element)type, boundary - 2 * GUARD + odd, far + 64 * GUARD);
    }
}

static void check_device(cl_device_id id) {
    static program made_here;
    program *own = &made_here;
    cl_ulong most = 0;
    if (!program_start(own, id))
        return;
    const rope2d_opencl_device_params params = {
        .struct_size = sizeof(params), .context = own->context, .device = id, .host = &own->host};
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *host = mmap(NULL, all_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    clGetDeviceInfo(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most), &most, NULL);
    cl_mem memory =
        most < all_bytes || host == MAP_FAILED
            ? NULL
            : clCreateBuffer(own->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, all_bytes, host, NULL);
    if (!memory) {
        printf("%s: buffers have %llu bytes at most\n", own->name, (unsigned long long)most);
        counts.skipped++;
    } else {
        IS(ROPE2D_OK, rope2d_opencl_device_adopt(&params, &own->device));
        compare_all(own, memory);
        rope2d_device_destroy(own->device);
        clReleaseMemObject(memory);
    }
    program_stop(own);
    if (host != MAP_FAILED)
        (void)munmap(host, all_bytes);
}

int main(void) {
    return program_each(check_device);
}
