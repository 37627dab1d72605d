// SPDX-License-Identifier: MIT
//
// Outputs that are larger than the device's last cache: the bits are the CPU's, wherever they and their heads
// begin, on AMD's processors and others. The cache is said to have a byte, or to be none.
#include "opencl/opencl.h"
#include "internal.h"
#include "opencl_program.h"

#include <stdio.h>
#include <string.h>

enum { TOKEN_STRIDE = 256, NUMBERS = TOKENS * TOKEN_STRIDE, GAP = 64, ALL = 2 * (NUMBERS + GAP) };

static unsigned char input[sizeof(float) * ALL], expected[sizeof(input)], found[sizeof(input)];

typedef struct shape {
    uint32_t heads, channels;
    uint64_t head_stride;
    rope2d_element element;
} shape;

// q and k, each from element `first` of its part on.
static void rotate_on_cpu(program *own, const objects *made, const shape *s, uint64_t first) {
    rope2d_tensor tensors[2] = {{.heads = s->heads}, {.heads = (s->heads + 1) / 2}};
    rope2d_apply_params apply = {
        .struct_size = sizeof(apply), .batch = 1, .tokens = TOKENS, .tensor_count = 2, .tensors = tensors};
    for (uint64_t k = 0; k < 2; k++) {
        tensors[k].in = rope2d_view_contiguous(input, s->element, ROPE2D_LAYOUT_BNHD, 1, TOKENS,
                                               tensors[k].heads, s->channels);
        tensors[k].in.token_stride = TOKEN_STRIDE;
        tensors[k].in.head_stride = s->head_stride;
        tensors[k].in.offset = rope2d_element_size(s->element) * (first + k * (NUMBERS + GAP / 2));
        tensors[k].in.size = sizeof(input);
        tensors[k].out = tensors[k].in;
        tensors[k].out.base = expected;
    }
    IS(ROPE2D_OK, rope2d_apply(made->plan, made->positions, &apply));
}

static void rotate_on_device(program *own, const objects *made, const shape *s, uint64_t first) {
    cl_mem in = clCreateBuffer(own->context, CL_MEM_COPY_HOST_PTR, sizeof(input), input, NULL);
    cl_mem out = clCreateBuffer(own->context, CL_MEM_COPY_HOST_PTR, sizeof(found), found, NULL);
    rope2d_opencl_tensor tensors[2] = {{.heads = s->heads}, {.heads = (s->heads + 1) / 2}};
    const rope2d_opencl_binding_params params = {
        .struct_size = sizeof(params), .batch = 1, .tokens = TOKENS, .tensor_count = 2, .tensors = tensors};
    rope2d_opencl_binding *binding = NULL;
    for (uint64_t k = 0; k < 2; k++) {
        tensors[k].in = (rope2d_opencl_view){.memory = in,
                                             .offset = rope2d_element_size(s->element) *
                                                       (first + k * (NUMBERS + GAP / 2)),
                                             .token_stride = TOKEN_STRIDE,
                                             .head_stride = s->head_stride};
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

static objects make(program *own, rope2d_device *device, const rope2d_spec *spec, rope2d_element element) {
    const rope2d_plan_params plan = {
        .struct_size = sizeof(plan), .spec = spec, .in = element, .out = element};
    const rope2d_range unrotated = {1, 3};
    const rope2d_positions_params positions = {.struct_size = sizeof(positions),
                                               .spec = spec,
                                               .tokens = TOKENS,
                                               .coordinates = &own->yx[0][0],
                                               .unrotated = &unrotated,
                                               .unrotated_count = 1};
    objects made = {NULL, NULL};
    IS(ROPE2D_OK, rope2d_plan_create(device, &plan, &made.plan));
    IS(ROPE2D_OK, rope2d_positions_create(device, &positions, &made.positions));
    return made;
}

static void compare(program *own, const shape *s, rope2d_pairing pairing) {
    static float freqs[2 * TOKEN_STRIDE / 2];
    const uint32_t pairs = s->channels / 2;
    memset(freqs, 0, sizeof(freqs));
    for (uint32_t i = 0; i < pairs; i++)
        freqs[(i < pairs / 2 ? pairs : 0) + i] = 1.0f / (float)(1 + i);
    const rope2d_spec spec = {
        .struct_size = sizeof(spec), .head_dim = s->channels, .axes = 2, .pairing = pairing, .freqs = freqs};
    objects mine = make(own, own->device, &spec, s->element);
    objects reference = make(own, own->cpu, &spec, s->element);
    const uint64_t line = 64 / rope2d_element_size(s->element);
    for (uint64_t first = 0; first <= line;
         first += first < 2 ? 1 : line - 2) { // lines begin with 0 and `line`
        counter_fill(input, s->element == ROPE2D_F32 ? COUNTER_F32 : COUNTER_BF16, COUNTER_UNIFORM, 7, 1, 0,
                     ALL);
        memset(expected, 0xa5, sizeof(expected));
        memset(found, 0xa5, sizeof(found));
        rotate_on_cpu(own, &reference, s, first);
        rotate_on_device(own, &mine, s, first);
        tally_check(&counts, memcmp(found, expected, sizeof(found)) == 0,
                    "%s: %u x %u of type %d, %llu apart, pairing %d, from %llu", own->name, s->heads,
                    s->channels, (int)s->element, (unsigned long long)s->head_stride, (int)pairing,
                    (unsigned long long)first);
    }
    program_unmake(&mine);
    program_unmake(&reference);
}

static void compare_shapes(program *own) {
    static const shape shapes[] = {
        {1, 256, 256, ROPE2D_F32}, {4, 64, 64, ROPE2D_F32},    {3, 64, 68, ROPE2D_F32},
        {3, 80, 80, ROPE2D_F32},   {1, 256, 256, ROPE2D_BF16}, {1, 128, 128, ROPE2D_BF16},
        {1, 80, 80, ROPE2D_BF16}, // a single head alone
    };
    rope2d_cl_device *device = own->device->impl;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        device->last_cache = 0;
        compare(own, &shapes[i], ROPE2D_PAIRING_HALF);
        device->last_cache = 1;
        compare(own, &shapes[i], ROPE2D_PAIRING_HALF);
        compare(own, &shapes[i], ROPE2D_PAIRING_INTERLEAVED);
    }
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
        static const char *const vendors[] = {"AuthenticAMD", "any other"};
        for (size_t i = 0; i < 2; i++) {
            snprintf(own.device->info.vendor, sizeof(own.device->info.vendor), "%s", vendors[i]);
            compare_shapes(&own);
        }
    }
    rope2d_device_destroy(own.device);
    program_stop(&own);
}

int main(void) {
    return program_each(check_device);
}
