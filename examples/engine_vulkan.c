// SPDX-License-Identifier: MIT
//
// A small renderer that owns Vulkan: device, queue, memory, command buffers, and a frame loop with two frames
// in flight. Between a pass of its own that makes q and k and one that multiplies them, rope2d records their
// rotation. It shows what a patch of an image attends to:
//     engine_vulkan [PICTURE.png]
#include "engine_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Every frame: no allocation, no submission and no barrier but the engine's own.
static rope2d_status draw(const engine *own, flight *one, uint32_t frame) {
    const uint32_t query = attention_query(frame);
    attention_features(frame, one->values.mapped);
    gpu_begin(one->commands);
    gpu_run(one->commands, &own->project, one->project_set, &query, (ELEMENTS + 63) / 64);
    gpu_barrier(one->commands);
    const rope2d_status status = rope2d_vulkan_record(one->rotation, one->commands);
    gpu_barrier(one->commands);
    gpu_run(one->commands, &own->scores, one->scores_set, &query, (HEADS * TOKENS + 63) / 64);
    gpu_barrier(one->commands);
    gpu_submit(&own->gpu, one->commands, one->fence);
    one->frame = frame;
    return status;
}

// Waits for the frame that a flight carries, and takes its scores: whether they are the CPU's.
static int land(const engine *own, flight *one, attention_picture picture) {
    static float expected[HEADS][TOKENS];
    if (one->frame == NOTHING)
        return 1;
    gpu_must(vkWaitForFences(own->gpu.device, 1, &one->fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
    gpu_must(vkResetFences(own->gpu.device, 1, &one->fence), "vkResetFences");
    attention_paint(one->frame, one->scores.mapped, picture);
    const int same = attention_expected(one->frame, expected) == ROPE2D_OK &&
                     memcmp(expected, one->scores.mapped, sizeof(expected)) == 0;
    printf("%s, frame %u: %s\n", own->gpu.name, one->frame, same ? "the CPU's scores, bit for bit" : "WRONG");
    one->frame = NOTHING;
    return same;
}

static int show(engine *own, uint32_t index, attention_picture picture) {
    int good = 1;
    rope2d_status status = engine_open(own, index);
    for (uint32_t frame = 0; frame < FRAMES && status == ROPE2D_OK; frame++) {
        flight *one = &own->flights[frame % FLIGHTS];
        good &= land(own, one, picture);
        status = draw(own, one, frame);
    }
    for (int i = 0; i < FLIGHTS; i++)
        good &= land(own, &own->flights[i], picture);
    engine_close(own);
    if (status != ROPE2D_OK)
        fprintf(stderr, "engine_vulkan: %s\n", rope2d_status_name(status));
    return good && status == ROPE2D_OK;
}

int main(int argc, char **argv) {
    static attention_picture picture;
    engine own = {0};
    int good = 1;
    gpu_create(&own.gpu);
    if (own.gpu.count == 0)
        puts("engine_vulkan: no Vulkan device here");
    for (uint32_t i = 0; i < own.gpu.count; i++)
        good &= show(&own, i, picture);
    if (own.gpu.count > 0 && argc > 1 && !attention_save(argv[1], picture)) {
        fprintf(stderr, "engine_vulkan: %s cannot be written\n", argv[1]);
        good = 0;
    }
    gpu_destroy(&own.gpu);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
