// SPDX-License-Identifier: MIT
// An apply that is shared among tasks gives the bits of one that is not, and small ones and long ones are
// shared alike.
#include "check.h"
#include "counter.h"
#include "rope2d/rope2d.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pool {
    uint32_t tasks; // of the last call
    uint32_t most;
};

static void backwards(void *user, uint32_t tasks, void (*task)(void *data, uint32_t index), void *data) {
    struct pool *pool = user;
    pool->tasks = tasks;
    pool->most = tasks > pool->most ? tasks : pool->most;
    for (uint32_t i = tasks; i > 0; i--)
        task(data, i - 1);
}

// One token of many heads and many tokens of one: both must be shared among threads.
static bool rotate_large(const rope2d_host *host, uint64_t tokens, uint32_t heads, float *values) {
    const uint32_t dim = 64;
    float freqs[32];
    for (int i = 0; i < 32; i++)
        freqs[i] = 1.0f / (float)(1 + i);
    rope2d_spec spec = {.struct_size = sizeof(spec), .head_dim = dim, .axes = 1, .freqs = freqs};
    float *coordinates = calloc(tokens, sizeof(*coordinates));
    for (uint64_t i = 0; coordinates && i < tokens; i++)
        coordinates[i] = (float)i + 1;
    counter_fill(values, COUNTER_F32, COUNTER_BELL, 20, 4, 0, 2 * tokens * heads * dim);
    rope2d_device_params device_params = {.struct_size = sizeof(device_params), .host = host};
    rope2d_positions_params positions_params = {
        .struct_size = sizeof(positions_params), .spec = &spec, .tokens = tokens, .coordinates = coordinates};
    rope2d_plan_params plan_params = {.struct_size = sizeof(plan_params), .spec = &spec};
    rope2d_tensor tensors[2] = {{.heads = heads}, {.heads = heads}};
    for (int i = 0; i < 2; i++)
        tensors[i].in = rope2d_view_contiguous(values + i * tokens * heads * dim, ROPE2D_F32,
                                               ROPE2D_LAYOUT_BNHD, 1, tokens, heads, dim);
    rope2d_apply_params params = {
        .struct_size = sizeof(params), .batch = 1, .tokens = tokens, .tensor_count = 2, .tensors = tensors};
    rope2d_device *device = NULL;
    rope2d_positions *positions = NULL;
    rope2d_plan *plan = NULL;
    bool good = coordinates && rope2d_device_create(&device_params, &device) == ROPE2D_OK &&
                rope2d_positions_create(device, &positions_params, &positions) == ROPE2D_OK &&
                rope2d_plan_create(device, &plan_params, &plan) == ROPE2D_OK &&
                rope2d_apply(plan, positions, &params) == ROPE2D_OK;
    rope2d_plan_destroy(plan);
    rope2d_positions_destroy(positions);
    rope2d_device_destroy(device);
    free(coordinates);
    return good;
}

static void test_threads(uint64_t tokens, uint32_t heads) {
    size_t bytes = 2 * tokens * heads * 64 * sizeof(float);
    float *alone = malloc(bytes);
    float *shared = malloc(bytes);
    struct pool pool = {0};
    rope2d_host one = {.struct_size = sizeof(one), .threads = 1};
    rope2d_host seven = {
        .struct_size = sizeof(seven), .user = &pool, .parallel_for = backwards, .threads = 7};
    bool good = alone && shared && rotate_large(&one, tokens, heads, alone) &&
                rotate_large(&seven, tokens, heads, shared) && memcmp(alone, shared, bytes) == 0 &&
                pool.tasks >= 7;
    CHECK(good, "%" PRIu64 " tokens of %" PRIu32 " heads: %" PRIu32 " tasks", tokens, heads, pool.tasks);
    free(alone);
    free(shared);
}

int main(void) {
    test_threads(20011, 3);
    test_threads(1, 60007);
    return check_finish();
}
