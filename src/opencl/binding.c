// SPDX-License-Identifier: MIT
//
// Kernels on the caller's memory, in the caller's queues. The words of a dispatch are an argument by value,
// so that an enqueue needs no memory of its own.
#include "adopt.h"

#include <inttypes.h>
#include <string.h>

struct rope2d_opencl_binding {
    const rope2d_plan *plan;
    const rope2d_positions *positions;
    const rope2d_cl_window *window;
    cl_kernel kernel;
    uint64_t row_tokens; // 0: the positions' own rows
    uint32_t row_batch;
    uint32_t row_bound;
    rope2d_work work;
    rope2d_checked_tensor tensors[ROPE2D_OPENCL_MAX_TENSORS];
    rope2d_piece piece;
    rope2d_cl_pointers pointers; // where a tensor has one
};

_Static_assert(ROPE2D_OPENCL_MAX_TENSORS == R_MAX_DISPATCH_TENSORS, "a binding is one dispatch");

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
    CL(cl->GetMemObjectInfo(params->rows, CL_MEM_SIZE, sizeof(size), &size, NULL));
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
    CL(cl->SetKernelArg(binding->kernel, argument, sizeof(cl_mem), &view->memory));
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
    CL(cl->SetKernelArg(binding->kernel, 1, sizeof(cl_mem), &variant->units));
    CL(cl->SetKernelArg(binding->kernel, 2, sizeof(cl_mem), rows));
    CL(cl->SetKernelArg(binding->kernel, 3, sizeof(cl_mem), &binding->window->table));
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

// -------------------------------------------------------------------------------------------------- its use

static rope2d_status check_range(const rope2d_opencl_binding *binding, uint64_t first, uint64_t tokens) {
    const rope2d_host *host = &binding->plan->device->host;
    uint64_t all = binding->row_tokens > 0 ? binding->row_tokens : binding->positions->tokens;
    if (tokens > binding->work.tokens)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS,
                           "tokens is %" PRIu64 "; the binding's tensors hold %" PRIu64, tokens,
                           binding->work.tokens);
    if (first > all || tokens > all - first)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS,
                           "first_token %" PRIu64 " and tokens %" PRIu64 " reach past the %" PRIu64
                           " tokens of the positions",
                           first, tokens, all);
    return ROPE2D_OK;
}

// What one kernel takes of the binding.
typedef struct binding_part {
    uint32_t batch_first;
    uint32_t batch;
    uint64_t first_token; // of the positions, the tensors' token 0
    uint32_t token;       // of the tensors, the first
    uint32_t tokens;
} binding_part;

static void narrow(const rope2d_opencl_binding *binding, const binding_part *part, rope2d_piece *piece) {
    const rope2d_stage_limits limits = rope2d_cl_limits(binding->plan);
    *piece = binding->piece;
    piece->batch_first = part->batch_first;
    piece->batch = part->batch;
    for (uint32_t i = 0; i < piece->tensor_count; i++) {
        rope2d_stage_tensor *tensor = &piece->tensors[i];
        tensor->in.first += part->batch_first * tensor->in.batch_stride;
        tensor->out.first += part->batch_first * tensor->out.batch_stride;
    }
    rope2d_piece_narrow(piece, binding->plan, &limits, part->token, part->tokens); // what is less fits
}

// Sets the arguments of a part.
static rope2d_status set_part(rope2d_opencl_binding *binding, const binding_part *part,
                              rope2d_opencl_dispatch *dispatch) {
    const rope2d_cl_device *device = binding->plan->device->impl;
    const rope2d_cl *cl = &device->cl;
    const uint32_t group = rope2d_cl_group_size(binding->plan, binding->piece.vector);
    rope2d_status status = ROPE2D_OK;
    uint32_t words[R_SHAPE_WORDS];
    rope2d_piece piece;
    narrow(binding, part, &piece);
    binding->work.first_token = part->first_token;
    rope2d_shape_write(words, binding->plan, binding->positions, &binding->work, &piece, 0,
                       binding->window->fold, group);
    if (binding->row_tokens > 0) {
        const bool is_shared = binding->row_batch == 1;
        const uint64_t before = is_shared ? 0 : part->batch_first * binding->row_tokens;
        words[R_ROW_FIRST] = (uint32_t)(before + part->first_token + part->token) * words[R_ROW_AXES];
        words[R_ROW_BATCH_STRIDE] = is_shared ? 0 : (uint32_t)binding->row_tokens * words[R_ROW_AXES];
        words[R_TABLE_ROWS] = binding->row_bound;
    }
    CL(cl->SetKernelArg(binding->kernel, 0, sizeof(words), words));
    dispatch->kernel = binding->kernel;
    dispatch->global_size = (size_t)piece.groups[0] * group;
    dispatch->local_size = group;
fail:
    return status;
}

rope2d_status rope2d_opencl_binding_dispatch(rope2d_opencl_binding *binding, uint64_t first_token,
                                             uint64_t tokens, rope2d_opencl_dispatch *dispatch) {
    if (!binding)
        return ROPE2D_ERROR_NULL;
    const rope2d_host *host = &binding->plan->device->host;
    if (!dispatch)
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "dispatch is NULL");
    ROPE2D_TRY(rope2d_check_struct_size(host, "dispatch", dispatch->struct_size, sizeof(*dispatch)));
    if (tokens == 0)
        return rope2d_fail(host, ROPE2D_ERROR_TOKENS, "tokens is 0; at least 1");
    ROPE2D_TRY(check_range(binding, first_token, tokens));
    const binding_part all = {0, binding->piece.batch, first_token, 0, (uint32_t)tokens};
    return set_part(binding, &all, dispatch);
}

static rope2d_status check_waits(const rope2d_host *host, cl_uint wait_count, const cl_event *wait_list) {
    if ((wait_count == 0) != (wait_list == NULL))
        return rope2d_fail(host, ROPE2D_ERROR_NULL, "wait_count is %u, and wait_list is %sNULL",
                           (unsigned)wait_count, wait_list ? "not " : "");
    for (cl_uint i = 0; i < wait_count; i++) {
        if (!wait_list[i])
            return rope2d_fail(host, ROPE2D_ERROR_NULL, "wait_list[%u] is NULL", (unsigned)i);
    }
    return ROPE2D_OK;
}

// The events that a kernel waits for, and the one that it leaves. In a queue out of order, that of the last
// kernel stands for all: each waits for the one before.
typedef struct chain {
    cl_uint wait_count;
    const cl_event *wait_list;
    cl_event *event; // of the caller's; NULL: nobody asks
    cl_event last;
} chain;

// What a driver says of another context's queue or event names neither.
static rope2d_status enqueue_failed(const rope2d_cl_device *device, cl_command_queue queue, cl_int code) {
    const rope2d_cl *cl = &device->cl;
    cl_context context = NULL;
    if (code != CL_INVALID_CONTEXT ||
        cl->GetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL) != CL_SUCCESS)
        return rope2d_cl_failed(cl, "clEnqueueNDRangeKernel", code);
    return rope2d_fail(cl->host, ROPE2D_ERROR_MISMATCH, "%s is of another context than the device",
                       context == device->context ? "an event of wait_list" : "queue");
}

static rope2d_status enqueue_part(rope2d_opencl_binding *binding, cl_command_queue queue,
                                  const binding_part *part, chain *events) {
    const rope2d_cl_device *device = binding->plan->device->impl;
    const rope2d_cl *cl = &device->cl;
    rope2d_status status = ROPE2D_OK;
    rope2d_opencl_dispatch dispatch = {0};
    cl_event before = events->last;
    cl_event after = NULL;
    OWN(set_part(binding, part, &dispatch));
    const cl_int code = cl->EnqueueNDRangeKernel(
        queue, dispatch.kernel, 1, NULL, &dispatch.global_size, &dispatch.local_size,
        before ? 1 : events->wait_count, before ? &before : events->wait_list, events->event ? &after : NULL);
    if (code != CL_SUCCESS)
        return enqueue_failed(device, queue, code);
    events->last = after;
    if (before)
        cl->ReleaseEvent(before);
fail:
    return status;
}

// By batch elements, then by tokens, as dispatch_bytes asks.
static rope2d_status enqueue_parts(rope2d_opencl_binding *binding, cl_command_queue queue, uint64_t first,
                                   uint32_t tokens, chain *events) {
    rope2d_piece piece = binding->piece;
    binding_part most = {0}, now = {.first_token = first};
    piece.tokens = tokens;
    rope2d_piece_bound(&piece, binding->plan, &most.batch, &most.tokens);
    for (; now.batch_first < piece.batch; now.batch_first += now.batch) {
        now.batch = piece.batch - now.batch_first;
        if (now.batch > most.batch)
            now.batch = most.batch;
        for (now.token = 0; now.token < tokens; now.token += now.tokens) {
            now.tokens = tokens - now.token < most.tokens ? tokens - now.token : most.tokens;
            ROPE2D_TRY(enqueue_part(binding, queue, &now, events));
        }
    }
    return ROPE2D_OK;
}

rope2d_status rope2d_opencl_enqueue(rope2d_opencl_binding *binding, cl_command_queue queue,
                                    uint64_t first_token, uint64_t tokens, cl_uint wait_count,
                                    const cl_event *wait_list, cl_event *event) {
    chain events = {wait_count, wait_list, event, NULL};
    if (event)
        *event = NULL;
    if (!binding)
        return ROPE2D_ERROR_NULL;
    const rope2d_cl_device *device = binding->plan->device->impl;
    const rope2d_cl *cl = &device->cl;
    if (!queue)
        return rope2d_fail(cl->host, ROPE2D_ERROR_NULL, "queue is NULL");
    ROPE2D_TRY(check_range(binding, first_token, tokens));
    if (tokens == 0)
        return ROPE2D_OK;
    ROPE2D_TRY(check_waits(cl->host, wait_count, wait_list)); // some drivers read it unseen
    const rope2d_status status = enqueue_parts(binding, queue, first_token, (uint32_t)tokens, &events);
    if (status == ROPE2D_OK && event)
        *event = events.last;
    else if (events.last)
        cl->ReleaseEvent(events.last);
    return status;
}
