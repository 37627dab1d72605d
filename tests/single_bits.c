// SPDX-License-Identifier: MIT
//
// usage: single_bits [BACKENDS]
// Rotates on every device of the first BACKENDS backends, and prints a hash of each output: what is printed
// must not depend on how the library was built. It uses the public API alone.
#include <rope2d/rope2d.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 23, TOKENS = SIDE * SIDE, HEADS = 3, HEAD_DIM = 88, PAIRS = HEAD_DIM / 2, MOST_DEVICES = 16 };
enum { ELEMENTS = TOKENS * HEADS * HEAD_DIM };

static const char *const backends[] = {"cpu", "vulkan", "opencl"};
static const char *const types[] = {"f32", "f16", "bf16"};

typedef union values {
    uint32_t words[ELEMENTS];
    uint16_t halves[ELEMENTS];
} values;

// Finite numbers of every sign and of many sizes.
static void fill(values *v, rope2d_element type) {
    uint32_t state = 1;
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        state = state * 1664525u + 1013904223u;
        if (type == ROPE2D_F32)
            v->words[i] = (state & 0x80ffffffu) + 0x3f000000u;
        else if (type == ROPE2D_F16)
            v->halves[i] = (uint16_t)((state >> 16 & 0x87ffu) + 0x3800u);
        else
            v->halves[i] = (uint16_t)((state >> 16 & 0x80ffu) + 0x3f00u);
    }
}

static uint64_t hash(const values *v, rope2d_element type) {
    uint64_t sum = UINT64_C(14695981039346656037);
    for (uint32_t i = 0; i < ELEMENTS; i++)
        sum = (sum ^ (type == ROPE2D_F32 ? v->words[i] : v->halves[i])) * UINT64_C(1099511628211);
    return sum;
}

static rope2d_status rotate(rope2d_device *device, rope2d_pairing pairing, rope2d_element type, values *v) {
    static float freqs[2][PAIRS], yx[TOKENS][2];
    for (int i = 0; i < PAIRS; i++)
        freqs[i % 2][i] = 1.0f / (float)(1 + i);
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / SIDE);
        yx[t][1] = (float)(t % SIDE);
    }
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .pairing = pairing};
    spec.freqs = &freqs[0][0];
    rope2d_positions_params grid = {.struct_size = sizeof(grid), .spec = &spec, .tokens = TOKENS};
    grid.coordinates = &yx[0][0];
    rope2d_plan_params kinds = {.struct_size = sizeof(kinds), .spec = &spec, .in = type, .out = type};
    rope2d_tensor tensor = {.heads = HEADS};
    tensor.in = rope2d_view_contiguous(v, type, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM);
    rope2d_apply_params all = {.struct_size = sizeof(all), .batch = 1, .tokens = TOKENS, .tensor_count = 1};
    all.tensors = &tensor;
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    rope2d_status status = rope2d_positions_create(device, &grid, &positions);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(device, &kinds, &plan);
    if (status == ROPE2D_OK)
        status = rope2d_apply(plan, positions, &all);
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    return status;
}

static void print_device(rope2d_backend backend, uint32_t index) {
    static values v;
    rope2d_device *device = NULL;
    rope2d_device_params where = {.struct_size = sizeof(where), .backend = backend, .index = index};
    rope2d_status status = rope2d_device_create(&where, &device);
    for (int p = 0; p < 2; p++) {
        const rope2d_pairing pairing = p ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED;
        for (int t = 0; t < 3; t++) {
            const rope2d_element type = (rope2d_element[]){ROPE2D_F32, ROPE2D_F16, ROPE2D_BF16}[t];
            fill(&v, type);
            if (status == ROPE2D_OK)
                status = rotate(device, pairing, type, &v);
            printf("%s:%" PRIu32 " %s %s %s %016" PRIx64 "\n", backends[backend], index, types[t],
                   p ? "half" : "interleaved", rope2d_status_name(status), hash(&v, type));
        }
    }
    rope2d_device_destroy(device);
}

int main(int argc, char **argv) {
    const int most = argc > 1 ? atoi(argv[1]) : ROPE2D_BACKEND_COUNT;
    for (int b = 0; b < most && b < ROPE2D_BACKEND_COUNT; b++) {
        static rope2d_device_info infos[MOST_DEVICES];
        uint32_t count = MOST_DEVICES;
        for (int i = 0; i < MOST_DEVICES; i++)
            infos[i].struct_size = sizeof(infos[i]);
        const rope2d_status status = rope2d_enumerate((rope2d_backend)b, NULL, &count, infos);
        printf("%s: %s\n", backends[b], rope2d_status_name(status));
        for (uint32_t i = 0; status == ROPE2D_OK && i < count && i < MOST_DEVICES; i++)
            print_device((rope2d_backend)b, i);
    }
    return 0;
}
