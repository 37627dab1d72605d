// SPDX-License-Identifier: MIT
//
// Kernels on the caller's memory: what is bound is checked, laid out, and given to a kernel as its arguments.
#include "binding.h"

#include <inttypes.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------ the memory

static rope2d_status check_tensors(rope2d_opencl_binding *binding,
                                   const rope2d_opencl_binding_params *params) {
    const rope2d_plan *plan = binding->plan;
    const rope2d_cl_device *device = plan->device->impl;
    rope2d_tensor tensors[ROPE2D_OPENCL_MAX_TENSORS];
    uint64_t rows = 0;
    memset(tensors, 0, sizeof(tensors));
    for (uint32_t i = 0; i < params->tensor_count; i++) {
        if (params->tensors[i].heads == 0)
            return rope2d_fail(&plan->device->host, ROPE2D_ERROR_HEADS, "tensors[%u].heads is 0; at least 1",
                               i);
    }
    ROPE2D_TRY(rope2d_cl_views_place(device, params, tensors, &rows, &binding->pointers));
    const rope2d_apply_params apply = {
        .struct_size = sizeof(apply),
        .batch = params->batch,
        .tokens = params->tokens,
        .tensor_count = params->tensor_count,
        .tensors = tensors,
    };
    uint32_t count = 0;
    ROPE2D_TRY(rope2d_tensors_check(plan, &apply, binding->tensors, &count));
    binding->work = (rope2d_work){
        .batch = params->batch, .tokens = params->tokens, .tensor_count = count, .tensors = binding->tensors};
    if (params->rows)
        return rope2d_rows_check(plan, &binding->work, rows,
                                 binding->row_batch * binding->row_tokens * plan->pattern.row_axes *
                                     sizeof(int32_t));
    return ROPE2D_OK;
}

// The caller's strides, as long as kernels can number the last element.
static rope2d_status lay_out_side(const rope2d_opencl_binding *binding, const rope2d_span *span,
                                  uint32_t heads, uint64_t offset, rope2d_element element,
                                  rope2d_stage_side *side) {
    const rope2d_work *work = &binding->work;
    uint64_t batch_stride = work->batch > 1 ? (uint64_t)span->batch_stride : 0;
    uint64_t token_stride = work->tokens > 1 ? (uint64_t)span->token_stride : 0;
    uint64_t head_stride = heads > 1 ? (uint64_t)span->head_stride : 0;
    uint64_t last = offset / rope2d_element_size(element) + (work->batch - 1) * batch_stride +
                    (work->tokens - 1) * token_stride + (heads - 1) * head_stride +
                    binding->plan->pattern.head_dim; // checked before: far from 2^64
    if (last > UINT32_MAX)
        return rope2d_fail(&binding->plan->device->host, ROPE2D_ERROR_LIMIT,
                           "tensors: element %" PRIu64
                           " of a buffer; the limit is %u; a sub-buffer begins later",
                           last, (unsigned)UINT32_MAX);
    side->first = (uint32_t)(offset / rope2d_element_size(element));
    side->batch_stride = (uint32_t)batch_stride;
    side->token_stride = (uint32_t)token_stride;
    side->head_stride = (uint32_t)head_stride;
    return ROPE2D_OK;
}

static rope2d_status lay_out(rope2d_opencl_binding *binding, const rope2d_opencl_binding_params *params) {
    const rope2d_plan *plan = binding->plan;
    rope2d_piece *piece = &binding->piece;
    const rope2d_stage_limits limits = rope2d_cl_limits(plan);
    if (params->tokens > UINT32_MAX)
        return rope2d_fail(&plan->device->host, ROPE2D_ERROR_LIMIT,
                           "params.tokens is %" PRIu64 "; the limit is %u", params->tokens,
                           (unsigned)UINT32_MAX);
    piece->tensor_count = params->tensor_count;
    piece->batch = params->batch;
    piece->tokens = (uint32_t)params->tokens;
    for (uint32_t i = 0; i < params->tensor_count; i++) {
        const rope2d_opencl_tensor *given = &params->tensors[i];
        const rope2d_checked_tensor *tensor = &binding->tensors[i];
        rope2d_stage_tensor *staged = &piece->tensors[i];
        staged->tensor = tensor;
        ROPE2D_TRY(
            lay_out_side(binding, &tensor->in, tensor->heads, given->in.offset, plan->in, &staged->in));
        ROPE2D_TRY(lay_out_side(binding, &tensor->out, tensor->heads,
                                tensor->in_place ? given->in.offset : given->out.offset, plan->out,
                                &staged->out));
    }
    rope2d_piece_choose(piece, plan, &limits);
    if (rope2d_piece_count(piece, plan, &limits) && piece->groups[1] == 1)
        return ROPE2D_OK;
    return rope2d_fail(&plan->device->host, ROPE2D_ERROR_LIMIT,
                       "tensors: more than %d work-items in one dispatch", INT32_MAX);
}

// -------------------------------------------------------------------------------------------------- the rows

static rope2d_status check_rows(rope2d_opencl_binding *binding, const rope2d_opencl_binding_params *params) {
    const rope2d_positions *positions = binding->positions;
    const rope2d_cl_device *device = binding->plan->device->impl;
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    size_t size = 0;
    if (!params->rows && (params->row_bound > 0 || params->row_batch > 1 || params->row_tokens > 0))
        return rope2d_fail(cl->host, ROPE2D_ERROR_ROW,
                           "params.rows is NULL, with row_bound %u, row_batch %u and row_tokens %" PRIu64
                           "; all must be 0",
                           (unsigned)params->row_bound, (unsigned)params->row_batch, params->row_tokens);
    if (!params->rows)
        return ROPE2D_OK;
    binding->row_batch = params->row_batch == 0 ? 1 : params->row_batch;
    binding->row_tokens = params->row_tokens;
    binding->row_bound = params->row_bound > 0 ? params->row_bound : positions->table_rows;
    ROPE2D_TRY(rope2d_cl_memory_check(device, "params.rows", params->rows, CL_MEM_WRITE_ONLY));
    CL(GetMemObjectInfo, params->rows, CL_MEM_SIZE, sizeof(size), &size, NULL);
    OWN(rope2d_caller_rows_check(positions, binding->row_batch, binding->row_tokens, binding->row_bound, size,
                                 "the size of params.rows"));
fail:
    return status;
}

static uint32_t row_batch(const rope2d_opencl_binding *binding) {
    return binding->row_tokens > 0 ? binding->row_batch : binding->positions->batch;
}

static rope2d_status check_positions(rope2d_opencl_binding *binding,
                                     const rope2d_opencl_binding_params *params) {
    const rope2d_plan *plan = binding->plan;
    const rope2d_positions *positions = binding->positions;
    const rope2d_host *host = &plan->device->host;
    if (plan->device->backend != ROPE2D_BACKEND_OPENCL)
        return rope2d_fail(host, ROPE2D_ERROR_MISMATCH, "plan is of %s, which is no OpenCL device",
                           plan->device->info.name);
    ROPE2D_TRY(rope2d_match_check(plan, positions));
    binding->window = rope2d_cl_window_whole(positions);
    if (!binding->window)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT,
                           "positions: larger than the device's buffers of %" PRIu64 " bytes",
                           plan->device->info.max_buffer_range);
    ROPE2D_TRY(check_rows(binding, params));
    if (row_batch(binding) != 1 && row_batch(binding) != params->batch)
        return rope2d_fail(host, ROPE2D_ERROR_BATCH, "params.batch is %u; %s is %u", (unsigned)params->batch,
                           params->rows ? "params.row_batch" : "that of the positions",
                           (unsigned)row_batch(binding));
    return ROPE2D_OK;
}

// ------------------------------------------------------------------------------------------------- its life

static rope2d_status set_view(const rope2d_opencl_binding *binding, cl_uint argument,
                              const rope2d_opencl_view *view) {
    const rope2d_cl_device *device = binding->plan->device->impl;
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    if (view->pointer)
        return rope2d_cl_pointer_set(device, &binding->pointers, binding->kernel, argument, view->pointer);
    CL(SetKernelArg, binding->kernel, argument, sizeof(cl_mem), &view->memory);
fail:
    return status;
}

static rope2d_status make_kernel(rope2d_opencl_binding *binding, const rope2d_opencl_binding_params *params) {
    const rope2d_cl_device *device = binding->plan->device->impl;
    const rope2d_cl_plan *programs = binding->plan->impl;
    const rope2d_cl_variant *variant = binding->piece.vector ? &programs->vector : &programs->single;
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    const cl_mem *rows = params->rows ? &params->rows : &binding->window->rows;
    OWN(rope2d_cl_kernel_create(binding->plan, binding->piece.vector, &binding->kernel));
    CL(SetKernelArg, binding->kernel, 1, sizeof(cl_mem), &variant->units);
    CL(SetKernelArg, binding->kernel, 2, sizeof(cl_mem), rows);
    CL(SetKernelArg, binding->kernel, 3, sizeof(cl_mem), &binding->window->table);
    for (cl_uint i = 0; i < ROPE2D_OPENCL_MAX_TENSORS; i++) {
        cl_uint used = i < params->tensor_count ? i : 0; // what is not used must be valid all the same
        const rope2d_opencl_tensor *tensor = &params->tensors[used];
        const rope2d_opencl_view *out = binding->tensors[used].in_place ? &tensor->in : &tensor->out;
        OWN(set_view(binding, 4 + 2 * i, &tensor->in));
        OWN(set_view(binding, 5 + 2 * i, out));
    }
fail:
    return status;
}

static rope2d_status check_params(const rope2d_host *host, const rope2d_opencl_binding_params *params) {
    ROPE2D_TRY(rope2d_check_struct_size(host, "params", params->struct_size, sizeof(*params)));
    if (params->batch == 0)
        return rope2d_fail(host, ROPE2D_ERROR_BATCH, "params.batch is 0; at least 1");
    if (params->tokens == 0)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS, "params.tokens is 0; at least 1");
    if (params->tensor_count == 0 || params->tensor_count > ROPE2D_OPENCL_MAX_TENSORS)
        return rope2d_fail(host, ROPE2D_ERROR_LIMIT, "params.tensor_count is %u; 1 to %d",
                           (unsigned)params->tensor_count, ROPE2D_OPENCL_MAX_TENSORS);
    if (!params->tensors)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "params.tensors is NULL");
    return ROPE2D_OK;
}

static rope2d_status fill(rope2d_opencl_binding *binding, const rope2d_opencl_binding_params *params) {
    ROPE2D_TRY(check_params(&binding->plan->device->host, params));
    ROPE2D_TRY(check_positions(binding, params));
    ROPE2D_TRY(check_tensors(binding, params));
    ROPE2D_TRY(lay_out(binding, params));
    return make_kernel(binding, params);
}

rope2d_status rope2d_opencl_binding_create(const rope2d_plan *plan, const rope2d_positions *positions,
                                           const rope2d_opencl_binding_params *params,
                                           rope2d_opencl_binding **binding) {
    if (binding)
        *binding = NULL;
    if (!plan)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &plan->device->host;
    if (!positions || !params || !binding)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "%s is NULL",
                           !positions ? "positions"
                           : params   ? "binding"
                                      : "params");
    rope2d_opencl_binding *made = rope2d_allocate(host, 1, sizeof(*made));
    if (!made)
        return rope2d_fail(host, ROPE2D_ERROR_HOST_MEMORY, "binding: no memory for %zu bytes", sizeof(*made));
    made->plan = plan;
    made->positions = positions;
    const rope2d_status status = fill(made, params);
    if (status != ROPE2D_OK) {
        rope2d_opencl_binding_destroy(made);
        return status;
    }
    *binding = made;
    return ROPE2D_OK;
}

void rope2d_opencl_binding_destroy(rope2d_opencl_binding *binding) {
    if (!binding)
        return;
    const rope2d_cl_device *device = binding->plan->device->impl;
    if (binding->kernel)
        device->cl.ReleaseKernel(binding->kernel);
    rope2d_release(&binding->plan->device->host, binding, 1, sizeof(*binding));
}
