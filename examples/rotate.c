// SPDX-License-Identifier: MIT
//
// Rotates the q and k of a vision transformer's layer, in place: 32 x 32 patches, 16 heads of 80 channels in
// f16, on the first device that is there of Vulkan, OpenCL and the CPU. Build it with
//     cc rotate.c $(pkg-config --cflags --libs rope2d) -lm
#include <rope2d/rope2d.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 32, COLUMNS = 32, TOKENS = ROWS * COLUMNS, HEADS = 16, HEAD_DIM = 80, PAIRS = HEAD_DIM / 2 };

static void log_line(void *user, rope2d_log_level level, const char *text) {
    (void)user;
    (void)level;
    fprintf(stderr, "rope2d: %s\n", text);
}

// The first half of the pairs turns with y, the second with x, as in Qwen2-VL's vision tower.
static void fill_frequencies(float freqs[2][PAIRS]) {
    for (int i = 0; i < PAIRS / 2; i++) {
        float frequency = (float)pow(10000.0, -4.0 * i / HEAD_DIM);
        freqs[0][i] = frequency;
        freqs[0][PAIRS / 2 + i] = 0.0f;
        freqs[1][i] = 0.0f;
        freqs[1][PAIRS / 2 + i] = frequency;
    }
}

static rope2d_status open_device(const rope2d_host *host, rope2d_device **device) {
    const rope2d_backend wishes[] = {ROPE2D_BACKEND_VULKAN, ROPE2D_BACKEND_OPENCL, ROPE2D_BACKEND_CPU};
    rope2d_status status = ROPE2D_OK;
    for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
        rope2d_device_params where = {sizeof(where), .backend = wishes[i], .host = host};
        status = rope2d_device_create(&where, device);
        if (status == ROPE2D_OK)
            break;
    }
    return status;
}

int main(void) {
    static float freqs[2][PAIRS];
    static float yx[TOKENS][2];
    static uint16_t q[TOKENS][HEADS][HEAD_DIM], k[TOKENS][HEADS][HEAD_DIM];
    rope2d_device *device = NULL;
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;

    fill_frequencies(freqs);
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / COLUMNS);
        yx[t][1] = (float)(t % COLUMNS);
        for (int h = 0; h < HEADS; h++) {
            for (int d = 0; d < HEAD_DIM; d++) {
                q[t][h][d] = 0x3c00; // 1 in f16
                k[t][h][d] = 0x4000; // 2
            }
        }
    }

    rope2d_host host = {sizeof(host), .log = log_line};
    rope2d_status status = open_device(&host, &device);
    if (status != ROPE2D_OK)
        goto done;

    rope2d_spec spec = {sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .pairing = ROPE2D_PAIRING_HALF};
    spec.freqs = &freqs[0][0];

    // Once per image size, shared by all layers.
    rope2d_positions_params grid = {sizeof(grid), &spec, .tokens = TOKENS, .coordinates = &yx[0][0]};
    status = rope2d_positions_create(device, &grid, &positions);
    if (status != ROPE2D_OK)
        goto done;

    // Once per model.
    rope2d_plan_params types = {sizeof(types), &spec, .in = ROPE2D_F16, .out = ROPE2D_F16};
    status = rope2d_plan_create(device, &types, &plan);
    if (status != ROPE2D_OK)
        goto done;

    // Every layer. An output that is left out means in place.
    rope2d_tensor qk[2] = {
        {HEADS, .in = rope2d_view_contiguous(q, ROPE2D_F16, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM)},
        {HEADS, .in = rope2d_view_contiguous(k, ROPE2D_F16, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM)},
    };
    rope2d_apply_params both = {sizeof(both), .batch = 1, .tokens = TOKENS, .tensor_count = 2, .tensors = qk};
    status = rope2d_apply(plan, positions, &both);
    if (status != ROPE2D_OK)
        goto done;

    rope2d_device_info info = {.struct_size = sizeof(info)};
    status = rope2d_device_get_info(device, &info);
    printf("rotated %d tokens on %s\n", TOKENS, info.name);
    // y = 1, x = 0: channels 0 and 40 become cos 1 - sin 1 and sin 1 + cos 1, rounded to f16.
    printf("token (1, 0), channels 0 and 40 of q: 0x%04x 0x%04x\n", (unsigned)q[COLUMNS][0][0],
           (unsigned)q[COLUMNS][0][PAIRS]);

done:
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    rope2d_device_destroy(device);
    if (status != ROPE2D_OK) {
        fprintf(stderr, "rotate: %s\n", rope2d_status_name(status));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
