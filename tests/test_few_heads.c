// SPDX-License-Identifier: MIT
//
// Few heads and many tokens on Vulkan's software devices, where an invocation takes several tokens, and q and
// k of so many large heads that it takes some of them at a time: the bits of the CPU's portable path, for
// numbers of tokens that no tile divides and tokens that do not rotate.
#include "apply_once.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 2, TOKENS = 1531, MOST_DIM = 128, MOST_DEVICES = 16 };

// Both tensors' heads stand side by side.
struct shape {
    uint32_t head_dim, q_heads, k_heads;
    uint64_t tokens;
};
static const struct shape shapes[] = {
    {96, 1, 0, TOKENS}, {96, 2, 0, TOKENS}, {128, 9, 6, 203}, {128, 3, 10, 217}, {128, 5, 5, 230}};
enum { MOST_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static const size_t most_bytes = (size_t)BATCH * 230 * 15 * 128 * sizeof(float);

static rope2d_status rotate(rope2d_device *device, const rope2d_plan_params *types, const struct shape *shape,
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
    const int64_t dim = (int64_t)shape->head_dim;
    const int64_t token = (shape->q_heads + shape->k_heads) * dim;
    const uint64_t size = types->in == ROPE2D_F32 ? 4 : 2;
    rope2d_tensor tensors[2] = {{.heads = shape->q_heads}, {.heads = shape->k_heads}};
    for (int i = 0; i < 2; i++) {
        const uint64_t first = i == 0 ? 0 : shape->q_heads * shape->head_dim * size;
        const rope2d_view in = {from, most_bytes, first, token * (int64_t)shape->tokens, token, dim};
        tensors[i].in = tensors[i].out = in;
        tensors[i].out.base = in_place ? from : to;
    }
    const rope2d_apply_params all = {sizeof(all), BATCH, 0, shape->tokens, shape->k_heads > 0 ? 2 : 1,
                                     tensors};
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
                    const struct shape *shape, bool in_place, void *const memory[4]) {
    fill(memory[0]);
    fill(memory[1]);
    memset(memory[2], 0, most_bytes);
    memset(memory[3], 0, most_bytes);
    const rope2d_status seen = rotate(device, types, shape, in_place, memory[0], memory[2]);
    const rope2d_status wanted = rotate(portable, types, shape, in_place, memory[1], memory[3]);
    CHECK(seen == ROPE2D_OK && wanted == ROPE2D_OK, "%s and %s", rope2d_status_name(seen),
          rope2d_status_name(wanted));
    static const unsigned char untouched[64];
    CHECK(in_place || memcmp(memory[3], untouched, sizeof(untouched)) != 0, "the portable path has written");
    CHECK(memcmp(memory[0], memory[1], most_bytes) == 0 && memcmp(memory[2], memory[3], most_bytes) == 0,
          "%u and %u heads of %u, pairing %d, type %d%s: the portable path's bits", shape->q_heads,
          shape->k_heads, shape->head_dim, (int)types->spec->pairing, (int)types->in,
          in_place ? ", in place" : "");
}

static void each_case(rope2d_device *device, rope2d_device *portable, const struct shape *shape,
                      void *const memory[4]) {
    static float freqs[2 * MOST_DIM / 2];
    const uint32_t pairs = shape->head_dim / 2;
    for (uint32_t i = 0; i < pairs; i++) {
        freqs[i] = i < pairs / 2 ? 1.0f / (float)(i + 1) : 0.0f;
        freqs[pairs + i] = i < pairs / 2 ? 0.0f : 1.0f / (float)(i - pairs / 2 + 1);
    }
    for (int i = 0; i < 8; i++) {
        const rope2d_spec spec = {.struct_size = sizeof(spec),
                                  .head_dim = shape->head_dim,
                                  .axes = 2,
                                  .pairing = i % 2 ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED,
                                  .freqs = freqs};
        const rope2d_element type = i / 2 % 2 ? ROPE2D_F16 : ROPE2D_F32;
        const rope2d_plan_params types = {
            .struct_size = sizeof(types), .spec = &spec, .in = type, .out = type};
        compare(device, portable, &types, shape, i >= 4, memory);
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
        for (int s = 0; device && s < MOST_SHAPES; s++)
            each_case(device, portable, &shapes[s], memory);
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
