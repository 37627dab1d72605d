// SPDX-License-Identifier: MIT
//
// Recorders of an OpenCL owner's: the kernel and the sizes that rope2d hands out, in the owner's own
// enqueues, and in a command buffer of cl_khr_command_buffer where the device has them; against the CPU.
#include "opencl_program.h"

#include <CL/cl_ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 2 * ELEMENTS, PARTS = 2, REPLAYS = 2 };

// One after the other: the second writes over what the first wrote of its tokens.
static const struct part {
    uint64_t first_token;
    uint64_t tokens;
} parts[PARTS] = {{3, 17}, {11, 6}};

// Of the program that is there.
static struct {
    cl_mem memory[2]; // that is read, that is written
    objects made;
    rope2d_opencl_binding *bindings[PARTS];
} its;

static uint16_t input[ELEMENTS], expected[ELEMENTS], found[ELEMENTS];

static rope2d_opencl_view view_of(cl_mem memory) {
    return (rope2d_opencl_view){.memory = memory,
                                .batch_stride = (int64_t)TOKENS * HEADS * DIM,
                                .token_stride = (int64_t)HEADS * DIM,
                                .head_stride = DIM};
}

static void expect_from_cpu(program *own) {
    objects made = program_make(own, own->cpu, ROPE2D_F16, ROPE2D_TABLE_AUTO);
    rope2d_tensor q = {.heads = HEADS};
    counter_fill((unsigned char *)input, COUNTER_F16, COUNTER_UNIFORM, 5, 2, 0, ELEMENTS);
    memset(expected, 0xa5, sizeof(expected));
    q.in = rope2d_view_contiguous(input, ROPE2D_F16, ROPE2D_LAYOUT_BNHD, BATCH, TOKENS, HEADS, DIM);
    q.out = rope2d_view_contiguous(expected, ROPE2D_F16, ROPE2D_LAYOUT_BNHD, BATCH, TOKENS, HEADS, DIM);
    for (int i = 0; i < PARTS; i++) {
        const rope2d_apply_params apply = {sizeof(apply),   BATCH, parts[i].first_token,
                                           parts[i].tokens, 1,     &q};
        IS(ROPE2D_OK, rope2d_apply(made.plan, made.positions, &apply));
    }
    program_unmake(&made);
}

static void refill(program *own) {
    memset(found, 0xa5, sizeof(found));
    clEnqueueWriteBuffer(own->ordered, its.memory[0], CL_TRUE, 0, BYTES, input, 0, NULL, NULL);
    clEnqueueWriteBuffer(own->ordered, its.memory[1], CL_TRUE, 0, BYTES, found, 0, NULL, NULL);
}

static void compare(program *own) {
    clEnqueueReadBuffer(own->ordered, its.memory[1], CL_TRUE, 0, BYTES, found, 0, NULL, NULL);
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
        const rope2d_opencl_dispatch d = dispatch_of(own, its.bindings[0], i);
        CHECK(clEnqueueNDRangeKernel(own->ordered, d.kernel, 1, NULL, &d.global_size, &d.local_size, 0, NULL,
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
    cl_platform_id platform = NULL;
    clGetDeviceInfo(own->id, CL_DEVICE_EXTENSIONS, sizeof(extensions) - 1, extensions, NULL);
    clGetDeviceInfo(own->id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    return strstr(extensions, CL_KHR_COMMAND_BUFFER_EXTENSION_NAME) != NULL &&
           load(platform, "clCreateCommandBufferKHR", &commands.create) &&
           load(platform, "clCommandNDRangeKernelKHR", &commands.record) &&
           load(platform, "clFinalizeCommandBufferKHR", &commands.finalize) &&
           load(platform, "clEnqueueCommandBufferKHR", &commands.enqueue) &&
           load(platform, "clReleaseCommandBufferKHR", &commands.release);
}

// A binding for each: PoCL 3.1 takes the arguments when it runs a command buffer, not when it records one.
static void record(program *own) {
    cl_sync_point_khr points[PARTS] = {0};
    cl_command_buffer_khr buffer = commands.create(1, &own->ordered, NULL, NULL);
    if (!CHECK(buffer))
        return;
    for (int i = 0; i < PARTS; i++) {
        const rope2d_opencl_dispatch d = dispatch_of(own, its.bindings[i], i);
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
    rope2d_opencl_binding *binding = its.bindings[0];
    own->log.text[0] = '\0';
    CHECK(rope2d_opencl_binding_create(its.made.plan, its.made.positions, params, &binding) == wants);
    CHECK(binding == NULL && strstr(own->log.text, word) != NULL);
}

static void refuses_pair(program *own, const rope2d_plan *plan, const rope2d_positions *positions,
                         const rope2d_opencl_binding_params *params, const char *word) {
    rope2d_opencl_binding *binding = its.bindings[0];
    IS(ROPE2D_ERROR_MISMATCH, rope2d_opencl_binding_create(plan, positions, params, &binding));
    CHECK(binding == NULL && strstr(own->log.text, word) != NULL);
}

static void refuse(program *own) {
    rope2d_opencl_tensor q = {.heads = HEADS, .in = view_of(its.memory[0])};
    const rope2d_opencl_binding_params good = {
        .struct_size = sizeof(good), .batch = BATCH, .tokens = TOKENS, .tensor_count = 1, .tensors = &q};
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
    CHECK(rope2d_opencl_binding_dispatch(its.bindings[0], 0, TOKENS, NULL) == ROPE2D_ERROR_NULL);
    CHECK(rope2d_opencl_binding_dispatch(its.bindings[0], 0, 0, &d) == ROPE2D_ERROR_TOKENS);
    CHECK(rope2d_opencl_positions_get_table(its.made.positions, NULL) == ROPE2D_ERROR_NULL);

    // A plan of the CPU's, with positions of either device.
    objects other = program_make(own, own->cpu, ROPE2D_F16, ROPE2D_TABLE_AUTO);
    refuses_pair(own, other.plan, other.positions, &good, "");
    CHECK(rope2d_opencl_positions_get_table(other.positions, &table) == ROPE2D_ERROR_MISMATCH);
    refuses_pair(own, its.made.plan, other.positions, &good, "plan and positions are of two devices");
    program_unmake(&other);
}

// All zero is in place; an output of which only the memory is missing is none, and its input stays.
static void refuse_views(program *own) {
    rope2d_opencl_tensor pair[2] = {{.heads = HEADS, .in = view_of(its.memory[0])},
                                    {.heads = HEADS, .in = view_of(its.memory[1])}};
    const rope2d_opencl_binding_params params = {
        .struct_size = sizeof(params), .batch = BATCH, .tokens = TOKENS, .tensor_count = 2, .tensors = pair};
    const rope2d_opencl_view halves[] = {view_of(NULL), {.offset = 16}, {.token_stride = 2}, {.size = BYTES}};
    for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++) {
        pair[1].out = halves[i];
        refuses(own, &params, ROPE2D_ERROR_NULL, "tensors[1].out has neither a memory nor a pointer");
    }
    pair[1].out = (rope2d_opencl_view){0};
    pair[0].in.memory = NULL;
    refuses(own, &params, ROPE2D_ERROR_NULL, "tensors[0].in has neither a memory nor a pointer");
    pair[0].in.memory = its.memory[0];
    pair[1].in.pointer = &its;
    refuses(own, &params, ROPE2D_ERROR_MISMATCH, "tensors[1].in has both a memory and a pointer");
}

// --------------------------------------------------------------------------------------------------- devices

static bool start(program *own) {
    const rope2d_opencl_device_params params = {
        .struct_size = sizeof(params), .context = own->context, .device = own->id, .host = &own->host};
    for (int i = 0; i < 2; i++)
        its.memory[i] = clCreateBuffer(own->context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    IS(ROPE2D_OK, rope2d_opencl_device_adopt(&params, &own->device));
    if (!CHECK(own->device && its.memory[0] && its.memory[1]))
        return false;
    its.made = program_make(own, own->device, ROPE2D_F16, ROPE2D_TABLE_AUTO);
    rope2d_opencl_tensor q = {.heads = HEADS, .in = view_of(its.memory[0]), .out = view_of(its.memory[1])};
    const rope2d_opencl_binding_params bound = {
        .struct_size = sizeof(bound), .batch = BATCH, .tokens = TOKENS, .tensor_count = 1, .tensors = &q};
    for (int i = 0; i < PARTS; i++)
        IS(ROPE2D_OK,
           rope2d_opencl_binding_create(its.made.plan, its.made.positions, &bound, &its.bindings[i]));
    return its.bindings[PARTS - 1] != NULL;
}

static void check_device(cl_device_id id) {
    static program here;
    program *own = &here;
    memset(&its, 0, sizeof(its));
    if (!program_start(own, id))
        return;
    expect_from_cpu(own);
    if (start(own)) {
        enqueue(own);
        refuse(own);
        refuse_views(own);
        if (has_command_buffers(own)) {
            record(own);
        } else {
            printf("%s: no cl_khr_command_buffer\n", own->name);
            counts.skipped++;
        }
    }
    for (int i = 0; i < PARTS; i++)
        rope2d_opencl_binding_destroy(its.bindings[i]);
    program_unmake(&its.made);
    rope2d_device_destroy(own->device);
    for (int i = 0; i < 2; i++)
        clReleaseMemObject(its.memory[i]);
    program_stop(own);
}

int main(void) {
    return program_each(check_device);
}
