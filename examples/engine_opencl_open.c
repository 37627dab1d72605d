// SPDX-License-Identifier: MIT
#include "engine_opencl.h"

#include <stdio.h>

// As engine_project.comp and engine_scores.comp.
static const char kernels[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "float project(__global const float *x, __global const float *weights) {\n"
    "    float sum = 0.0f;\n"
    "    for (int f = 0; f < FEATURES; f++) {\n"
    "        float product = x[f] * weights[f];\n"
    "        sum = sum + product;\n"
    "    }\n"
    "    return sum;\n"
    "}\n"
    "__kernel void make_qk(__global const float *values, __global float *q, __global float *k) {\n"
    "    size_t i = get_global_id(0);\n"
    "    __global const float *x = values + i / (HEADS * HEAD_DIM) * FEATURES;\n"
    "    __global const float *weights = values + TOKENS * FEATURES + i % (HEADS * HEAD_DIM) * FEATURES;\n"
    "    q[i] = project(x, weights);\n"
    "    k[i] = project(x, weights + HEADS * HEAD_DIM * FEATURES);\n"
    "}\n"
    "__kernel void multiply(__global const float *q, __global const float *k, __global float *scores,\n"
    "                       uint query) {\n"
    "    size_t i = get_global_id(0), head = i / TOKENS, token = i % TOKENS;\n"
    "    float sum = 0.0f;\n"
    "    for (int d = 0; d < HEAD_DIM; d++) {\n"
    "        float product = q[(query * HEADS + head) * HEAD_DIM + d] * k[(token * HEADS + head) * HEAD_DIM "
    "+ d];\n"
    "        sum = sum + product;\n"
    "    }\n"
    "    scores[i] = sum;\n"
    "}\n";

static void log_line(void *user, rope2d_log_level level, const char *text) {
    (void)user;
    (void)level;
    fprintf(stderr, "rope2d: %s\n", text);
}

static int open_kernels(engine *own, cl_device_id device) {
    const char *text = kernels;
    char options[128];
    snprintf(options, sizeof(options), "-cl-std=CL1.2 -DTOKENS=%d -DHEADS=%d -DHEAD_DIM=%d -DFEATURES=%d",
             TOKENS, HEADS, HEAD_DIM, FEATURES);
    cl_program program = clCreateProgramWithSource(own->context, 1, &text, NULL, NULL);
    if (clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_SUCCESS) {
        own->project_kernel = clCreateKernel(program, "make_qk", NULL);
        own->scores_kernel = clCreateKernel(program, "multiply", NULL);
    }
    clReleaseProgram(program);
    if (own->project_kernel == NULL || own->scores_kernel == NULL)
        return 0;
    const cl_mem of_project[3] = {own->values, own->q, own->k}, of_scores[3] = {own->q, own->k, own->scores};
    for (cl_uint i = 0; i < 3; i++) {
        clSetKernelArg(own->project_kernel, i, sizeof(cl_mem), &of_project[i]);
        clSetKernelArg(own->scores_kernel, i, sizeof(cl_mem), &of_scores[i]);
    }
    return 1;
}

static int open_memory(engine *own, cl_device_id device) {
    static float values[TOKENS * FEATURES + 2 * WEIGHTS];
    cl_command_queue_properties able = 0;
    attention_weights((void *)(values + TOKENS * FEATURES));
    clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof(able), &able, NULL);
    own->context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    own->queue =
        clCreateCommandQueue(own->context, device, able & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
    own->values =
        clCreateBuffer(own->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(values), values, NULL);
    own->q = clCreateBuffer(own->context, CL_MEM_READ_WRITE, ELEMENTS * sizeof(float), NULL, NULL);
    own->k = clCreateBuffer(own->context, CL_MEM_READ_WRITE, ELEMENTS * sizeof(float), NULL, NULL);
    own->scores = clCreateBuffer(own->context, CL_MEM_READ_WRITE, HEADS * TOKENS * sizeof(float), NULL, NULL);
    return own->context && own->queue && own->values && own->q && own->k && own->scores;
}

rope2d_status engine_open(engine *own, cl_device_id device) {
    static float yx[TOKENS][2];
    const rope2d_host host = {sizeof(host), .log = log_line};
    const rope2d_spec spec = attention_spec();
    attention_coordinates(yx);
    if (!open_memory(own, device) || !open_kernels(own, device))
        return ROPE2D_ERROR_DRIVER;
    const rope2d_opencl_device_params ours = {sizeof(ours), own->context, device, .host = &host};
    const rope2d_plan_params types = {.struct_size = sizeof(types), .spec = &spec};
    const rope2d_positions_params grid = {
        .struct_size = sizeof(grid), .spec = &spec, .tokens = TOKENS, .coordinates = &yx[0][0]};
    const rope2d_opencl_view q = {
        .memory = own->q, .token_stride = HEADS * HEAD_DIM, .head_stride = HEAD_DIM};
    const rope2d_opencl_view k = {
        .memory = own->k, .token_stride = HEADS * HEAD_DIM, .head_stride = HEAD_DIM};
    const rope2d_opencl_tensor qk[2] = {{HEADS, .in = q}, {HEADS, .in = k}}; // in place
    const rope2d_opencl_binding_params bound = {
        .struct_size = sizeof(bound), .batch = 1, .tokens = TOKENS, .tensor_count = 2, .tensors = qk};
    rope2d_status status = rope2d_opencl_device_adopt(&ours, &own->device);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(own->device, &types, &own->plan);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(own->device, &grid, &own->positions);
    if (status == ROPE2D_OK)
        status = rope2d_opencl_binding_create(own->plan, own->positions, &bound, &own->rotation);
    return status;
}

void engine_close(engine *own) {
    const cl_mem buffers[4] = {own->values, own->q, own->k, own->scores};
    rope2d_opencl_binding_destroy(own->rotation);
    rope2d_positions_destroy(own->positions);
    rope2d_plan_destroy(own->plan);
    rope2d_device_destroy(own->device);
    for (int i = 0; i < 4; i++)
        if (buffers[i] != NULL)
            clReleaseMemObject(buffers[i]);
    if (own->project_kernel != NULL)
        clReleaseKernel(own->project_kernel);
    if (own->scores_kernel != NULL)
        clReleaseKernel(own->scores_kernel);
    if (own->queue != NULL)
        clReleaseCommandQueue(own->queue);
    if (own->context != NULL)
        clReleaseContext(own->context);
}
