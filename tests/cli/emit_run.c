// SPDX-License-Identifier: MIT
//
// An engine that vendors what `rope2d emit` wrote: emit_run ROPE2D.CL rotates on every OpenCL device by the
// emitted kernel, tables and names alone, and compares with the formula. Last word: how many devices agreed.
#define CL_TARGET_OPENCL_VERSION 120
#include "rope2d_table.h"
#include "shaders/shape.h"

#include <CL/cl.h>

#include <stdio.h>
#include <string.h>

enum { SIDE = 8, TOKENS = SIDE * SIDE, HEADS = 2, HEAD_DIM = 32, PAIRS = 12, GROUP = 64 };
enum { ELEMENTS = TOKENS * HEADS * HEAD_DIM, MOST_TEXT = 1 << 17, MOST_DEVICES = 8 };

static rope2d_device *builder;
static rope2d_positions *positions;
static rope2d_positions_info info = {.struct_size = sizeof(info)};
static rope2d_table_unit_list units;
static float in[ELEMENTS], expected[ELEMENTS];

static int make_tables(void) {
    static float freqs[2][PAIRS], yx[TOKENS][2];
    for (int i = 0; i < PAIRS; i++)
        freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / SIDE);
        yx[t][1] = (float)(t % SIDE);
    }
    const rope2d_spec spec = {sizeof(spec), .head_dim = HEAD_DIM, .rotary_dim = 2 * PAIRS, .axes = 2,
                              .freqs = &freqs[0][0]};
    const rope2d_positions_params grid = {
        .struct_size = sizeof(grid), .spec = &spec, .tokens = TOKENS, .coordinates = &yx[0][0]};
    return rope2d_table_builder_create(NULL, &builder) == ROPE2D_OK &&
           rope2d_positions_create(builder, &grid, &positions) == ROPE2D_OK &&
           rope2d_positions_get_info(positions, &info) == ROPE2D_OK &&
           rope2d_table_units(builder, &spec, 0, &units) == ROPE2D_OK;
}

// Interleaved pairs; even ones turn with y, odd ones with x; the other channels pass through.
static void make_expected(void) {
    const float *table = rope2d_positions_host_table(positions);
    const int32_t *rows = rope2d_positions_host_rows(positions);
    for (int i = 0; i < ELEMENTS; i++)
        in[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
    memcpy(expected, in, sizeof(in));
    for (int i = 0; i < TOKENS * HEADS * PAIRS; i++) {
        const int pair = i % PAIRS, head = i / PAIRS % HEADS, token = i / PAIRS / HEADS;
        const float *entry =
            table + 2 * ((size_t)rows[2 * token + pair % 2] * info.table_columns + (size_t)pair);
        const int lo = (token * HEADS + head) * HEAD_DIM + 2 * pair;
        const float products[4] = {entry[0] * in[lo], entry[1] * in[lo + 1], entry[1] * in[lo],
                                   entry[0] * in[lo + 1]};
        expected[lo] = products[0] - products[1];
        expected[lo + 1] = products[2] + products[3];
    }
}

static cl_uint fill_words(cl_uint words[R_SHAPE_WORDS]) {
    const cl_uint lanes = TOKENS * HEADS * units.count;
    cl_uint *range = words + R_RANGE_TENSORS, *tensor = words + R_TENSORS;
    memset(words, 0, R_SHAPE_WORDS * sizeof(*words));
    words[R_TOKENS] = TOKENS;
    words[R_BATCH] = 1;
    words[R_ROW_AXES] = info.row_axes;
    words[R_TABLE_ROWS] = info.table_rows;
    words[R_TABLE_ROW_STRIDE] = info.table_columns;
    words[R_UNITS] = units.count;
    words[R_PAIR_UNITS] = units.pair_units;
    words[R_TENSOR_COUNT] = 1;
    range[R_LANES] = lanes;
    tensor[R_HEADS] = HEADS;
    tensor[R_IN_TOKEN_STRIDE] = tensor[R_OUT_TOKEN_STRIDE] = HEADS * HEAD_DIM;
    tensor[R_IN_HEAD_STRIDE] = tensor[R_OUT_HEAD_STRIDE] = HEAD_DIM;
    return (lanes + GROUP - 1) / GROUP * GROUP;
}

static cl_mem buffer(cl_context context, const void *data, size_t bytes) {
    return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, (void *)(size_t)data,
                          NULL);
}

static int rotate(cl_device_id device, const char *text, const char *options) {
    static float out[ELEMENTS];
    cl_uint words[R_SHAPE_WORDS];
    const size_t global = fill_words(words), local = GROUP;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    memset(out, 0, sizeof(out));
    if (clBuildProgram(program, 1, &device, options, NULL, NULL) != CL_SUCCESS)
        return 0;
    cl_kernel kernel = clCreateKernel(program, "rope2d", NULL);
    const cl_mem memories[5] = {
        buffer(context, units.words, units.count * 4),
        buffer(context, rope2d_positions_host_rows(positions), (size_t)info.row_bytes),
        buffer(context, rope2d_positions_host_table(positions), (size_t)info.table_bytes),
        buffer(context, in, sizeof(in)),
        buffer(context, out, sizeof(out)),
    };
    clSetKernelArg(kernel, 0, sizeof(words), words);
    for (cl_uint i = 1; i < 12; i++)
        clSetKernelArg(kernel, i, sizeof(cl_mem), &memories[i < 4 ? i - 1 : 3 + i % 2]);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, memories[4], CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL);
    for (int i = 0; i < 5; i++)
        clReleaseMemObject(memories[i]);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return memcmp(out, expected, sizeof(out)) == 0;
}

int main(int argc, char **argv) {
    static char text[MOST_TEXT];
    cl_platform_id platforms[MOST_DEVICES];
    cl_device_id devices[MOST_DEVICES];
    cl_uint platform_count = 0, count = 0, agreed = 0, wrong = 0;
    FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || !make_tables())
        return 1;
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    make_expected();
    if (clGetPlatformIDs(MOST_DEVICES, platforms, &platform_count) != CL_SUCCESS)
        platform_count = 0;
    for (cl_uint i = 0; i < platform_count && i < MOST_DEVICES; i++) {
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &count) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < count && d < MOST_DEVICES; d++)
            *(rotate(devices[d], text, argv[2]) ? &agreed : &wrong) += 1;
    }
    rope2d_positions_destroy(positions);
    rope2d_table_builder_destroy(builder);
    printf("%u wrong, agreed %u\n", wrong, agreed);
    return wrong > 0;
}
