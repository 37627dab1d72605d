// SPDX-License-Identifier: MIT
//
// Few heads and many tokens on Vulkan's software devices, where an invocation takes several tokens: the bits
// of the CPU's portable path, for numbers of tokens that no tile divides and tokens that do not rotate.
#include "apply_once.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 2, TOKENS = 1531, DIM = 96, MOST_HEADS = 2, MOST_DEVICES = 16 };

static const size_t most_bytes = (size_t)BATCH * TOKENS * MOST_HEADS * DIM * sizeof(float);

static rope2d_status rotate(rope2d_device *device, const rope2d_plan_params *types, uint32_t heads,
                            bool in_place, void *from, void *to) {
    static float yx[TOKENS][2];
    for (int t = 0; t < TOKENS; t++) {
        yx[t][0] = (float)(t / 40);
        yx[t][1] = (float)(t % 40);
    }
    const rope2d_range unrotated[] = {{0, 3}, {700, 733}};
    const rope2d_positions_params grid = {.struct_size = sizeof(grid),
                                          .spec = types->spec,
                                          .tokens = TOKENS,
                                          .coordinates = yx[0],
                                          .unrotated = unrotated,
                                          .unrotated_count = 2};
    const int64_t token = (int64_t)heads * DIM;
    const rope2d_view in = {from, most_bytes, 0, token * TOKENS, token, DIM};
    rope2d_view out = in;
    out.base = in_place ? from : to;
    const rope2d_tensor tensor = {.heads = heads, .in = in, .out = out};
    const rope2d_apply_params all = {sizeof(all), BATCH, 0, TOKENS, 1, &tensor};
    return apply_once(device, types, &grid, &all);
}

// Halves between 2^-6 and 2^2, whatever the type makes of them: no subnormal comes of these.
static void fill(void *memory) {
    uint16_t *halves = memory;
    uint32_t state = 1;
    for (size_t i = 0; i < most_bytes / sizeof(*halves); i++) {
        state = state * 1664525u + 1013904223u;
        halves[i] = (uint16_t)((state >> 16 & 0x8000u) | (0x2400u + (state >> 8) % 0x2000u));
    }
}

static void compare(rope2d_device *device, rope2d_device *portable, const rope2d_plan_params *types,
                    uint32_t heads, bool in_place, void *const memory[4]) {
    fill(memory[0]);
    fill(memory[1]);
    memset(memory[2], 0, most_bytes);
    memset(memory[3], 0, most_bytes);
    const rope2d_status seen = rotate(device, types, heads, in_place, memory[0], memory[2]);
    const rope2d_status wanted = rotate(portable, types, heads, in_place, memory[1], memory[3]);
    CHECK(seen == ROPE2D_OK && wanted == ROPE2D_OK, "%s and %s", rope2d_status_name(seen),
          rope2d_status_name(wanted));
    static const unsigned char untouched[64];
    CHECK(in_place || memcmp(memory[3], untouched, sizeof(untouched)) != 0, "the portable path has written");
    CHECK(memcmp(memory[0], memory[1], most_bytes) == 0 && memcmp(memory[2], memory[3], most_bytes) == 0,
          "%u heads, pairing %d, type %d%s: the portable path's bits", heads, (int)types->spec->pairing,
          (int)types->in, in_place ? ", in place" : "");
}

static void each_case(rope2d_device *device, rope2d_device *portable, void *const memory[4]) {
    static float freqs[2][DIM / 2];
    for (int i = 0; i < DIM / 2; i++)
        freqs[i >= DIM / 4][i] = 1.0f / (float)(i % (DIM / 4) + 1);
    for (int i = 0; i < 8; i++) {
        const rope2d_spec spec = {.struct_size = sizeof(spec),
                                  .head_dim = DIM,
                                  .axes = 2,
                                  .pairing = i % 2 ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED,
                                  .freqs = freqs[0]};
        const rope2d_element type = i / 2 % 2 ? ROPE2D_F16 : ROPE2D_F32;
        const rope2d_plan_params types = {
            .struct_size = sizeof(types), .spec = &spec, .in = type, .out = type};
        compare(device, portable, &types, 1 + (uint32_t)i % 3 / 2, i >= 4, memory);
    }
}

int main(void) {
    rope2d_device_info infos[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    uint32_t used = 0;
    memset(infos, 0, sizeof(infos));
    for (uint32_t i = 0; i < MOST_DEVICES; i++)
        infos[i].struct_size = sizeof(infos[i]);
    if (rope2d_enumerate(ROPE2D_BACKEND_VULKAN, NULL, &count, infos) != ROPE2D_OK)
        count = 0;
    const rope2d_device_params cpu = {.struct_size = sizeof(cpu), .flags = ROPE2D_DEVICE_PORTABLE};
    rope2d_device *portable = NULL;
    void *memory[4] = {malloc(most_bytes), malloc(most_bytes), malloc(most_bytes), malloc(most_bytes)};
    const bool has_memory = memory[0] && memory[1] && memory[2] && memory[3];
    CHECK(has_memory && rope2d_device_create(&cpu, &portable) == ROPE2D_OK, "the CPU and memory");
    for (uint32_t i = 0; has_memory && portable && i < count && i < MOST_DEVICES; i++) {
        const rope2d_device_params params = {
            .struct_size = sizeof(params), .backend = ROPE2D_BACKEND_VULKAN, .index = i};
        rope2d_device *device = NULL;
        CHECK(rope2d_device_create(&params, &device) == ROPE2D_OK, "vulkan:%u opens", i);
        if (device)
            each_case(device, portable, memory);
        used += device != NULL;
        rope2d_device_destroy(device);
    }
    if (used == 0)
        check_skip("no Vulkan device");
    rope2d_device_destroy(portable);
    for (int i = 0; i < 4; i++)
        free(memory[i]);
    return check_finish();
}
