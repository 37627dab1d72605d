// SPDX-License-Identifier: MIT
//
// Recorders of an OpenCL owner's: the kernel and the sizes that rope2d hands out, in the owner's own
// enqueues, and in a command buffer of cl_khr_command_buffer where the device has them; against the CPU.
#define CL_TARGET_OPENCL_VERSION 120
#include "counter.h"
#include "jobs.h"

#include "rope2d/rope2d_opencl.h"

#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 23, HEADS = 3, DIM = 32, ELEMENTS = TOKENS * HEADS * DIM, BYTES = 2 * ELEMENTS };
enum { MAX_PLATFORMS = 8, MAX_FOUND = 16, PARTS = 2, REPLAYS = 2 };

static tally counts;
static captured_log logged;

#define CHECK(holds)                                                                                         \
    tally_check(&counts, holds, "%s: line %d: %s: %s", own->name, __LINE__, #holds, logged.text)

// One after the other: the second writes over what the first wrote of its tokens.
static const struct part {
    uint64_t first_token;
    uint64_t tokens;
} parts[PARTS] = {{3, 17}, {11, 6}};

typedef struct program {
    char name[128];
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_mem memory[2]; // that is read, that is written
    rope2d_device *device;
    rope2d_plan *plan;
    rope2d_positions *positions;
    rope2d_opencl_binding *bindings[PARTS];
} program;

static uint16_t input[ELEMENTS], expected[ELEMENTS], found[ELEMENTS];

static rope2d_status make(rope2d_device *device, rope2d_plan **plan, rope2d_positions **positions) {
    static float freqs[2][DIM / 2], yx[TOKENS][2];
    for (int i = 0; i < DIM / 2; i++)
        freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / 5);
        yx[t][1] = (float)(t % 5);
    }
    const rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = DIM, .axes = 2, .freqs = &freqs[0][0]};
    const rope2d_plan_params types = {
        .struct_size = sizeof(types), .spec = &spec, .in = ROPE2D_F16, .out = ROPE2D_F16};
    const rope2d_positions_params grid = {
        .struct_size = sizeof(grid), .spec = &spec, .tokens = TOKENS, .coordinates = &yx[0][0]};
    const rope2d_status status = rope2d_plan_create(device, &types, plan);
    return status == ROPE2D_OK ? rope2d_positions_create(device, &grid, positions) : status;
}

static bool expect_from_cpu(void) {
    const rope2d_device_params params = {.struct_size = sizeof(params)};
    rope2d_device *cpu = NULL;
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    rope2d_tensor q = {.heads = HEADS};
    counter_fill((unsigned char *)input, COUNTER_F16, COUNTER_UNIFORM, 5, 2, 0, ELEMENTS);
    memset(expected, 0xa5, sizeof(expected));
    q.in = rope2d_view_contiguous(input, ROPE2D_F16, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, DIM);
    q.out = rope2d_view_contiguous(expected, ROPE2D_F16, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, DIM);
    bool is_good =
        rope2d_device_create(&params, &cpu) == ROPE2D_OK && make(cpu, &plan, &positions) == ROPE2D_OK;
    for (int i = 0; i < PARTS && is_good; i++) {
        const rope2d_apply_params apply = {sizeof(apply), 1, parts[i].first_token, parts[i].tokens, 1, &q};
        is_good = rope2d_apply(plan, positions, &apply) == ROPE2D_OK;
    }
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    rope2d_device_destroy(cpu);
    return is_good;
}

static void refill(program *own) {
    memset(found, 0xa5, sizeof(found));
    clEnqueueWriteBuffer(own->queue, own->memory[0], CL_TRUE, 0, BYTES, input, 0, NULL, NULL);
    clEnqueueWriteBuffer(own->queue, own->memory[1], CL_TRUE, 0, BYTES, found, 0, NULL, NULL);
}

static void compare(program *own) {
    clEnqueueReadBuffer(own->queue, own->memory[1], CL_TRUE, 0, BYTES, found, 0, NULL, NULL);
    CHECK(memcmp(found, expected, sizeof(found)) == 0);
}

static rope2d_opencl_dispatch dispatch_of(program *own, rope2d_opencl_binding *binding, int index) {
    rope2d_opencl_dispatch d = {.struct_size = sizeof(d)};
    CHECK(rope2d_opencl_binding_dispatch(binding, parts[index].first_token, parts[index].tokens, &d) ==
          ROPE2D_OK);
    return d;
}

// One binding for both: enqueuing takes the arguments.
static void enqueue(program *own) {
    refill(own);
    for (int i = 0; i < PARTS; i++) {
        const rope2d_opencl_dispatch d = dispatch_of(own, own->bindings[0], i);
        CHECK(clEnqueueNDRangeKernel(own->queue, d.kernel, 1, NULL, &d.global_size, &d.local_size, 0, NULL,
                                     NULL) == CL_SUCCESS);
    }
    compare(own);
}

// ------------------------------------------------------------------------------------------ command buffers

static struct {
    clCreateCommandBufferKHR_fn create;
    clCommandNDRangeKernelKHR_fn record;
    clFinalizeCommandBufferKHR_fn finalize;
    clEnqueueCommandBufferKHR_fn enqueue;
    clReleaseCommandBufferKHR_fn release;
} commands;

static bool load(cl_platform_id platform, const char *name, void *function) {
    void *address = clGetExtensionFunctionAddressForPlatform(platform, name);
    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

static bool has_command_buffers(const program *own) {
    static char extensions[16384];
    memset(extensions, 0, sizeof(extensions));
    clGetDeviceInfo(own->id, CL_DEVICE_EXTENSIONS, sizeof(extensions) - 1, extensions, NULL);
    return strstr(extensions, CL_KHR_COMMAND_BUFFER_EXTENSION_NAME) != NULL &&
           load(own->platform, "clCreateCommandBufferKHR", &commands.create) &&
           load(own->platform, "clCommandNDRangeKernelKHR", &commands.record) &&
           load(own->platform, "clFinalizeCommandBufferKHR", &commands.finalize) &&
           load(own->platform, "clEnqueueCommandBufferKHR", &commands.enqueue) &&
           load(own->platform, "clReleaseCommandBufferKHR", &commands.release);
}

// A binding for each: PoCL 3.1 takes the arguments when it runs a command buffer, not when it records one.
static void record(program *own) {
    cl_sync_point_khr points[PARTS] = {0};
    cl_command_buffer_khr buffer = commands.create(1, &own->queue, NULL, NULL);
    if (!CHECK(buffer))
        return;
    for (int i = 0; i < PARTS; i++) {
        const rope2d_opencl_dispatch d = dispatch_of(own, own->bindings[i], i);
        CHECK(commands.record(buffer, NULL, NULL, d.kernel, 1, NULL, &d.global_size, &d.local_size, i > 0,
                              i > 0 ? &points[i - 1] : NULL, &points[i], NULL) == CL_SUCCESS);
    }
    CHECK(commands.finalize(buffer) == CL_SUCCESS);
    for (int i = 0; i < REPLAYS; i++) {
        refill(own);
        CHECK(commands.enqueue(0, NULL, buffer, 0, NULL, NULL) == CL_SUCCESS);
        compare(own);
    }
    commands.release(buffer);
}

// ---------------------------------------------------------------------------------------- what is refused

static void refuses(program *own, const rope2d_opencl_binding_params *params, rope2d_status wants,
                    const char *word) {
    rope2d_opencl_binding *binding = own->bindings[0];
    logged.text[0] = '\0';
    CHECK(rope2d_opencl_binding_create(own->plan, own->positions, params, &binding) == wants);
    CHECK(binding == NULL && strstr(logged.text, word) != NULL);
}

static void refuse(program *own) {
    const rope2d_opencl_view view = {
        .memory = own->memory[0], .token_stride = (int64_t)HEADS * DIM, .head_stride = DIM};
    rope2d_opencl_tensor q = {.heads = HEADS, .in = view};
    const rope2d_opencl_binding_params good = {
        .struct_size = sizeof(good), .batch = 1, .tokens = TOKENS, .tensor_count = 1, .tensors = &q};
    rope2d_opencl_binding_params params = good;
    rope2d_opencl_dispatch d = {.struct_size = sizeof(d)};
    rope2d_opencl_table table = {.struct_size = sizeof(table)};
    refuses(own, NULL, ROPE2D_ERROR_NULL, "params is NULL");
    params.batch = 0;
    refuses(own, &params, ROPE2D_ERROR_BATCH, "params.batch is 0");
    params = good;
    params.tokens = 0;
    refuses(own, &params, ROPE2D_ERROR_TOKENS, "params.tokens is 0");
    params = good;
    params.tensors = NULL;
    refuses(own, &params, ROPE2D_ERROR_NULL, "params.tensors is NULL");
    q.heads = 0;
    refuses(own, &good, ROPE2D_ERROR_HEADS, "tensors[0].heads is 0");
    q.heads = HEADS;
    CHECK(rope2d_opencl_binding_dispatch(own->bindings[0], 0, TOKENS, NULL) == ROPE2D_ERROR_NULL);
    CHECK(rope2d_opencl_binding_dispatch(own->bindings[0], 0, 0, &d) == ROPE2D_ERROR_TOKENS);
    CHECK(rope2d_opencl_positions_get_table(own->positions, NULL) == ROPE2D_ERROR_NULL);

    // A plan of the CPU's, with positions of either device.
    const rope2d_device_params params_cpu = {.struct_size = sizeof(params_cpu)};
    const program mine = *own;
    rope2d_device *cpu = NULL;
    CHECK(rope2d_device_create(&params_cpu, &cpu) == ROPE2D_OK &&
          make(cpu, &own->plan, &own->positions) == ROPE2D_OK);
    rope2d_opencl_binding *binding = own->bindings[0];
    CHECK(rope2d_opencl_binding_create(own->plan, own->positions, &good, &binding) == ROPE2D_ERROR_MISMATCH);
    CHECK(rope2d_opencl_positions_get_table(own->positions, &table) == ROPE2D_ERROR_MISMATCH);
    CHECK(rope2d_opencl_binding_create(mine.plan, own->positions, &good, &binding) == ROPE2D_ERROR_MISMATCH);
    CHECK(binding == NULL && strstr(logged.text, "plan and positions differ in device") != NULL);
    rope2d_plan_destroy(own->plan);
    rope2d_positions_destroy(own->positions);
    rope2d_device_destroy(cpu);
    own->plan = mine.plan;
    own->positions = mine.positions;
}

// --------------------------------------------------------------------------------------------------- devices

static bool start(program *own) {
    const rope2d_host host = captured_host(&logged);
    clGetDeviceInfo(own->id, CL_DEVICE_NAME, sizeof(own->name) - 1, own->name, NULL);
    own->context = clCreateContext(NULL, 1, &own->id, NULL, NULL, NULL);
    own->queue = clCreateCommandQueue(own->context, own->id, 0, NULL);
    for (int i = 0; i < 2; i++)
        own->memory[i] = clCreateBuffer(own->context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    const rope2d_opencl_device_params params = {
        .struct_size = sizeof(params), .context = own->context, .device = own->id, .host = &host};
    if (!CHECK(own->queue && own->memory[0] && own->memory[1]) ||
        !CHECK(rope2d_opencl_device_adopt(&params, &own->device) == ROPE2D_OK) ||
        !CHECK(make(own->device, &own->plan, &own->positions) == ROPE2D_OK))
        return false;
    const rope2d_opencl_view in = {
        .memory = own->memory[0], .token_stride = (int64_t)HEADS * DIM, .head_stride = DIM};
    rope2d_opencl_tensor q = {.heads = HEADS, .in = in, .out = in};
    q.out.memory = own->memory[1];
    const rope2d_opencl_binding_params bound = {
        .struct_size = sizeof(bound), .batch = 1, .tokens = TOKENS, .tensor_count = 1, .tensors = &q};
    bool is_bound = true;
    for (int i = 0; i < PARTS && is_bound; i++)
        is_bound = CHECK(rope2d_opencl_binding_create(own->plan, own->positions, &bound, &own->bindings[i]) ==
                         ROPE2D_OK);
    return is_bound;
}

static void check_device(cl_platform_id platform, cl_device_id id) {
    program here = {.platform = platform, .id = id};
    program *own = &here;
    if (start(own)) {
        enqueue(own);
        refuse(own);
        if (has_command_buffers(own)) {
            record(own);
        } else {
            printf("%s: no cl_khr_command_buffer\n", own->name);
            counts.skipped++;
        }
    }
    for (int i = 0; i < PARTS; i++)
        rope2d_opencl_binding_destroy(own->bindings[i]);
    rope2d_plan_destroy(own->plan);
    rope2d_positions_destroy(own->positions);
    rope2d_device_destroy(own->device);
    for (int i = 0; i < 2; i++)
        clReleaseMemObject(own->memory[i]);
    clReleaseCommandQueue(own->queue);
    clReleaseContext(own->context);
}

int main(void) {
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_device_id ids[MAX_FOUND];
    cl_uint platform_count = 0, count = 0;
    tally_check(&counts, expect_from_cpu(), "the CPU");
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &platform_count) != CL_SUCCESS)
        platform_count = 0;
    for (cl_uint p = 0; p < platform_count && p < MAX_PLATFORMS; p++) {
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_FOUND, ids, &count) != CL_SUCCESS)
            continue;
        for (cl_uint i = 0; i < count && i < MAX_FOUND; i++)
            check_device(platforms[p], ids[i]);
    }
    if (platform_count == 0)
        counts.skipped++;
    return tally_finish(&counts);
}
