// SPDX-License-Identifier: MIT
#include "job.h"

#include <inttypes.h>
#include <stdio.h>

#include "message.h"
#include "progress.h"

// Pieces are so large that going by pieces costs nothing, and so small that progress moves.
static const uint64_t PIECE_BYTES = (uint64_t)64 << 20;

const char *const array_layout_names[] = {"bnhd", "bhnd", "nhd", "bnc", NULL};
const char *const table_names[] = {"auto", "buffer", "texture", NULL};

const char *table_name(rope2d_table table) {
    return (unsigned)table < ROPE2D_TABLE_COUNT ? table_names[table] : "unknown";
}

const char *exactness_name(rope2d_exactness exactness) {
    static const char *const names[] = {"untested", "exact", "exact on normal values", "inexact"};
    return (unsigned)exactness < 4 ? names[exactness] : "unknown";
}

uint64_t job_input_bytes(const struct job_tensor *tensor) {
    return tensor->count * rope2d_element_size(tensor->in_element);
}

uint64_t job_output_bytes(const struct job_tensor *tensor) {
    return tensor->count * rope2d_element_size(tensor->out_element);
}

struct sizes {
    uint64_t batch, tokens, heads, channels;
};

static struct sizes sizes_of(const uint64_t *shape, enum array_layout layout) {
    switch (layout) {
    case ARRAY_BHND:
        return (struct sizes){shape[0], shape[2], shape[1], shape[3]};
    case ARRAY_NHD:
        return (struct sizes){1, shape[0], shape[1], shape[2]};
    case ARRAY_BNC:
        return (struct sizes){shape[0], shape[1], 1, shape[2]};
    default:
        return (struct sizes){shape[0], shape[1], shape[2], shape[3]};
    }
}

// The heads of a merged layout lie side by side in the channels.
static int split_heads(const char *option, const char *path, uint64_t heads, struct sizes *sizes) {
    if (!heads || sizes->channels % heads) {
        message("%s %s: layout bnc has %" PRIu64 " channels: --heads-%s must be given and divide them",
                option, path, sizes->channels, option + 2);
        return STATUS_USAGE;
    }
    sizes->heads = heads;
    sizes->channels /= heads;
    return STATUS_OK;
}

int job_tensor_from_array(const char *option, const char *path, const struct npy_header *header,
                          enum array_layout layout, uint64_t heads, struct job_tensor *tensor) {
    uint32_t dims = layout == ARRAY_NHD || layout == ARRAY_BNC ? 3 : 4;
    char shape[200];
    npy_shape_text(header, shape, sizeof shape);
    if (header->dims != dims) {
        message("%s %s: shape is %s: layout %s must have %" PRIu32 " dimensions", option, path, shape,
                array_layout_names[layout], dims);
        return STATUS_USAGE;
    }
    struct sizes sizes = sizes_of(header->shape, layout);
    if (layout == ARRAY_BNC && split_heads(option, path, heads, &sizes))
        return STATUS_USAGE;
    if (heads && sizes.heads != heads) {
        message("%s %s: shape %s in layout %s has %" PRIu64 " heads: must be %" PRIu64, option, path, shape,
                array_layout_names[layout], sizes.heads, heads);
        return STATUS_USAGE;
    }
    if (sizes.batch > UINT32_MAX || sizes.heads > UINT32_MAX || sizes.channels > ROPE2D_MAX_HEAD_DIM) {
        message("%s %s: shape %s in layout %s: batch and heads must be at most %" PRIu32
                ", channels of a head %d",
                option, path, shape, array_layout_names[layout], UINT32_MAX, ROPE2D_MAX_HEAD_DIM);
        return STATUS_USAGE;
    }
    tensor->layout = layout == ARRAY_BHND ? ROPE2D_LAYOUT_BHND : ROPE2D_LAYOUT_BNHD;
    tensor->batch = (uint32_t)sizes.batch;
    tensor->tokens = sizes.tokens;
    tensor->heads = (uint32_t)sizes.heads;
    tensor->head_dim = (uint32_t)sizes.channels;
    tensor->count = header->count;
    return STATUS_OK;
}

static rope2d_status prepare_positions(const struct job *job, size_t which, rope2d_device *device,
                                       rope2d_table table, rope2d_positions **positions) {
    const struct job_positions *from = &job->positions[which];
    rope2d_positions_params params = {
        .struct_size = sizeof params,
        .spec = &job->spec,
        .table = table,
        .tokens = from->tokens,
        .batch = from->batch,
        .coordinates = from->coordinates,
        .unrotated = from->unrotated,
        .unrotated_count = from->unrotated_count,
    };
    return rope2d_positions_create(device, &params, positions);
}

rope2d_status job_prepare(const struct job *job, rope2d_device *device, rope2d_table table,
                          struct prepared_job *prepared) {
    *prepared = (struct prepared_job){.job = job, .info.struct_size = sizeof prepared->info};
    rope2d_plan_params params = {
        .struct_size = sizeof params,
        .spec = &job->spec,
        .in = job->tensors[0].in_element,
        .out = job->tensors[0].out_element,
        .table = table,
    };
    rope2d_status status = rope2d_plan_create(device, &params, &prepared->plan);
    if (!status)
        status = rope2d_plan_get_info(prepared->plan, &prepared->info);
    for (size_t i = 0; i < JOB_TENSORS && !status; ++i)
        if (i == 0 || job->positions[i].coordinates)
            status = prepare_positions(job, i, device, table, &prepared->positions[i]);
    return status;
}

// The tensors [first, first + count) of the job, which share positions, by pieces of tokens.
static rope2d_status run_group(const struct prepared_job *prepared, const rope2d_positions *positions,
                               size_t first, size_t count, void *const *outputs, bool is_long) {
    const struct job_tensor *tensors = prepared->job->tensors + first;
    rope2d_tensor views[JOB_TENSORS] = {{0}};
    uint64_t bytes = 0, tokens = tensors[0].tokens;
    for (size_t i = 0; i < count; ++i) {
        const struct job_tensor *from = &tensors[i];
        views[i].heads = from->heads;
        // The library never writes through an input view.
        views[i].in = rope2d_view_contiguous((void *)from->data, from->in_element, from->layout, from->batch,
                                             from->tokens, from->heads, from->head_dim);
        views[i].out = rope2d_view_contiguous(outputs[first + i], from->out_element, from->layout,
                                              from->batch, from->tokens, from->heads, from->head_dim);
        bytes += job_input_bytes(from);
    }
    uint64_t pieces = is_long ? bytes / PIECE_BYTES + 1 : 1;
    uint64_t step = tokens / pieces + 1;
    struct progress progress;
    progress_begin(&progress, "rotating", tokens);
    rope2d_status status = ROPE2D_OK;
    for (uint64_t begin = 0; begin < tokens && !status; begin += step) {
        uint64_t length = tokens - begin < step ? tokens - begin : step;
        rope2d_apply_params params = {
            .struct_size = sizeof params,
            .batch = tensors[0].batch,
            .first_token = begin,
            .tokens = length,
            .tensor_count = (uint32_t)count,
            .tensors = views,
        };
        status = rope2d_apply(prepared->plan, positions, &params);
        for (size_t i = 0; i < count; ++i) {
            views[i].in.offset +=
                length * (uint64_t)views[i].in.token_stride * rope2d_element_size(tensors[i].in_element);
            views[i].out.offset +=
                length * (uint64_t)views[i].out.token_stride * rope2d_element_size(tensors[i].out_element);
        }
        if (is_long)
            progress_add(&progress, length);
    }
    progress_end(&progress);
    return status;
}

rope2d_status job_run(const struct prepared_job *prepared, void *const outputs[JOB_TENSORS], bool is_long) {
    size_t count = prepared->job->tensor_count;
    if (!prepared->positions[1])
        return run_group(prepared, prepared->positions[0], 0, count, outputs, is_long);
    rope2d_status status = ROPE2D_OK;
    for (size_t i = 0; i < count && !status; ++i)
        status = run_group(prepared, prepared->positions[i], i, 1, outputs, is_long);
    return status;
}

void job_release(struct prepared_job *prepared) {
    for (size_t i = 0; i < JOB_TENSORS; ++i)
        rope2d_positions_destroy(prepared->positions[i]);
    rope2d_plan_destroy(prepared->plan);
    *prepared = (struct prepared_job){0};
}
