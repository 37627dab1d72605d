// SPDX-License-Identifier: MIT
//
// dispatch_bytes of an OpenCL owner's device: an enqueue of many small kernels has the CPU's bits when its
// one event is complete, in queues in and out of order, and as many kernels as the bytes say. Takes the path
// of opencl_shim.
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "jobs.h"
#include "opencl_shim.h"

#include "rope2d/rope2d_opencl.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 3, TOKENS = 14, USED = 13, FIRST = 1, HEADS = 2, DIM = 32, MOST = 8 };
enum { ELEMENTS = BATCH * TOKENS * HEADS * DIM, BYTES = ELEMENTS * 4, TOKEN_BYTES = 2 * HEADS * DIM * 4 * 2 };

static tally counts;
static opencl_shim_begin_fn *begin;
static opencl_shim_kernels_fn *count_kernels;
static float freqs[2][DIM / 2], yx[BATCH][TOKENS][2], input[2][ELEMENTS], right[2][ELEMENTS];
static const rope2d_spec spec = {
    .struct_size = sizeof(spec), .head_dim = DIM, .axes = 2, .freqs = &freqs[0][0]};

static rope2d_status make(rope2d_device *device, rope2d_plan **plan, rope2d_positions **positions) {
    const rope2d_plan_params types = {
        .struct_size = sizeof(types), .spec = &spec, .flags = ROPE2D_PLAN_NO_SELF_TEST};
    const rope2d_positions_params own = {.struct_size = sizeof(own),
                                         .spec = &spec,
                                         .tokens = TOKENS,
                                         .batch = BATCH,
                                         .coordinates = &yx[0][0][0]};
    const rope2d_status status = rope2d_plan_create(device, &types, plan);
    return status == ROPE2D_OK ? rope2d_positions_create(device, &own, positions) : status;
}

static void rotate_on_cpu(void) {
    const rope2d_device_params params = {.struct_size = sizeof(params)};
    rope2d_device *cpu = NULL;
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    rope2d_tensor tensors[2] = {{.heads = HEADS}, {.heads = HEADS}};
    for (int i = 0; i < DIM / 2; i++)
        freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (int i = 0; i < BATCH * TOKENS; i++) {
        yx[i / TOKENS][i % TOKENS][0] = (float)(i / 5);
        yx[i / TOKENS][i % TOKENS][1] = (float)(i % 5);
    }
    for (int i = 0; i < ELEMENTS; i++) {
        input[0][i] = (float)(i % 89) / 16 - 2;
        input[1][i] = (float)(i % 53) / 8 - 3;
    }
    memcpy(right, input, sizeof(right));
    for (int i = 0; i < 2; i++)
        tensors[i].in =
            rope2d_view_contiguous(right[i], ROPE2D_F32, ROPE2D_LAYOUT_BNHD, BATCH, TOKENS, HEADS, DIM);
    const rope2d_apply_params all = {sizeof(all), BATCH, FIRST, USED, 2, tensors};
    tally_check(&counts,
                rope2d_device_create(&params, &cpu) == ROPE2D_OK &&
                    make(cpu, &plan, &positions) == ROPE2D_OK &&
                    rope2d_apply(plan, positions, &all) == ROPE2D_OK,
                "the CPU");
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    rope2d_device_destroy(cpu);
}

typedef struct program {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_mem memory[2];
    cl_mem rows; // a copy of the positions' own; NULL: those
} program;

static rope2d_status enqueue(const program *own, rope2d_plan *plan, rope2d_positions *positions,
                             cl_event *event) {
    rope2d_opencl_tensor tensors[2];
    rope2d_opencl_binding *binding = NULL;
    for (int i = 0; i < 2; i++)
        tensors[i] = (rope2d_opencl_tensor){
            .heads = HEADS,
            .in = {own->memory[i], 0, (int64_t)TOKENS * HEADS * DIM, HEADS * DIM, DIM, NULL, 0}};
    const rope2d_opencl_binding_params params = {.struct_size = sizeof(params),
                                                 .batch = BATCH,
                                                 .tokens = TOKENS,
                                                 .tensor_count = 2,
                                                 .tensors = tensors,
                                                 .rows = own->rows,
                                                 .row_batch = own->rows ? BATCH : 0,
                                                 .row_tokens = own->rows ? TOKENS : 0};
    cl_event written = NULL;
    rope2d_status status = rope2d_opencl_binding_create(plan, positions, &params, &binding);
    clEnqueueWriteBuffer(own->queue, own->memory[0], CL_TRUE, 0, BYTES, input[0], 0, NULL, NULL);
    clEnqueueWriteBuffer(own->queue, own->memory[1], CL_FALSE, 0, BYTES, input[1], 0, NULL, &written);
    if (status == ROPE2D_OK)
        status = rope2d_opencl_enqueue(binding, own->queue, FIRST, USED, 1, &written, event);
    clReleaseEvent(written);
    rope2d_opencl_binding_destroy(binding);
    return status;
}

static void run(program *own, uint64_t bound, long wanted, bool asks) {
    static float found[2][ELEMENTS];
    const rope2d_opencl_device_params owned = {
        .struct_size = sizeof(owned), .context = own->context, .device = own->id, .dispatch_bytes = bound};
    rope2d_device *device = NULL;
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    cl_event event = NULL;
    long kernels = 0, events = 0;
    rope2d_status status = rope2d_opencl_device_adopt(&owned, &device);
    if (status == ROPE2D_OK)
        status = make(device, &plan, &positions);
    begin(0, 0);
    if (status == ROPE2D_OK)
        status = enqueue(own, plan, positions, asks ? &event : NULL);
    count_kernels(&kernels, &events);
    if (asks && status == ROPE2D_OK) { // the event alone says when all is done
        clEnqueueReadBuffer(own->queue, own->memory[0], CL_TRUE, 0, BYTES, found[0], 1, &event, NULL);
        clEnqueueReadBuffer(own->queue, own->memory[1], CL_TRUE, 0, BYTES, found[1], 1, &event, NULL);
        clReleaseEvent(event);
    }
    clFinish(own->queue);
    if (!asks)
        for (int i = 0; i < 2; i++)
            clEnqueueReadBuffer(own->queue, own->memory[i], CL_TRUE, 0, BYTES, found[i], 0, NULL, NULL);
    tally_check(&counts, status == ROPE2D_OK && memcmp(found, right, sizeof(found)) == 0,
                "%" PRIu64 " bytes: %s, or other bits", bound, rope2d_status_name(status));
    tally_check(&counts, kernels == wanted && events == asks,
                "%" PRIu64 " bytes: %ld kernels, not %ld, and %ld events", bound, kernels, wanted, events);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    rope2d_device_destroy(device);
}

static void run_bounds(program *own) {
    for (int asks = 0; asks < 2; asks++) {
        run(own, 1, (long)BATCH * USED, asks);
        run(own, 4 * TOKEN_BYTES, BATCH * 4, asks);
        run(own, (2 * USED + 1) * TOKEN_BYTES, 2, asks);
        run(own, 0, 1, asks);
    }
}

static cl_mem copy_rows(const program *own) {
    const rope2d_device_params params = {.struct_size = sizeof(params)};
    rope2d_device *cpu = NULL;
    rope2d_plan *plan = NULL;
    rope2d_positions *positions = NULL;
    cl_mem rows = NULL;
    if (rope2d_device_create(&params, &cpu) == ROPE2D_OK && make(cpu, &plan, &positions) == ROPE2D_OK)
        rows = clCreateBuffer(own->context, CL_MEM_COPY_HOST_PTR, sizeof(int32_t) * BATCH * TOKENS * 2,
                              (void *)(uintptr_t)rope2d_positions_host_rows(positions), NULL);
    rope2d_positions_destroy(positions);
    rope2d_plan_destroy(plan);
    rope2d_device_destroy(cpu);
    return rows;
}

static void run_device(cl_device_id id) {
    program own = {.id = id, .context = clCreateContext(NULL, 1, &id, NULL, NULL, NULL)};
    for (int i = 0; i < 2; i++)
        own.memory[i] = clCreateBuffer(own.context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        own.queue =
            clCreateCommandQueue(own.context, id, i ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, NULL);
        if (!own.queue) {
            counts.skipped++; // not every device has one out of order
            continue;
        }
        own.rows = i ? copy_rows(&own) : NULL;
        tally_check(&counts, own.memory[1] && (i == 0 || own.rows), "memory");
        run_bounds(&own);
        if (own.rows)
            clReleaseMemObject(own.rows);
        clReleaseCommandQueue(own.queue);
    }
    clReleaseMemObject(own.memory[0]);
    clReleaseMemObject(own.memory[1]);
    clReleaseContext(own.context);
}

int main(int argc, char **argv) {
    cl_platform_id platforms[MOST];
    cl_device_id ids[MOST];
    cl_uint platform_count = 0;
    void *shim = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *found[2] = {shim ? dlsym(shim, "opencl_shim_begin") : NULL,
                      shim ? dlsym(shim, "opencl_shim_kernels") : NULL};
    if (!tally_check(&counts, found[0] && found[1], "the shim cannot be opened"))
        return tally_finish(&counts);
    memcpy(&begin, &found[0], sizeof(begin));
    memcpy(&count_kernels, &found[1], sizeof(count_kernels));
    setenv("ROPE2D_OPENCL_LOADER", argv[1], 1);
    rotate_on_cpu();
    if (clGetPlatformIDs(MOST, platforms, &platform_count) != CL_SUCCESS)
        platform_count = 0;
    if (platform_count == 0)
        counts.skipped++;
    for (cl_uint p = 0; p < platform_count && p < MOST; p++) {
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST, ids, &count) != CL_SUCCESS)
            count = 0;
        for (cl_uint i = 0; i < count && i < MOST; i++)
            run_device(ids[i]);
    }
    return tally_finish(&counts);
}
