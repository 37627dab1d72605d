// SPDX-License-Identifier: MIT
#include "bound.h"

#include "config.h"

#if ROPE2D_HAVE_OPENCL
#include <stdlib.h>

#include "library.h"
#include "opencl/opencl.h"
#include "rope2d/rope2d_opencl.h"

// A sub-buffer, and what it is a part of.
struct buffer {
    cl_mem whole, part;
};

// What the library itself does not call.
struct calls {
    cl_api_clCreateSubBuffer create_part;
    cl_api_clEnqueueWriteBuffer write;
};

static rope2d_status create_buffer(const rope2d_cl_device *opencl, const struct calls *calls,
                                   const struct bound_job *job, uint32_t block, struct buffer *buffer) {
    const rope2d_cl *cl = &opencl->cl;
    const struct bound_place *place = &job->places[block];
    const cl_buffer_region region = {(size_t)place->aligned, (size_t)(place->bytes - place->aligned)};
    rope2d_status status = ROPE2D_OK;
    CL_MAKE(buffer->whole, CreateBuffer, opencl->context, CL_MEM_READ_WRITE, (size_t)place->bytes, NULL);
    cl_int code = CL_SUCCESS;
    buffer->part =
        calls->create_part(buffer->whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    if (code != CL_SUCCESS)
        buffer->part = NULL;
    CL_RESULT(code, "clCreateSubBuffer");
    code = calls->write(opencl->queue, buffer->whole, CL_TRUE, (size_t)place->begins,
                        job->work->blocks[block].bytes, job->blocks[block], 0, NULL, NULL);
    CL_RESULT(code, "clEnqueueWriteBuffer");
fail:
    return status;
}

static rope2d_status create(struct bound_job *job) {
    const rope2d_cl_device *opencl = job->device->device->impl;
    const rope2d_cl *cl = &opencl->cl;
    struct buffer *buffers = calloc(HARNESS_MAX_BLOCKS, sizeof *buffers);
    struct calls calls = {NULL, NULL};
    rope2d_status status = buffers ? ROPE2D_OK : ROPE2D_ERROR_HOST_MEMORY;
    job->impl = buffers;
    rope2d_library_find(cl->library, "clCreateSubBuffer", &calls.create_part, sizeof calls.create_part);
    rope2d_library_find(cl->library, "clEnqueueWriteBuffer", &calls.write, sizeof calls.write);
    if (!calls.create_part || !calls.write)
        status = ROPE2D_ERROR_UNSUPPORTED;
    for (uint32_t i = 0; i < job->work->block_count && !status; ++i)
        status = create_buffer(opencl, &calls, job, i, &buffers[i]);
    return status;
}

static void destroy(struct bound_job *job) {
    const rope2d_cl_device *opencl = job->device->device->impl;
    struct buffer *buffers = job->impl;
    for (uint32_t i = 0; buffers && i < HARNESS_MAX_BLOCKS; ++i) {
        if (buffers[i].part)
            (void)opencl->cl.ReleaseMemObject(buffers[i].part);
        if (buffers[i].whole)
            (void)opencl->cl.ReleaseMemObject(buffers[i].whole);
    }
    free(buffers);
}

static rope2d_opencl_view view(const struct bound_job *job, const struct harness_side *side) {
    const struct buffer *buffers = job->impl;
    return (rope2d_opencl_view){.memory = buffers[side->block].part,
                                .offset = bound_offset(job, side) - job->places[side->block].aligned,
                                .batch_stride = side->batch_stride,
                                .token_stride = side->token_stride,
                                .head_stride = side->head_stride};
}

static rope2d_status bind(const struct bound_job *job, const rope2d_plan *plan,
                          const rope2d_positions *positions, const struct bound_group *group,
                          rope2d_opencl_binding **binding) {
    rope2d_opencl_tensor tensors[HARNESS_MAX_TENSORS] = {{0}};
    rope2d_opencl_binding_params params = {.struct_size = sizeof params,
                                           .batch = job->work->batch,
                                           .tokens = group->tokens,
                                           .tensor_count = group->count,
                                           .tensors = tensors};
    for (uint32_t i = 0; i < group->count; ++i) {
        const struct harness_tensor *tensor = group->tensors[i];
        tensors[i] = (rope2d_opencl_tensor){tensor->heads, view(job, &tensor->in), view(job, &tensor->out)};
    }
    return rope2d_opencl_binding_create(plan, positions, &params, binding);
}

static rope2d_status rotate(struct bound_job *job, const rope2d_plan *plan, const rope2d_positions *positions,
                            const struct bound_group *group, uint64_t *dispatches) {
    const rope2d_cl_device *opencl = job->device->device->impl;
    const rope2d_cl *cl = &opencl->cl;
    rope2d_opencl_binding *binding = NULL;
    rope2d_status status = bind(job, plan, positions, group, &binding);
    if (!status)
        status = rope2d_opencl_enqueue(binding, opencl->queue, job->work->what->first_token, group->tokens, 0,
                                       NULL, NULL);
    if (!status)
        CL(Finish, opencl->queue);
    *dispatches = 1;
fail:
    rope2d_opencl_binding_destroy(binding);
    return status;
}

static rope2d_status read_back(struct bound_job *job) {
    const rope2d_cl_device *opencl = job->device->device->impl;
    const rope2d_cl *cl = &opencl->cl;
    const struct buffer *buffers = job->impl;
    rope2d_status status = ROPE2D_OK;
    cl_api_clEnqueueReadBuffer read = NULL;
    rope2d_library_find(cl->library, "clEnqueueReadBuffer", &read, sizeof read);
    if (!read)
        return ROPE2D_ERROR_UNSUPPORTED;
    for (uint32_t i = 0; i < job->work->block_count; ++i) {
        const cl_int code = read(opencl->queue, buffers[i].whole, CL_TRUE, (size_t)job->places[i].begins,
                                 job->work->blocks[i].bytes, job->blocks[i], 0, NULL, NULL);
        CL_RESULT(code, "clEnqueueReadBuffer");
    }
fail:
    return status;
}

const struct bound_ops bound_opencl_ops = {create, destroy, rotate, read_back};
#else
const struct bound_ops bound_opencl_ops = {0};
#endif
