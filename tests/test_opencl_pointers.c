// SPDX-License-Identifier: MIT
//
// Tensors in shared virtual memory, on every OpenCL device that has it: the CPU's bits, in place or not, from
// a pointer into a buffer and back; and what other devices and wrong pointers are told.
#define CL_TARGET_OPENCL_VERSION 200
#include "opencl_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4 * (ELEMENTS + 2 * LEAD) };

static cl_device_svm_capabilities able; // of the device

static objects make(program *own, rope2d_device *device, rope2d_element type) {
    return program_make(own, device, type, ROPE2D_TABLE_AUTO);
}

static rope2d_opencl_view pointer_view(void *pointer, uint64_t bytes, uint64_t offset) {
    return (rope2d_opencl_view){.offset = offset,
                                .batch_stride = (int64_t)TOKENS * HEADS * DIM,
                                .token_stride = (int64_t)HEADS * DIM,
                                .head_stride = DIM,
                                .pointer = pointer,
                                .size = bytes};
}

// ------------------------------------------------------------------------------------------------ right ones

static void write_shared(program *own, void *pointer, const void *data, size_t bytes, bool fine) {
    if (!fine)
        clEnqueueSVMMap(own->ordered, CL_TRUE, CL_MAP_WRITE, pointer, bytes, 0, NULL, NULL);
    memcpy(pointer, data, bytes);
    if (!fine)
        clEnqueueSVMUnmap(own->ordered, pointer, 0, NULL, NULL);
}

static void read_shared(program *own, void *pointer, void *data, size_t bytes, bool fine) {
    clFinish(own->ordered);
    if (!fine)
        clEnqueueSVMMap(own->ordered, CL_TRUE, CL_MAP_READ, pointer, bytes, 0, NULL, NULL);
    memcpy(data, pointer, bytes);
    if (!fine)
        clEnqueueSVMUnmap(own->ordered, pointer, 0, NULL, NULL);
    clFinish(own->ordered);
}

enum way { IN_PLACE, APART, INTO_A_BUFFER, WAYS };

static void compare(program *own, rope2d_element type, enum way way, bool fine) {
    static unsigned char input[ROOM], expected[ROOM], found[ROOM];
    const enum counter_type types[] = {COUNTER_F32, COUNTER_F16, COUNTER_BF16};
    const uint64_t size = rope2d_element_size(type);
    const size_t bytes = (size_t)size * (ELEMENTS + 2 * LEAD);
    const cl_svm_mem_flags flags = CL_MEM_READ_WRITE | (fine ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0);
    unsigned char *in = clSVMAlloc(own->context, flags, bytes, 64);
    unsigned char *out = clSVMAlloc(own->context, flags, bytes, 64);
    cl_mem buffer = clCreateBuffer(own->context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    objects mine = make(own, own->device, type);
    rope2d_opencl_binding *binding = NULL;
    rope2d_opencl_tensor tensor = {.heads = HEADS, .in = pointer_view(in, bytes, LEAD * size)};
    if (way == APART)
        tensor.out = pointer_view(out, bytes, LEAD * size);
    if (way == INTO_A_BUFFER) {
        tensor.out = pointer_view(NULL, 0, LEAD * size);
        tensor.out.memory = buffer;
    }
    rope2d_opencl_binding_params params = {.struct_size = sizeof(params),
                                           .batch = BATCH,
                                           .tokens = TOKENS,
                                           .tensor_count = 1,
                                           .tensors = &tensor};
    counter_fill(input, types[type], COUNTER_UNIFORM, 3, 9, 0, ELEMENTS + 2 * LEAD);
    memcpy(expected, input, bytes);
    program_rotate_on_cpu(own, type, expected + LEAD * size);
    if (CHECK(in && out && buffer)) {
        write_shared(own, in, input, bytes, fine);
        write_shared(own, out, input, bytes, fine);
        clEnqueueWriteBuffer(own->ordered, buffer, CL_TRUE, 0, bytes, input, 0, NULL, NULL);
        IS(ROPE2D_OK, rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        IS(ROPE2D_OK, rope2d_opencl_enqueue(binding, own->ordered, 0, TOKENS, 0, NULL, NULL));
        if (way == INTO_A_BUFFER)
            clEnqueueReadBuffer(own->ordered, buffer, CL_TRUE, 0, bytes, found, 0, NULL, NULL);
        else
            read_shared(own, way == APART ? out : in, found, bytes, fine);
        CHECK(memcmp(found, expected, bytes) == 0);
    }
    rope2d_opencl_binding_destroy(binding);
    program_unmake(&mine);
    clReleaseMemObject(buffer);
    clSVMFree(own->context, in);
    clSVMFree(own->context, out);
}

// ------------------------------------------------------------------------------------------------ wrong ones

static void check_refusals(program *own) {
    static float somewhere[ROOM / 4 + 16];
    const size_t bytes = sizeof(float) * (ELEMENTS + 2 * LEAD);
    unsigned char *base = (unsigned char *)somewhere;
    base += 64 - (uintptr_t)base % 64;
    objects mine = make(own, own->device, ROPE2D_F32);
    rope2d_opencl_binding *binding = NULL;
    rope2d_opencl_tensor tensor = {.heads = HEADS, .in = pointer_view(base, bytes, 0)};
    rope2d_opencl_binding_params params = {.struct_size = sizeof(params),
                                           .batch = BATCH,
                                           .tokens = TOKENS,
                                           .tensor_count = 1,
                                           .tensors = &tensor};
    if (able == 0) {
        IS(ROPE2D_ERROR_UNSUPPORTED,
           rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        CHECK(strstr(own->log.text, "tensors[0].in is a pointer") &&
              strstr(own->log.text, "shared virtual memory"));
        counts.skipped++;
        printf("%s: no shared virtual memory\n", own->name);
    } else {
        tensor.in.pointer = base + 8;
        IS(ROPE2D_ERROR_TENSOR_ALIGNMENT,
           rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        CHECK(strstr(own->log.text, "tensors[0].in.pointer is 8 bytes past"));
        tensor.in = pointer_view(base, bytes, 0);
        tensor.in.size = sizeof(float) * ELEMENTS - 1;
        IS(ROPE2D_ERROR_TENSOR_SIZE,
           rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        tensor.in.size = UINT64_MAX;
        IS(ROPE2D_ERROR_TENSOR_SIZE,
           rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        tensor.in = pointer_view(base, bytes, 0);
        tensor.out = pointer_view(base + 16, bytes - 16, 0);
        tensor.out.size = tensor.in.size;
        IS(ROPE2D_ERROR_OVERLAP, rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        tensor.in.memory = clCreateBuffer(own->context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
        IS(ROPE2D_ERROR_MISMATCH, rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        clReleaseMemObject(tensor.in.memory);
    }
    CHECK(binding == NULL);
    program_unmake(&mine);
}

// --------------------------------------------------------------------------------------------------- devices

static bool start(program *own, cl_device_id id) {
    char version[128] = "";
    able = 0;
    if (!program_start(own, id))
        return false;
    clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof(version) - 1, version, NULL);
    if (version[7] >= '2' &&
        clGetDeviceInfo(id, CL_DEVICE_SVM_CAPABILITIES, sizeof(able), &able, NULL) != CL_SUCCESS)
        able = 0;
    const rope2d_opencl_device_params adopted = {
        .struct_size = sizeof(adopted), .context = own->context, .device = id, .host = &own->host};
    IS(ROPE2D_OK, rope2d_opencl_device_adopt(&adopted, &own->device));
    return CHECK(own->device);
}

static void check_device(cl_device_id id) {
    static program here;
    program *own = &here;
    if (start(own, id)) {
        check_refusals(own);
        for (unsigned i = 0; i < 3 * WAYS; i++) {
            if (able & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)
                compare(own, (rope2d_element)(i / WAYS), (enum way)(i % WAYS), false);
            if (able & CL_DEVICE_SVM_FINE_GRAIN_BUFFER)
                compare(own, (rope2d_element)(i / WAYS), (enum way)(i % WAYS), true);
        }
    }
    rope2d_device_destroy(own->device);
    program_stop(own);
}

int main(void) {
    return program_each(check_device);
}
