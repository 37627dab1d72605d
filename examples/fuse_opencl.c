// SPDX-License-Identifier: MIT
//
// Rotates inside a kernel of its own: a dot product of q and k, both rotated in registers and never written.
// The same scores are then computed from tensors that rope2d_opencl_enqueue has rotated: equal bits.
#include "fuse_opencl_kernel.h"
#include "opencl_devices.h"

#include <rope2d/rope2d_opencl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, TOKENS = SIDE * SIDE, HEAD_DIM = 32, PAIRS = HEAD_DIM / 2, ELEMENTS = TOKENS * HEAD_DIM };

typedef struct program {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem q, k, out;
    rope2d_device *rope;
    rope2d_plan *plan;
    rope2d_positions *positions;
} program;

static int open_program(program *own, cl_device_id device) {
    static float values[ELEMENTS];
    const char *texts[2] = {rope2d_opencl_source(), kernel_text};
    for (int i = 0; i < ELEMENTS; i++)
        values[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
    const cl_mem_flags copied = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    own->device = device;
    own->context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    own->queue = clCreateCommandQueue(own->context, device, 0, NULL);
    own->q = clCreateBuffer(own->context, copied, sizeof(values), values, NULL);
    own->k = clCreateBuffer(own->context, copied, sizeof(values), values, NULL);
    own->out = clCreateBuffer(own->context, CL_MEM_READ_WRITE, TOKENS * TOKENS * sizeof(float), NULL, NULL);
    cl_program built = clCreateProgramWithSource(own->context, 2, texts, NULL, NULL);
    if (clBuildProgram(built, 1, &device, "-cl-std=CL1.2", NULL, NULL) == CL_SUCCESS)
        own->kernel = clCreateKernel(built, "scores", NULL);
    return clReleaseProgram(built) == CL_SUCCESS && own->kernel != NULL;
}

static rope2d_status start_rope(program *own) {
    static float freqs[2][PAIRS], yx[TOKENS][2];
    for (int i = 0; i < PAIRS; i++)
        freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / SIDE);
        yx[t][1] = (float)(t % SIDE);
    }
    rope2d_opencl_device_params ours = {sizeof(ours), .context = own->context, .device = own->device};
    rope2d_spec spec = {sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .freqs = &freqs[0][0]};
    rope2d_plan_params types = {sizeof(types), &spec, .table = ROPE2D_TABLE_BUFFER};
    rope2d_positions_params grid = {sizeof(grid), &spec, ROPE2D_TABLE_BUFFER, TOKENS,
                                    .coordinates = &yx[0][0]};
    rope2d_status status = rope2d_opencl_device_adopt(&ours, &own->rope);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(own->rope, &types, &own->plan);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(own->rope, &grid, &own->positions);
    return status;
}

static rope2d_status run(program *own, cl_uint fused, float *scores) {
    const size_t global[2] = {TOKENS, TOKENS};
    rope2d_opencl_table table = {.struct_size = sizeof(table)};
    rope2d_status status = rope2d_opencl_positions_get_table(own->positions, &table);
    if (status != ROPE2D_OK)
        return status;
    const cl_mem memories[4] = {own->q, own->k, table.table, table.rows};
    const cl_uint numbers[3] = {table.table_rows, table.columns, fused};
    for (cl_uint i = 0; i < 4; i++)
        clSetKernelArg(own->kernel, i, sizeof(cl_mem), &memories[i]);
    for (cl_uint i = 0; i < 3; i++)
        clSetKernelArg(own->kernel, 4 + i, sizeof(cl_uint), &numbers[i]);
    clSetKernelArg(own->kernel, 7, sizeof(cl_mem), &own->out);
    clEnqueueNDRangeKernel(own->queue, own->kernel, 2, NULL, global, NULL, 0, NULL, NULL);
    clEnqueueReadBuffer(own->queue, own->out, CL_TRUE, 0, TOKENS * TOKENS * sizeof(float), scores, 0, NULL,
                        NULL);
    return ROPE2D_OK;
}

static rope2d_status rotate_both(program *own) {
    rope2d_opencl_view q = {.memory = own->q, .token_stride = HEAD_DIM, .head_stride = HEAD_DIM}, k = q;
    k.memory = own->k;
    rope2d_opencl_tensor qk[2] = {{1, .in = q}, {1, .in = k}};
    rope2d_opencl_binding_params bound = {sizeof(bound), .batch = 1, .tokens = TOKENS, .tensor_count = 2,
                                          .tensors = qk};
    rope2d_opencl_binding *binding = NULL;
    rope2d_status status = rope2d_opencl_binding_create(own->plan, own->positions, &bound, &binding);
    if (status == ROPE2D_OK)
        status = rope2d_opencl_enqueue(binding, own->queue, 0, TOKENS, 0, NULL, NULL);
    rope2d_opencl_binding_destroy(binding);
    return status;
}

static void close_program(program *own) {
    rope2d_positions_destroy(own->positions);
    rope2d_plan_destroy(own->plan);
    rope2d_device_destroy(own->rope);
    if (own->kernel)
        clReleaseKernel(own->kernel);
    const cl_mem buffers[3] = {own->q, own->k, own->out};
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(buffers[i]);
    clReleaseCommandQueue(own->queue);
    clReleaseContext(own->context);
}

static int check_device(cl_device_id device) {
    static float plain[TOKENS * TOKENS], fused[TOKENS * TOKENS], apart[TOKENS * TOKENS];
    char name[128] = "";
    program own = {0};
    int ok = open_program(&own, device) && start_rope(&own) == ROPE2D_OK &&
             run(&own, 0, plain) == ROPE2D_OK && run(&own, 1, fused) == ROPE2D_OK &&
             rotate_both(&own) == ROPE2D_OK && run(&own, 0, apart) == ROPE2D_OK;
    clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name) - 1, name, NULL);
    int same = ok && memcmp(fused, apart, sizeof(fused)) == 0,
        turned = ok && memcmp(fused, plain, sizeof(fused)) != 0;
    printf("%s: scores of tokens 1 and 9, fused and apart: %a %a: %s\n", name, (double)fused[TOKENS + 9],
           (double)apart[TOKENS + 9], same && turned ? "the same bits in all" : "WRONG");
    close_program(&own);
    return same && turned;
}

int main(void) {
    cl_device_id devices[OPENCL_MOST_DEVICES];
    const cl_uint count = opencl_devices(devices);
    int ok = 1;
    for (cl_uint i = 0; i < count; i++)
        ok &= check_device(devices[i]);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
