// SPDX-License-Identifier: MIT
//
// Tensors in shared virtual memory, on every OpenCL device that has it: the CPU's bits, in place or not, from
// a pointer into a buffer and back; and what other devices and wrong pointers are told.
#define CL_TARGET_OPENCL_VERSION 200
#include "counter.h"
#include "jobs.h"

#include "rope2d/rope2d_opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 19, HEADS = 2, DIM = 32, LEAD = 2, ELEMENTS = TOKENS * HEADS * DIM + 2 * LEAD };
enum { MAX_PLATFORMS = 8, MAX_FOUND = 16, ROOM = 4 * ELEMENTS };

static tally counts;

typedef struct program {
    char name[128];
    captured_log log;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_device_svm_capabilities able;
    rope2d_device *device;
    rope2d_device *cpu;
    rope2d_spec spec;
    float freqs[2][DIM / 2];
    float yx[TOKENS][2];
} program;

#define CHECK(holds)                                                                                         \
    tally_check(&counts, holds, "%s: line %d: %s: %s", own->name, __LINE__, #holds, own->log.text)
#define IS(wanted, call) CHECK((own->log.text[0] = 0, (call)) == (wanted))

typedef struct made {
    rope2d_plan *plan;
    rope2d_positions *positions;
} made;

static made make(program *own, rope2d_device *device, rope2d_element type) {
    made result = {NULL, NULL};
    rope2d_plan_params plan = {.struct_size = sizeof(plan), .spec = &own->spec, .in = type, .out = type};
    rope2d_positions_params positions = {.struct_size = sizeof(positions),
                                         .spec = &own->spec,
                                         .tokens = TOKENS,
                                         .coordinates = &own->yx[0][0]};
    IS(ROPE2D_OK, rope2d_plan_create(device, &plan, &result.plan));
    IS(ROPE2D_OK, rope2d_positions_create(device, &positions, &result.positions));
    return result;
}

static void unmake(made *result) {
    rope2d_plan_destroy(result->plan);
    rope2d_positions_destroy(result->positions);
}

static rope2d_opencl_view pointer_view(void *pointer, uint64_t bytes, uint64_t offset) {
    return (rope2d_opencl_view){.offset = offset,
                                .batch_stride = (int64_t)TOKENS * HEADS * DIM,
                                .token_stride = (int64_t)HEADS * DIM,
                                .head_stride = DIM,
                                .pointer = pointer,
                                .size = bytes};
}

// What the CPU makes of `input`, LEAD elements from the beginning; in place of `expected`.
static void rotate_on_cpu(program *own, rope2d_element type, const void *input, void *expected,
                          size_t bytes) {
    made reference = make(own, own->cpu, type);
    rope2d_tensor tensor = {.heads = HEADS};
    memcpy(expected, input, bytes);
    tensor.in = rope2d_view_contiguous(expected, type, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, DIM);
    tensor.in.size = bytes;
    tensor.in.offset = LEAD * (uint64_t)rope2d_element_size(type);
    const rope2d_apply_params apply = {
        .struct_size = sizeof(apply), .batch = 1, .tokens = TOKENS, .tensor_count = 1, .tensors = &tensor};
    IS(ROPE2D_OK, rope2d_apply(reference.plan, reference.positions, &apply));
    unmake(&reference);
}

// ------------------------------------------------------------------------------------------------ right ones

static void write_shared(program *own, void *pointer, const void *data, size_t bytes, bool fine) {
    if (!fine)
        clEnqueueSVMMap(own->queue, CL_TRUE, CL_MAP_WRITE, pointer, bytes, 0, NULL, NULL);
    memcpy(pointer, data, bytes);
    if (!fine)
        clEnqueueSVMUnmap(own->queue, pointer, 0, NULL, NULL);
}

static void read_shared(program *own, void *pointer, void *data, size_t bytes, bool fine) {
    clFinish(own->queue);
    if (!fine)
        clEnqueueSVMMap(own->queue, CL_TRUE, CL_MAP_READ, pointer, bytes, 0, NULL, NULL);
    memcpy(data, pointer, bytes);
    if (!fine)
        clEnqueueSVMUnmap(own->queue, pointer, 0, NULL, NULL);
    clFinish(own->queue);
}

enum way { IN_PLACE, APART, INTO_A_BUFFER, WAYS };

static void compare(program *own, rope2d_element type, enum way way, bool fine) {
    static unsigned char input[ROOM], expected[ROOM], found[ROOM];
    const enum counter_type types[] = {COUNTER_F32, COUNTER_F16, COUNTER_BF16};
    const uint64_t size = rope2d_element_size(type);
    const size_t bytes = (size_t)size * ELEMENTS;
    const cl_svm_mem_flags flags = CL_MEM_READ_WRITE | (fine ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0);
    unsigned char *in = clSVMAlloc(own->context, flags, bytes, 64);
    unsigned char *out = clSVMAlloc(own->context, flags, bytes, 64);
    cl_mem buffer = clCreateBuffer(own->context, CL_MEM_READ_WRITE, bytes, NULL, NULL);
    made mine = make(own, own->device, type);
    rope2d_opencl_binding *binding = NULL;
    rope2d_opencl_tensor tensor = {.heads = HEADS, .in = pointer_view(in, bytes, LEAD * size)};
    if (way == APART)
        tensor.out = pointer_view(out, bytes, LEAD * size);
    if (way == INTO_A_BUFFER) {
        tensor.out = pointer_view(NULL, 0, LEAD * size);
        tensor.out.memory = buffer;
    }
    rope2d_opencl_binding_params params = {
        .struct_size = sizeof(params), .batch = 1, .tokens = TOKENS, .tensor_count = 1, .tensors = &tensor};
    counter_fill(input, types[type], COUNTER_UNIFORM, 3, 9, 0, ELEMENTS);
    rotate_on_cpu(own, type, input, expected, bytes);
    if (CHECK(in && out && buffer)) {
        write_shared(own, in, input, bytes, fine);
        write_shared(own, out, input, bytes, fine);
        clEnqueueWriteBuffer(own->queue, buffer, CL_TRUE, 0, bytes, input, 0, NULL, NULL);
        IS(ROPE2D_OK, rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        IS(ROPE2D_OK, rope2d_opencl_enqueue(binding, own->queue, 0, TOKENS, 0, NULL, NULL));
        if (way == INTO_A_BUFFER)
            clEnqueueReadBuffer(own->queue, buffer, CL_TRUE, 0, bytes, found, 0, NULL, NULL);
        else
            read_shared(own, way == APART ? out : in, found, bytes, fine);
        CHECK(memcmp(found, expected, bytes) == 0);
    }
    rope2d_opencl_binding_destroy(binding);
    unmake(&mine);
    clReleaseMemObject(buffer);
    clSVMFree(own->context, in);
    clSVMFree(own->context, out);
}

// ------------------------------------------------------------------------------------------------ wrong ones

static void check_refusals(program *own) {
    static float somewhere[ROOM / 4 + 16];
    const size_t bytes = sizeof(float) * ELEMENTS;
    unsigned char *base = (unsigned char *)somewhere;
    base += 64 - (uintptr_t)base % 64;
    made mine = make(own, own->device, ROPE2D_F32);
    rope2d_opencl_binding *binding = NULL;
    rope2d_opencl_tensor tensor = {.heads = HEADS, .in = pointer_view(base, bytes, 0)};
    rope2d_opencl_binding_params params = {
        .struct_size = sizeof(params), .batch = 1, .tokens = TOKENS, .tensor_count = 1, .tensors = &tensor};
    if (own->able == 0) {
        IS(ROPE2D_ERROR_UNSUPPORTED,
           rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        CHECK(strstr(own->log.text, "shared virtual memory"));
        counts.skipped++;
        printf("%s: no shared virtual memory\n", own->name);
    } else {
        tensor.in.pointer = base + 8;
        IS(ROPE2D_ERROR_TENSOR_ALIGNMENT,
           rope2d_opencl_binding_create(mine.plan, mine.positions, &params, &binding));
        tensor.in = pointer_view(base, bytes, 0);
        tensor.in.size = sizeof(float) * TOKENS * HEADS * DIM - 1;
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
    unmake(&mine);
}

// --------------------------------------------------------------------------------------------------- devices

static bool start(program *own, cl_device_id id) {
    rope2d_host host = captured_host(&own->log);
    rope2d_device_params cpu = {.struct_size = sizeof(cpu), .host = &host};
    char version[128] = "";
    own->id = id;
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof(own->name) - 1, own->name, NULL);
    clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof(version) - 1, version, NULL);
    if (version[7] >= '2' &&
        clGetDeviceInfo(id, CL_DEVICE_SVM_CAPABILITIES, sizeof(own->able), &own->able, NULL) != CL_SUCCESS)
        own->able = 0;
    own->context = clCreateContext(NULL, 1, &id, NULL, NULL, NULL);
    own->queue = clCreateCommandQueueWithProperties(own->context, id, NULL, NULL);
    for (int i = 0; i < DIM / 2; i++)
        own->freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (int t = 0; t < TOKENS; t++) {
        own->yx[t][0] = (float)(t / 5);
        own->yx[t][1] = (float)(t % 5);
    }
    own->spec = (rope2d_spec){.struct_size = sizeof(own->spec),
                              .head_dim = DIM,
                              .axes = 2,
                              .pairing = ROPE2D_PAIRING_HALF,
                              .freqs = &own->freqs[0][0]};
    const rope2d_opencl_device_params adopted = {
        .struct_size = sizeof(adopted), .context = own->context, .device = id, .host = &host};
    IS(ROPE2D_OK, rope2d_device_create(&cpu, &own->cpu));
    IS(ROPE2D_OK, rope2d_opencl_device_adopt(&adopted, &own->device));
    return CHECK(own->context && own->queue && own->cpu && own->device);
}

static void check_device(cl_device_id id) {
    static program here;
    program *own = &here;
    memset(own, 0, sizeof(*own));
    if (start(own, id)) {
        check_refusals(own);
        for (unsigned i = 0; i < 3 * WAYS; i++) {
            if (own->able & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)
                compare(own, (rope2d_element)(i / WAYS), (enum way)(i % WAYS), false);
            if (own->able & CL_DEVICE_SVM_FINE_GRAIN_BUFFER)
                compare(own, (rope2d_element)(i / WAYS), (enum way)(i % WAYS), true);
        }
    }
    rope2d_device_destroy(own->device);
    rope2d_device_destroy(own->cpu);
    clReleaseCommandQueue(own->queue);
    clReleaseContext(own->context);
}

int main(void) {
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_device_id ids[MAX_FOUND];
    cl_uint platform_count = 0, count = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &platform_count) != CL_SUCCESS)
        platform_count = 0;
    for (cl_uint p = 0; p < platform_count && p < MAX_PLATFORMS; p++) {
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_FOUND, ids, &count) != CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < count && i < MAX_FOUND; i++)
            check_device(ids[i]);
    }
    if (counts.passed + counts.failed == 0)
        counts.skipped++;
    return tally_finish(&counts);
}
