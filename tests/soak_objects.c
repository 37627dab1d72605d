// SPDX-License-Identifier: MIT
#include "soak.h"

#include <stdlib.h>
#include <string.h>

static void change(soak_host *host, int64_t bytes) {
    (void)pthread_mutex_lock(&host->lock);
    host->live += bytes;
    (void)pthread_mutex_unlock(&host->lock);
}

static void *take(void *user, size_t size, size_t alignment) {
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory != NULL)
        change(user, (int64_t)size);
    return memory;
}

static void give(void *user, void *memory, size_t size) {
    change(user, -(int64_t)size);
    free(memory);
}

void soak_host_create(soak_host *host) {
    memset(host, 0, sizeof(*host));
    (void)pthread_mutex_init(&host->lock, NULL);
    host->host = (rope2d_host){
        .struct_size = sizeof(host->host), .user = host, .allocate = take, .release = give, .threads = 1};
}

int64_t soak_live(soak_host *host) {
    (void)pthread_mutex_lock(&host->lock);
    const int64_t live = host->live;
    (void)pthread_mutex_unlock(&host->lock);
    return live;
}

rope2d_backend soak_backend(const char *name) {
    if (strcmp(name, "vulkan") == 0)
        return ROPE2D_BACKEND_VULKAN;
    return strcmp(name, "opencl") == 0 ? ROPE2D_BACKEND_OPENCL : ROPE2D_BACKEND_CPU;
}

uint32_t soak_count(rope2d_backend backend) {
    uint32_t count = 0;
    return rope2d_enumerate(backend, NULL, &count, NULL) == ROPE2D_OK ? count : 0;
}

rope2d_device *soak_device(rope2d_backend backend, uint32_t index, const rope2d_host *host) {
    const rope2d_device_params params = {
        .struct_size = sizeof(params), .backend = backend, .index = index, .host = host};
    rope2d_device *device = NULL;
    return rope2d_device_create(&params, &device) == ROPE2D_OK ? device : NULL;
}

bool soak_make(rope2d_device *device, bool other, soak_objects *objects) {
    float freqs[2][SOAK_DIM / 2], yx[SOAK_TOKENS][2];
    memset(freqs, 0, sizeof(freqs));
    for (int i = 0; i < SOAK_DIM / 2; i++)
        freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (int t = 0; t < SOAK_TOKENS; t++) {
        yx[t][0] = (float)(t / 5);
        yx[t][1] = (float)(t % 5);
    }
    const rope2d_spec spec = {.struct_size = sizeof(spec),
                              .head_dim = SOAK_DIM,
                              .axes = 2,
                              .pairing = other ? ROPE2D_PAIRING_HALF : ROPE2D_PAIRING_INTERLEAVED,
                              .freqs = freqs[0]};
    const rope2d_plan_params types = {
        .struct_size = sizeof(types), .spec = &spec, .flags = ROPE2D_PLAN_NO_SELF_TEST};
    const rope2d_positions_params grid = {
        .struct_size = sizeof(grid), .spec = &spec, .tokens = SOAK_TOKENS, .coordinates = yx[0]};
    return rope2d_plan_create(device, &types, &objects->plan) == ROPE2D_OK &&
           rope2d_positions_create(device, &grid, &objects->positions) == ROPE2D_OK;
}

void soak_unmake(soak_objects *objects) {
    rope2d_plan_destroy(objects->plan);
    rope2d_positions_destroy(objects->positions);
    memset(objects, 0, sizeof(*objects));
}

bool soak_apply(const soak_objects *objects, soak_values *values) {
    for (int i = 0; i < SOAK_TOKENS * SOAK_HEADS * SOAK_DIM; i++)
        values->of[i] = (float)(i % 61) / 8 - 3;
    return soak_rotate(objects, values);
}

bool soak_rotate(const soak_objects *objects, soak_values *values) {
    const rope2d_tensor q = {.heads = SOAK_HEADS,
                             .in = rope2d_view_contiguous(values->of, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1,
                                                          SOAK_TOKENS, SOAK_HEADS, SOAK_DIM)};
    const rope2d_apply_params params = {
        .struct_size = sizeof(params), .batch = 1, .tokens = SOAK_TOKENS, .tensor_count = 1, .tensors = &q};
    return rope2d_apply(objects->plan, objects->positions, &params) == ROPE2D_OK;
}
