// SPDX-License-Identifier: MIT
//
// Outputs of a single head that are larger than the device's last cache: the bits are the CPU's, wherever
// they begin. The cache is said to have a byte, so that all are.
#include "opencl/opencl.h"
#include "internal.h"
#include "opencl_program.h"

#include <string.h>

enum { CHANNELS = 256, NUMBERS = TOKENS * CHANNELS, GAP = 32, ALL = 2 * (NUMBERS + GAP) };

static unsigned char input[sizeof(float) * ALL], expected[sizeof(input)], found[sizeof(input)];

// q and k, each from element `first` of its part on.
static void rotate_on_cpu(program *own, const objects *made, uint64_t first) {
    rope2d_tensor tensors[2] = {{.heads = 1}, {.heads = 1}};
    rope2d_apply_params apply = {
        .struct_size = sizeof(apply), .batch = 1, .tokens = TOKENS, .tensor_count = 2, .tensors = tensors};
    for (uint64_t k = 0; k < 2; k++) {
        tensors[k].in = rope2d_view_contiguous(input, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS, 1, CHANNELS);
        tensors[k].in.offset = sizeof(float) * (first + k * (NUMBERS + GAP / 2));
        tensors[k].in.size = sizeof(input);
        tensors[k].out = tensors[k].in;
        tensors[k].out.base = expected;
    }
    IS(ROPE2D_OK, rope2d_apply(made->plan, made->positions, &apply));
}

static void rotate_on_device(program *own, const objects *made, uint64_t first) {
    cl_mem in = clCreateBuffer(own->context, CL_MEM_COPY_HOST_PTR, sizeof(input), input, NULL);
    cl_mem out = clCreateBuffer(own->context, CL_MEM_COPY_HOST_PTR, sizeof(found), found, NULL);
    rope2d_opencl_tensor tensors[2] = {{.heads = 1}, {.heads = 1}};
    const rope2d_opencl_binding_params params = {
        .struct_size = sizeof(params), .batch = 1, .tokens = TOKENS, .tensor_count = 2, .tensors = tensors};
    rope2d_opencl_binding *binding = NULL;
    for (uint64_t k = 0; k < 2; k++) {
        tensors[k].in = (rope2d_opencl_view){.memory = in,
                                             .offset = sizeof(float) * (first + k * (NUMBERS + GAP / 2)),
                                             .token_stride = CHANNELS,
                                             .head_stride = CHANNELS};
        tensors[k].out = tensors[k].in;
        tensors[k].out.memory = out;
    }
    IS(ROPE2D_OK, rope2d_opencl_binding_create(made->plan, made->positions, &params, &binding));
    IS(ROPE2D_OK, rope2d_opencl_enqueue(binding, own->ordered, 0, TOKENS, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(own->ordered, out, CL_TRUE, 0, sizeof(found), found, 0, NULL, NULL) ==
          CL_SUCCESS);
    rope2d_opencl_binding_destroy(binding);
    clReleaseMemObject(in);
    clReleaseMemObject(out);
}

static objects make(program *own, rope2d_device *device, const rope2d_spec *spec) {
    const rope2d_plan_params plan = {
        .struct_size = sizeof(plan), .spec = spec, .in = ROPE2D_F32, .out = ROPE2D_F32};
    const rope2d_positions_params positions = {
        .struct_size = sizeof(positions), .spec = spec, .tokens = TOKENS, .coordinates = &own->yx[0][0]};
    objects made = {NULL, NULL};
    IS(ROPE2D_OK, rope2d_plan_create(device, &plan, &made.plan));
    IS(ROPE2D_OK, rope2d_positions_create(device, &positions, &made.positions));
    return made;
}

static void compare(program *own, rope2d_pairing pairing) {
    static float freqs[2][CHANNELS / 2];
    for (int i = 0; i < CHANNELS / 2; i++)
        freqs[i < CHANNELS / 4][i] = 1.0f / (float)(1 + i);
    const rope2d_spec spec = {.struct_size = sizeof(spec),
                              .head_dim = CHANNELS,
                              .axes = 2,
                              .pairing = pairing,
                              .freqs = &freqs[0][0]};
    objects mine = make(own, own->device, &spec), reference = make(own, own->cpu, &spec);
    for (uint64_t first = 0; first <= 16; first += first < 2 ? 1 : 14) { // lines begin with 0 and 16
        counter_fill(input, COUNTER_F32, COUNTER_UNIFORM, 7, 1, 0, ALL);
        memset(expected, 0xa5, sizeof(expected));
        memset(found, 0xa5, sizeof(found));
        rotate_on_cpu(own, &reference, first);
        rotate_on_device(own, &mine, first);
        CHECK(memcmp(found, expected, sizeof(found)) == 0);
    }
    program_unmake(&mine);
    program_unmake(&reference);
}

static void adopt(program *own, const rope2d_opencl_device_params *params) {
    IS(ROPE2D_OK, rope2d_opencl_device_adopt(params, &own->device));
}

static void check_device(cl_device_id id) {
    static program own;
    if (program_start(&own, id)) {
        const rope2d_opencl_device_params params = {.struct_size = sizeof(params),
                                                    .context = own.context,
                                                    .device = id,
                                                    .host = &own.host,
                                                    .queue = own.ordered};
        adopt(&own, &params);
    }
    if (own.device) {
        ((rope2d_cl_device *)own.device->impl)->last_cache = 1;
        compare(&own, ROPE2D_PAIRING_HALF);
        compare(&own, ROPE2D_PAIRING_INTERLEAVED);
    }
    rope2d_device_destroy(own.device);
    program_stop(&own);
}

int main(void) {
    return program_each(check_device);
}
