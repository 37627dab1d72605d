// SPDX-License-Identifier: MIT
//
// A small inference engine that owns OpenCL: its context, an out-of-order queue, its buffers and events. It
// rotates q and k of every layer between its own commands, with no copy to the host, and rope2d owns none of
// it.
#define CL_TARGET_OPENCL_VERSION 120
#include <rope2d/rope2d_opencl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 16, TOKENS = SIDE * SIDE, HEADS = 4, HEAD_DIM = 64, PAIRS = HEAD_DIM / 2, LAYERS = 3 };
enum { ELEMENTS = TOKENS * HEADS * HEAD_DIM };

typedef struct engine {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem q, k;
    rope2d_device *rope;
    rope2d_plan *plan;
    rope2d_positions *positions;
    rope2d_opencl_binding *binding;
} engine;

static void log_line(void *user, rope2d_log_level level, const char *text) {
    (void)user;
    (void)level;
    fprintf(stderr, "rope2d: %s\n", text);
}

// The first device of the first platform that has one.
static int open_engine(engine *own) {
    cl_platform_id platforms[8];
    cl_uint count = 0, found = 0;
    cl_command_queue_properties able = 0;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < count && i < 8 && found == 0; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &own->device, &found) != CL_SUCCESS)
            found = 0;
    if (found == 0)
        return 0;
    clGetDeviceInfo(own->device, CL_DEVICE_QUEUE_PROPERTIES, sizeof(able), &able, NULL);
    own->context = clCreateContext(NULL, 1, &own->device, NULL, NULL, NULL);
    own->queue =
        clCreateCommandQueue(own->context, own->device, able & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    own->q = clCreateBuffer(own->context, CL_MEM_READ_WRITE, ELEMENTS * sizeof(float), NULL, NULL);
    own->k = clCreateBuffer(own->context, CL_MEM_READ_WRITE, ELEMENTS * sizeof(float), NULL, NULL);
    return own->context && own->queue && own->q && own->k;
}

static void close_engine(engine *own) {
    rope2d_opencl_binding_destroy(own->binding);
    rope2d_positions_destroy(own->positions);
    rope2d_plan_destroy(own->plan);
    rope2d_device_destroy(own->rope);
    clReleaseMemObject(own->q);
    clReleaseMemObject(own->k);
    clReleaseCommandQueue(own->queue);
    clReleaseContext(own->context);
}

static rope2d_status start_rope(engine *own) {
    static float freqs[2][PAIRS], yx[TOKENS][2];
    const rope2d_host host = {sizeof(host), .log = log_line};
    for (int i = 0; i < PAIRS; i++) // the first half of the pairs turns with y, the second with x
        freqs[i / (PAIRS / 2)][i] = (float)pow(10000.0, -(double)(i % (PAIRS / 2)) / (PAIRS / 2));
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / SIDE);
        yx[t][1] = (float)(t % SIDE);
    }
    rope2d_opencl_device_params ours = {sizeof(ours), own->context, own->device, .host = &host};
    rope2d_spec spec = {sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .freqs = &freqs[0][0]};
    rope2d_plan_params types = {sizeof(types), &spec, .in = ROPE2D_F32, .out = ROPE2D_F32};
    rope2d_positions_params grid = {sizeof(grid), &spec, .tokens = TOKENS, .coordinates = &yx[0][0]};
    rope2d_opencl_view q = {own->q, 0, 0, HEADS * HEAD_DIM, HEAD_DIM}, k = q;
    k.memory = own->k;
    rope2d_opencl_tensor qk[2] = {{HEADS, .in = q}, {HEADS, .in = k}}; // in place
    rope2d_opencl_binding_params bound = {sizeof(bound), .batch = 1, .tokens = TOKENS, .tensor_count = 2,
                                          .tensors = qk};
    rope2d_status status = rope2d_opencl_device_adopt(&ours, &own->rope);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(own->rope, &types, &own->plan);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(own->rope, &grid, &own->positions);
    if (status == ROPE2D_OK)
        status = rope2d_opencl_binding_create(own->plan, own->positions, &bound, &own->binding);
    return status;
}

// The engine's own commands before and after: here they fill q and k, and read a dot product of two tokens.
static rope2d_status run_layer(engine *own, int layer, float *q, float *k) {
    cl_event ready[2] = {NULL, NULL}, rotated = NULL;
    for (int i = 0; i < ELEMENTS; i++)
        q[i] = k[i] = (float)(layer + 1);
    clEnqueueWriteBuffer(own->queue, own->q, CL_FALSE, 0, ELEMENTS * sizeof(float), q, 0, NULL, &ready[0]);
    clEnqueueWriteBuffer(own->queue, own->k, CL_FALSE, 0, ELEMENTS * sizeof(float), k, 0, NULL, &ready[1]);
    rope2d_status status = rope2d_opencl_enqueue(own->binding, own->queue, 0, TOKENS, 2, ready, &rotated);
    clFinish(own->queue); // before the host's memory is used again
    if (status == ROPE2D_OK) {
        clEnqueueReadBuffer(own->queue, own->q, CL_FALSE, 0, ELEMENTS * sizeof(float), q, 1, &rotated, NULL);
        clEnqueueReadBuffer(own->queue, own->k, CL_FALSE, 0, ELEMENTS * sizeof(float), k, 1, &rotated, NULL);
        clFinish(own->queue);
        clReleaseEvent(rotated);
    }
    clReleaseEvent(ready[0]);
    clReleaseEvent(ready[1]);
    return status;
}

// Attention sees the distance alone: the scores of two pairs of tokens that are equally far apart are equal.
static double score(const float *q, const float *k, int from, int to) {
    double sum = 0;
    for (int i = 0; i < HEAD_DIM; i++)
        sum += (double)q[from * HEADS * HEAD_DIM + i] * (double)k[to * HEADS * HEAD_DIM + i];
    return sum / HEAD_DIM;
}

int main(void) {
    static float q[ELEMENTS], k[ELEMENTS];
    engine own = {0};
    if (!open_engine(&own)) {
        puts("engine_opencl: no OpenCL device here");
        return EXIT_SUCCESS;
    }
    rope2d_status status = start_rope(&own);
    int wrong = 0;
    for (int layer = 0; layer < LAYERS && status == ROPE2D_OK; layer++) {
        status = run_layer(&own, layer, q, k);
        double here = score(q, k, 0, SIDE + 2), there = score(q, k, 5 * SIDE + 5, 6 * SIDE + 7);
        printf("layer %d: scores at distance (1, 2): %.6f %.6f\n", layer, here, there);
        wrong +=
            !(fabs(here - there) < 1e-5 * (layer + 1) * (layer + 1) && fabs(here - score(q, k, 0, 0)) > 0.01);
    }
    close_engine(&own);
    if (status != ROPE2D_OK)
        fprintf(stderr, "engine_opencl: %s\n", rope2d_status_name(status));
    return status != ROPE2D_OK || wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
