// SPDX-License-Identifier: MIT
//
// Rotates inside a shader of its own: fuse_vulkan.comp projects tokens to q and turns each pair in registers,
// before it is ever written. The bits are those of rope2d_apply on the projection.
#include "gpu.h"

#include <rope2d/rope2d_vulkan.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 8, TOKENS = 1 + SIDE * SIDE, FEATURES = 24, HEADS = 3, HEAD_DIM = 32, PAIRS = HEAD_DIM / 2 };
enum { CHANNELS = HEADS * HEAD_DIM, ELEMENTS = TOKENS * CHANNELS };

static const uint32_t shader[] =
#include "fuse_vulkan.comp.inc"
    ;

typedef struct sizes {
    uint32_t tokens, features, heads, pairs, table_rows, columns, row_axes, fused;
} sizes;

typedef struct rotation {
    rope2d_device *device;
    rope2d_plan *plan;
    rope2d_positions *positions;
} rotation;

static void log_line(void *user, rope2d_log_level level, const char *text) {
    (void)user;
    (void)level;
    fprintf(stderr, "rope2d: %s\n", text);
}

// A class token that does not turn, and a grid of patches. fp32 in, f16 out.
static rope2d_status start_rope(const gpu *own, rotation *rope) {
    static float freqs[2][PAIRS], yx[TOKENS][2];
    static const rope2d_range class_token = {0, 1};
    const rope2d_host host = {sizeof(host), .log = log_line};
    for (int i = 0; i < PAIRS; i++)
        freqs[i % 2][i] = 1.0f / (float)(i + 1);
    for (int t = 1; t < TOKENS; t++) {
        yx[t][0] = (float)((t - 1) / SIDE);
        yx[t][1] = (float)((t - 1) % SIDE);
    }
    const rope2d_vulkan_device_params ours = {.struct_size = sizeof(ours),
                                              .get_instance_proc_addr = vkGetInstanceProcAddr,
                                              .instance = own->instance,
                                              .physical_device = own->physical,
                                              .device = own->device,
                                              .host = &host,
                                              .queue = own->queue,
                                              .queue_family = own->family};
    const rope2d_spec spec = {sizeof(spec), .head_dim = HEAD_DIM, .axes = 2, .freqs = &freqs[0][0]};
    const rope2d_plan_params types = {.struct_size = sizeof(types),
                                      .spec = &spec,
                                      .in = ROPE2D_F32,
                                      .out = ROPE2D_F16,
                                      .table = ROPE2D_TABLE_BUFFER};
    const rope2d_positions_params grid = {.struct_size = sizeof(grid),
                                          .spec = &spec,
                                          .table = ROPE2D_TABLE_BUFFER,
                                          .tokens = TOKENS,
                                          .coordinates = &yx[0][0],
                                          .unrotated = &class_token,
                                          .unrotated_count = 1};
    rope2d_status status = rope2d_vulkan_device_adopt(&ours, &rope->device);
    if (status == ROPE2D_OK)
        status = rope2d_plan_create(rope->device, &types, &rope->plan);
    if (status == ROPE2D_OK)
        status = rope2d_positions_create(rope->device, &grid, &rope->positions);
    return status;
}

// One run of the shader, whose output is copied to `result`.
static void project(const gpu *own, const rope2d_vulkan_table *table, uint32_t fused, void *result,
                    size_t bytes) {
    gpu_buffer in = gpu_buffer_make(own, (TOKENS + CHANNELS) * FEATURES * sizeof(float));
    gpu_buffer out = gpu_buffer_make(own, ELEMENTS * sizeof(float));
    for (int i = 0; i < (TOKENS + CHANNELS) * FEATURES; i++)
        ((float *)in.mapped)[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
    gpu_pass pass = gpu_pass_make(own, shader, sizeof(shader), 4, sizeof(sizes));
    const VkDescriptorBufferInfo buffers[4] = {{in.handle, 0, in.size},
                                               {table->table, table->table_offset, table->table_size},
                                               {table->rows, table->rows_offset, table->rows_size},
                                               {out.handle, 0, out.size}};
    const sizes push = {TOKENS,         FEATURES,        HEADS, PAIRS, table->table_rows,
                        table->columns, table->row_axes, fused};
    VkCommandBuffer commands = gpu_commands_make(own);
    VkDescriptorSet set = gpu_set_make(own, &pass, buffers);
    gpu_begin(commands);
    gpu_run(commands, &pass, set, &push, (TOKENS * HEADS * PAIRS + 63) / 64);
    gpu_barrier(commands);
    gpu_submit(own, commands, VK_NULL_HANDLE);
    gpu_must(vkQueueWaitIdle(own->queue), "vkQueueWaitIdle");
    memcpy(result, out.mapped, bytes);
    gpu_pass_free(own, &pass);
    gpu_buffer_free(own, &in);
    gpu_buffer_free(own, &out);
}

static int check_device(const gpu *own) {
    static float plain[ELEMENTS];
    static uint16_t fused[ELEMENTS], apart[ELEMENTS];
    rotation rope = {0};
    rope2d_vulkan_table table = {.struct_size = sizeof(table)};
    rope2d_tensor q = {
        HEADS,
        .in = rope2d_view_contiguous(plain, ROPE2D_F32, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM),
        .out = rope2d_view_contiguous(apart, ROPE2D_F16, ROPE2D_LAYOUT_BNHD, 1, TOKENS, HEADS, HEAD_DIM)};
    const rope2d_apply_params all = {sizeof(all), .batch = 1, .tokens = TOKENS, .tensor_count = 1,
                                     .tensors = &q};
    rope2d_status status = start_rope(own, &rope);
    if (status == ROPE2D_OK)
        status = rope2d_vulkan_positions_get_table(rope.positions, &table);
    if (status == ROPE2D_OK) {
        project(own, &table, 1, fused, sizeof(fused));
        project(own, &table, 0, plain, sizeof(plain));
        status = rope2d_apply(rope.plan, rope.positions, &all);
    }
    const int same = status == ROPE2D_OK && memcmp(fused, apart, sizeof(fused)) == 0;
    printf("%s: q of the last token, fused and apart: 0x%04x 0x%04x: %s\n", own->name, fused[ELEMENTS - 1],
           apart[ELEMENTS - 1], same ? "the same bits in all" : "WRONG");
    rope2d_positions_destroy(rope.positions);
    rope2d_plan_destroy(rope.plan);
    rope2d_device_destroy(rope.device);
    return same;
}

int main(void) {
    gpu own;
    int ok = 1;
    gpu_create(&own);
    for (uint32_t i = 0; i < own.count; i++) {
        gpu_open(&own, i);
        ok &= check_device(&own);
        gpu_close(&own);
    }
    gpu_destroy(&own);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
