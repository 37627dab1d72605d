// SPDX-License-Identifier: MIT
#include "demo_scene.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "geometry.h"
#include "message.h"

// Where the channels of a head begin.
static uint64_t head_begin(const struct job_tensor *tensor, uint64_t token, uint64_t head) {
    uint64_t row =
        tensor->layout == ROPE2D_LAYOUT_BHND ? head * tensor->tokens + token : token * tensor->heads + head;
    return row * tensor->head_dim;
}

static int scale_tensor(const struct golden_case *golden, size_t which, uint64_t tokens, uint32_t heads,
                        struct scene *scene) {
    const struct job_tensor *from = &golden->job.tensors[which];
    struct job_tensor *to = &scene->job.tensors[which];
    *to = *from;
    to->batch = 1;
    to->tokens = tokens;
    to->heads = heads;
    to->count = tokens * heads * from->head_dim;
    float *data = to->count < SIZE_MAX / sizeof *data ? malloc((size_t)to->count * sizeof *data + 1) : NULL;
    scene->data[which] = data;
    to->data = data;
    if (!data) {
        message("no memory for %" PRIu64 " elements", to->count);
        return STATUS_DEVICE;
    }
    const float *values = from->data;
    for (uint64_t token = 0; token < tokens; ++token)
        for (uint64_t head = 0; head < heads; ++head)
            memcpy(data + head_begin(to, token, head),
                   values + head_begin(from, token % from->tokens, head % from->heads),
                   from->head_dim * sizeof *data);
    return STATUS_OK;
}

// What makes no picture of the case: other axes than two, tokens that are no patches, keys of their own.
static int check_golden(const struct golden_case *golden, uint32_t height, uint32_t width) {
    const struct job *job = &golden->job;
    if (job->spec.axes != 2 || golden->unrotated_counts[0] || job->positions[1].coordinates ||
        job->spec.freq_heads > 1 || !job->tensors[0].count || !job->tensors[1].count) {
        message("%s: to scale it up, a case must have 2 axes, patches alone, q and k in the same places, and "
                "frequencies "
                "that heads share",
                golden->name);
        return STATUS_USAGE;
    }
    if (height % golden->merge || width % golden->merge) {
        message("--grid %" PRIu32 "x%" PRIu32 ": must be a multiple of the case's blocks of %" PRIu32, height,
                width, golden->merge);
        return STATUS_USAGE;
    }
    return STATUS_OK;
}

int scene_make(const struct golden_case *golden, uint32_t height, uint32_t width, uint32_t heads,
               struct scene *scene) {
    const struct job_tensor *from = golden->job.tensors;
    uint64_t tokens = (uint64_t)height * width;
    *scene =
        (struct scene){.height = height, .width = width, .job.spec = golden->job.spec, .job.tensor_count = 2};
    int result = check_golden(golden, height, width);
    if (!result)
        result = scale_tensor(golden, 0, tokens, heads, scene);
    // Grouped queries stay grouped.
    uint64_t k_heads = result ? 1 : (uint64_t)heads * from[1].heads / from[0].heads;
    if (!result)
        result = scale_tensor(golden, 1, tokens, k_heads ? (uint32_t)k_heads : 1, scene);
    if (result)
        return result;
    scene->coordinates = coordinates_of_merged_grid(height, width, golden->merge);
    scene->job.positions[0] =
        (struct job_positions){.coordinates = scene->coordinates, .batch = 1, .tokens = tokens};
    if (!scene->coordinates) {
        message("no memory for the coordinates of %" PRIu64 " tokens", tokens);
        return STATUS_DEVICE;
    }
    return STATUS_OK;
}

void scene_free(struct scene *scene) {
    for (size_t i = 0; i < JOB_TENSORS; ++i)
        free(scene->data[i]);
    free(scene->coordinates);
    *scene = (struct scene){0};
}
