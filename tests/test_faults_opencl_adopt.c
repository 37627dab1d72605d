// SPDX-License-Identifier: MIT
//
// A program that owns OpenCL, whose driver fails at each call in turn and whose memory at each request:
// adopting, plans, positions, bindings, enqueues and caches say so, leave nothing over, and work when they
// are asked once more. Takes the path of opencl_shim.
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "opencl_faults.h"

#include "rope2d/rope2d_opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 6, HEADS = 2, DIM = 16, ELEMENTS = TOKENS * HEADS * DIM, BYTES = ELEMENTS * 4, MOST = 8 };

static tally counts;

// The program's, made once: what it does itself goes past the shim.
static struct program {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_mem memory; // holds q, and k in a sub-buffer
    cl_mem k;
    float *pointer; // shared virtual memory, or NULL
    float input[ELEMENTS];
    float freqs[2][DIM / 2];
    float yx[TOKENS][2];
    unsigned char *cache; // NULL: lives do without
    uint64_t cache_size;
} own;

// Once, and once more where it failed. The first failure is the life's.
#define STEP(call)                                                                                           \
    do {                                                                                                     \
        rope2d_status step = (call);                                                                         \
        if (step != ROPE2D_OK && status == ROPE2D_OK) {                                                      \
            status = step;                                                                                   \
            step = (call);                                                                                   \
        }                                                                                                    \
        if (step != ROPE2D_OK)                                                                               \
            goto end;                                                                                        \
    } while (0)

static void fill_memory(void) {
    clEnqueueWriteBuffer(own.queue, own.memory, CL_TRUE, 0, BYTES, own.input, 0, NULL, NULL);
    clEnqueueWriteBuffer(own.queue, own.k, CL_TRUE, 0, BYTES, own.input, 0, NULL, NULL);
    if (own.pointer) {
        clEnqueueSVMMap(own.queue, CL_TRUE, CL_MAP_WRITE, own.pointer, BYTES, 0, NULL, NULL);
        memcpy(own.pointer, own.input, BYTES);
        clEnqueueSVMUnmap(own.queue, own.pointer, 0, NULL, NULL);
    }
    clFinish(own.queue);
}

static bool keep_result(job_result *result) {
    result->size = (size_t)(own.pointer ? 3 : 2) * BYTES;
    result->bytes = calloc(1, result->size);
    if (!result->bytes)
        return false;
    clFinish(own.queue);
    clEnqueueReadBuffer(own.queue, own.memory, CL_TRUE, 0, BYTES, result->bytes, 0, NULL, NULL);
    clEnqueueReadBuffer(own.queue, own.k, CL_TRUE, 0, BYTES, result->bytes + BYTES, 0, NULL, NULL);
    if (own.pointer) {
        clEnqueueSVMMap(own.queue, CL_TRUE, CL_MAP_READ, own.pointer, BYTES, 0, NULL, NULL);
        memcpy(result->bytes + (size_t)2 * BYTES, own.pointer, BYTES);
        clEnqueueSVMUnmap(own.queue, own.pointer, 0, NULL, NULL);
        clFinish(own.queue);
    }
    return true;
}

static rope2d_opencl_view view_of(cl_mem memory, float *pointer) {
    return (rope2d_opencl_view){
        .memory = memory, .token_stride = HEADS * DIM, .head_stride = DIM, .pointer = pointer, .size = BYTES};
}

static rope2d_status enqueue(rope2d_opencl_binding *binding) {
    cl_event event = NULL;
    const rope2d_status status = rope2d_opencl_enqueue(binding, own.queue, 0, TOKENS, 0, NULL, &event);
    tally_check(&counts, (status == ROPE2D_OK) == (event != NULL), "an event and %s",
                rope2d_status_name(status));
    if (event) {
        clWaitForEvents(1, &event);
        clReleaseEvent(event);
    }
    return status;
}

// The bytes of the device's cache, which the program throws away.
static rope2d_status get_cache(rope2d_device *device) {
    uint64_t size = 0;
    rope2d_status status = rope2d_device_get_cache(device, NULL, &size);
    unsigned char *bytes = status == ROPE2D_OK ? malloc((size_t)size + 1) : NULL;
    if (bytes)
        status = rope2d_device_get_cache(device, bytes, &size);
    free(bytes);
    return status;
}

static rope2d_status live(const life *way, const rope2d_host *host, job_result *result) {
    const rope2d_opencl_device_params owned = {.struct_size = sizeof(owned),
                                               .context = own.context,
                                               .device = own.id,
                                               .host = host,
                                               .queue = own.queue};
    const rope2d_spec spec = {
        .struct_size = sizeof(spec), .head_dim = DIM, .axes = 2, .freqs = &own.freqs[0][0]};
    const rope2d_plan_params types = {
        .struct_size = sizeof(types), .spec = &spec, .table = way->job.table, .flags = way->plan_flags};
    const rope2d_positions_params line = {.struct_size = sizeof(line),
                                          .spec = &spec,
                                          .table = way->job.table,
                                          .tokens = TOKENS,
                                          .coordinates = &own.yx[0][0]};
    const rope2d_opencl_tensor tensors[3] = {{.heads = HEADS, .in = view_of(own.memory, NULL)},
                                             {.heads = HEADS, .in = view_of(own.k, NULL)},
                                             {.heads = HEADS, .in = view_of(NULL, own.pointer)}};
    const rope2d_opencl_binding_params params = {.struct_size = sizeof(params),
                                                 .batch = 1,
                                                 .tokens = TOKENS,
                                                 .tensor_count = own.pointer ? 3 : 2,
                                                 .tensors = tensors};
    rope2d_status status = ROPE2D_OK;
    rope2d_device *device = NULL;
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    rope2d_opencl_binding *binding = NULL;
    fill_memory();
    STEP(rope2d_opencl_device_adopt(&owned, &device));
    if (way->spare)
        STEP(rope2d_device_set_cache(device, own.cache, own.cache_size));
    STEP(rope2d_prewarm(device, &types, 1));
    STEP(rope2d_plan_create(device, &types, &plan));
    STEP(rope2d_positions_create(device, &line, &positions));
    STEP(rope2d_opencl_binding_create(plan, positions, &params, &binding));
    STEP(enqueue(binding));
    STEP(get_cache(device));
    keep_result(result);
end:
    rope2d_opencl_binding_destroy(binding);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    rope2d_device_destroy(device);
    return status;
}

// ------------------------------------------------------------------------------------------------ the
// program

static bool start(void) {
    cl_platform_id platforms[MOST];
    cl_uint count = 0;
    cl_device_svm_capabilities able = 0;
    char version[128] = "";
    if (clGetPlatformIDs(MOST, platforms, &count) != CL_SUCCESS)
        return false;
    for (cl_uint i = 0; i < count && i < MOST && !own.id; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &own.id, NULL) != CL_SUCCESS)
            own.id = NULL;
    if (!own.id)
        return false;
    own.context = clCreateContext(NULL, 1, &own.id, NULL, NULL, NULL);
    own.queue = clCreateCommandQueue(own.context, own.id, 0, NULL);
    own.memory = clCreateBuffer(own.context, CL_MEM_READ_WRITE, 4096 + BYTES, NULL, NULL);
    const cl_buffer_region region = {4096, BYTES};
    own.k = clCreateSubBuffer(own.memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
    clGetDeviceInfo(own.id, CL_DEVICE_VERSION, sizeof(version) - 1, version, NULL);
    if (version[7] >= '2')
        clGetDeviceInfo(own.id, CL_DEVICE_SVM_CAPABILITIES, sizeof(able), &able, NULL);
    if (able & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)
        own.pointer = clSVMAlloc(own.context, CL_MEM_READ_WRITE, BYTES, 64);
    for (int i = 0; i < ELEMENTS; i++)
        own.input[i] = 0.25f * (float)(i % 31) - 3;
    for (int i = 0; i < DIM / 2; i++)
        own.freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (int t = 0; t < TOKENS; t++) {
        own.yx[t][0] = (float)(t / 3);
        own.yx[t][1] = (float)(t % 3);
    }
    return own.context && own.queue && own.memory && own.k;
}

static void stop(void) {
    free(own.cache);
    if (own.pointer)
        clSVMFree(own.context, own.pointer);
    clReleaseMemObject(own.k);
    clReleaseMemObject(own.memory);
    clReleaseCommandQueue(own.queue);
    clReleaseContext(own.context);
}

// What a life without failures would keep.
static void make_cache(void) {
    const rope2d_opencl_device_params owned = {
        .struct_size = sizeof(owned), .context = own.context, .device = own.id};
    const rope2d_spec spec = {
        .struct_size = sizeof(spec), .head_dim = DIM, .axes = 2, .freqs = &own.freqs[0][0]};
    const rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &spec};
    rope2d_device *device = NULL;
    if (rope2d_opencl_device_adopt(&owned, &device) == ROPE2D_OK &&
        rope2d_prewarm(device, &types, 1) == ROPE2D_OK &&
        rope2d_device_get_cache(device, NULL, &own.cache_size) == ROPE2D_OK)
        own.cache = malloc((size_t)own.cache_size);
    tally_check(&counts,
                own.cache && rope2d_device_get_cache(device, own.cache, &own.cache_size) == ROPE2D_OK,
                "a cache");
    rope2d_device_destroy(device);
}

int main(int argc, char **argv) {
    static const int codes[] = {CL_OUT_OF_RESOURCES};
    static const life cold = {live, {.table = ROPE2D_TABLE_BUFFER}, ROPE2D_PLAN_NO_SELF_TEST, true, false};
    static const life warm = {live, {.table = ROPE2D_TABLE_AUTO}, ROPE2D_PLAN_NO_SELF_TEST, true, true};
    if (argc < 2 || !faults_open(argv[1])) {
        printf("%s cannot be opened\n", argc < 2 ? "the shim" : argv[1]);
        return 1;
    }
    if (!start()) {
        counts.skipped++; // that devices are there is what other tests demand
        return tally_finish(&counts);
    }
    if (!own.pointer)
        counts.skipped++;
    make_cache();
    faults_check_life(&counts, &cold, codes, 1);
    faults_check_life(&counts, &warm, codes, 1);
    stop();
    return tally_finish(&counts);
}
