// SPDX-License-Identifier: MIT
//
// Bindings in the caller's queues, of all tokens or a range of them. The words of a dispatch are an argument
// by value, so that an enqueue needs no memory of its own.
#include "binding.h"

#include <inttypes.h>

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
    rope2d_status status = ROPE2D_OK;
    uint32_t words[R_SHAPE_WORDS];
    rope2d_piece piece;
    narrow(binding, part, &piece);
    binding->work.first_token = part->first_token;
    rope2d_shape_write(words, binding->plan, binding->positions, &binding->work, &piece, 0,
                       binding->window->fold);
    if (binding->row_tokens > 0) {
        const bool is_shared = binding->row_batch == 1;
        const uint64_t before = is_shared ? 0 : part->batch_first * binding->row_tokens;
        words[R_ROW_FIRST] = (uint32_t)(before + part->first_token + part->token) * words[R_ROW_AXES];
        words[R_ROW_BATCH_STRIDE] = is_shared ? 0 : (uint32_t)binding->row_tokens * words[R_ROW_AXES];
        words[R_TABLE_ROWS] = binding->row_bound;
    }
    CL(SetKernelArg, binding->kernel, 0, sizeof(words), words);
    dispatch->kernel = binding->kernel;
    dispatch->global_size = (size_t)piece.groups[0] * piece.group_size;
    dispatch->local_size = piece.group_size;
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
